"""Lines of the timeline: the queue depth of each stream, in a lane under the stream's slices."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.report.clock import Clock
from traceview.report.queues import Queue, queues, thinned
from traceview.report.view import Lane

STREAMS = 8  # with the deepest queues
POINTS = 1_000  # of a stream
TAIL = " · queue"


def with_queues(
    analysis: Analysis, lanes: tuple[Lane, ...], clock: Clock
) -> tuple[tuple[Lane, ...], dict[str, npt.NDArray[Any]]]:
    """Return the lanes with those of queues, and their points: gaps in units of the clock, and depths.

    A point holds until the next. Lanes that share their device and stream have no queue of their own.
    """
    tracks = analysis.trace.tracks
    keys = [(tracks[lane.track].device or "", tracks[lane.track].stream or "") for lane in lanes]
    of_work = Counter(key for key, lane in zip(keys, lanes, strict=True) if lane.device)
    place = {key: i for i, key in enumerate(keys) if lanes[i].device and of_work[key] == 1}
    known = [q for q in queues(analysis.launch_behaviour.depth) if q.most and (q.device, q.stream) in place]
    deepest = sorted(known, key=lambda q: -q.most)[:STREAMS]
    under = {place[q.device, q.stream]: thinned(q, POINTS) for q in deepest}
    found: list[Lane] = []
    times, depths, at = [], [], 0
    for i, lane in enumerate(lanes):
        found.append(lane)
        if i not in under:
            continue
        queue = under[i]
        found.append(_lane(lane, queue, at))
        at += len(queue.time)
        times.append(np.diff(clock.at(queue.time), prepend=0))
        depths.append(queue.depth)
    if not times:
        return lanes, {}
    return tuple(found), {"line_gap": np.concatenate(times), "line_depth": np.concatenate(depths)}


def _lane(lane: Lane, queue: Queue, first: int) -> Lane:
    note = f"at most {queue.most:,} waiting"
    points = (first, len(queue.time))
    label = f"{lane.label}{TAIL}"
    return replace(
        lane, label=label, note=note, first=lane.first + lane.rows, rows=0, device=False, points=points
    )
