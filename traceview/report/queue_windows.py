"""Queue depth inside windows, launch by launch: what the thinned line of a stream does not hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from traceview.events import Kind, Trace
from traceview.report.queues import Queue

Ints = npt.NDArray[np.int64]
Waits = tuple[Ints, Ints]


def waits_of(trace: Trace, tracks: list[int]) -> list[Waits]:
    """Return, for each track, when its linked records were launched and when they began (ns)."""
    s = trace.slices
    rows = trace.rows_of(Kind.KERNEL, Kind.COPY, Kind.FILL)
    rows = rows[trace.timed[rows] & (s.link[rows] >= 0)]
    found = []
    for track in tracks:
        own = rows[s.track[rows] == track]
        begun = s.start[own]
        found.append((np.minimum(s.start[s.link[own]], begun), begun))
    return found


def points_between(waits: Waits, begin: int, end: int) -> tuple[Ints, Ints]:
    """Return times and depths of all points from `begin` to before `end`; the first is at `begin`."""
    launched, begun = waits
    held = int((launched <= begin).sum() - (begun <= begin).sum())
    joins = launched[(launched > begin) & (launched < end)]
    leaves = begun[(begun > begin) & (begun < end)]
    at, place = np.unique(np.concatenate((joins, leaves)), return_inverse=True)
    turns = np.zeros(len(at), np.int64)
    np.add.at(turns, place[: len(joins)], 1)
    np.add.at(turns, place[len(joins) :], -1)
    return np.concatenate(([begin], at)).astype(np.int64), np.concatenate(([held], held + np.cumsum(turns)))


def spliced(queue: Queue, begin: int, times: Ints, depths: Ints, end: int) -> Queue:
    """Return the line with these single points from `begin` to `end`; after them its own stretch goes on."""
    merged = np.zeros(len(queue.time), bool) if queue.merged is None else queue.merged
    before, after = (int(np.searchsorted(queue.time, t, "left")) for t in (begin, end))
    again = after < len(queue.time) and int(queue.time[after]) == end
    holding = slice(max(after - 1, 0), max(after - 1, 0) + (0 if again or not after else 1))
    return queue._replace(
        time=np.concatenate((queue.time[:before], times, [end] * len(merged[holding]), queue.time[after:])),
        depth=np.concatenate((queue.depth[:before], depths, queue.depth[holding], queue.depth[after:])),
        merged=np.concatenate((merged[:before], np.zeros(len(times), bool), merged[holding], merged[after:])),
    )
