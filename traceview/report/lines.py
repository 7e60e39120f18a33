"""Lines of the timeline: the queue depth of each stream, in a lane under the stream's slices."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.report.clock import Clock
from traceview.report.lod import joined
from traceview.report.queue_windows import points_between, spliced, waits_of
from traceview.report.queues import Queue, queues, thinned
from traceview.report.view import Lane, Window

STREAMS = 8  # with the deepest queues
POINTS = 1_000  # of a stream
EXACT = 16_000  # further points, of all streams together, inside the windows worth a look
TAIL = " · queue"


def with_queues(
    analysis: Analysis, lanes: tuple[Lane, ...], clock: Clock, windows: tuple[Window, ...] = ()
) -> tuple[tuple[Lane, ...], dict[str, npt.NDArray[Any]]]:
    """Return the lanes with those of queues, and their points: gaps in units of the clock, and depths.

    A point holds until the next. A depth is doubled, with 1 added where it is the most of several points, so
    that it is at most that until the next; inside the windows (ns of the trace) points stay single, first come
    first served. Lanes that share their device and stream have no queue of their own.
    """
    tracks = analysis.trace.tracks
    keys = [(tracks[lane.track].device or "", tracks[lane.track].stream or "") for lane in lanes]
    of_work = Counter(key for key, lane in zip(keys, lanes, strict=True) if lane.device)
    place = {key: i for i, key in enumerate(keys) if lanes[i].device and of_work[key] == 1}
    known = [q for q in queues(analysis.launch_behaviour.depth) if q.most and (q.device, q.stream) in place]
    deepest = sorted(known, key=lambda q: -q.most)[:STREAMS]
    under = {place[q.device, q.stream]: thinned(q, POINTS) for q in deepest}
    _keep_windows(analysis, lanes, under, _clipped(windows, clock))
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
        depths.append(2 * queue.depth + (0 if queue.merged is None else queue.merged))
    if not times:
        return lanes, {}
    return tuple(found), {"line_gap": np.concatenate(times), "line_depth": np.concatenate(depths)}


def _keep_windows(
    analysis: Analysis, lanes: tuple[Lane, ...], under: dict[int, Queue], windows: list[tuple[int, int]]
) -> None:
    """Put single points into the thinned lines of lanes inside windows, as many as there is room for."""
    loose = [i for i, q in under.items() if q.merged is not None and q.merged.any()]
    if not loose:
        return
    waits = dict(zip(loose, waits_of(analysis.trace, [lanes[i].track for i in loose]), strict=True))
    left = EXACT
    kept: list[tuple[int, int]] = []
    for window in windows:
        number = sum(len(points_between(w, *window)[0]) for w in waits.values())
        if number <= left:
            kept.append(window)
            left -= number
    for i in loose:
        for begin, end in joined(tuple(kept)):
            under[i] = spliced(under[i], begin, *points_between(waits[i], begin, end), end)


def _clipped(windows: tuple[Window, ...], clock: Clock) -> list[tuple[int, int]]:
    """Return the windows from the clock's zero on."""
    return [(max(w.start, clock.zero), w.end) for w in windows if w.end > max(w.start, clock.zero)]


def _lane(lane: Lane, queue: Queue, first: int) -> Lane:
    note = f"at most {queue.most:,} waiting"
    points = (first, len(queue.time))
    label = f"{lane.label}{TAIL}"
    return replace(
        lane, label=label, note=note, first=lane.first + lane.rows, rows=0, device=False, points=points
    )
