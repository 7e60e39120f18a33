"""Find the innermost enclosing slice of each host slice on its thread.

Containment makes a child; a partial overlap is no relation. At ties an end comes before a start, so
an empty slice encloses nothing, and of equal starts the later row is the child. Rounding may let a
child end one unit of the last digit after its parent: it stays a child, and what begins when the
parent ended is not its child.

Threads whose slices nest strictly are done in one sweep for all of them; the others, which no
profiler should write and some do, one slice at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.events import Slices

_ROUNDS = 4  # of clipping: an overshoot inside an overshoot needs one more


@dataclass(frozen=True, eq=False)
class Nesting:
    """Hold the tree of some rows of a trace, thread by thread, in the order of their starts.

    `parent` and what `at` returns are positions in `rows`, -1 for none; `depth` is 0 at the top.
    """

    rows: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    position: np.ndarray  # of each row of the trace, -1 where it takes no part

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Return the positions of rows of the trace."""
        found: np.ndarray = self.position[rows]
        return found


def nest(slices: Slices, rows: np.ndarray, unit: int) -> Nesting:
    """Return the tree of these rows; `unit` is one unit of the last digit of the file's times."""
    track = slices.track[rows]
    small = track.astype(np.uint16) if len(track) and int(track.max()) < 1 << 16 else track
    order = np.argsort(small, kind="stable")
    rows, track = rows[order], track[order]
    start = slices.start[rows]
    parent, depth = parents(track, start, start + slices.dur[rows], unit)
    position = np.full(len(slices), -1, np.int32)
    position[rows] = np.arange(len(rows), dtype=np.int32)
    return Nesting(rows, parent, depth, position)


def parents(
    track: np.ndarray, start: np.ndarray, end: np.ndarray, unit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return parent and depth of slices given track by track, each in the order of a Trace."""
    parent, depth = _swept(track, start, end)
    inside = end
    for _ in range(_ROUNDS):
        wrong = _wrong(parent, end, inside, unit)
        if not wrong.any():
            return parent, depth
        some = np.flatnonzero(np.isin(track, track[wrong]))
        cut = _clipped(track[some], start[some], end[some], inside[some], unit)
        if (cut == inside[some]).all():
            break
        inside = inside.copy()
        inside[some] = cut
        parent, depth = _swept(track, start, inside)
    wrong = _wrong(parent, end, inside, unit)
    for code in np.unique(track[wrong]).tolist():
        first, last = np.searchsorted(track, [code, code + 1])
        some, deep = _one_by_one(start[first:last].tolist(), end[first:last].tolist(), unit)
        parent[first:last] = np.where(some >= 0, some + first, -1)
        depth[first:last] = deep
    return parent, depth


def _swept(track: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return parent and depth, right where slices nest strictly.

    The depth of a slice is the number of slices before it less those that have ended; its parent is
    the last slice before it that is one level higher.
    """
    count = len(start)
    if not count:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    opens, closes = _apart(track, start, end)
    ended = np.searchsorted(np.sort(closes), opens, "right")
    empty = opens == closes
    if empty.any():  # those of this instant that come later, or the slice itself, have not ended before it
        upto = np.concatenate(([0], np.cumsum(empty)))
        ended -= upto[np.searchsorted(opens, opens, "right")] - upto[:-1]
    place = np.arange(count)
    depth = place - ended
    by_depth = np.argsort(depth.astype(np.int16) if int(depth.max()) < 1 << 15 else depth, kind="stable")
    keys = depth[by_depth] * count + by_depth
    above = np.searchsorted(keys, keys - count) - 1
    parent = np.full(count, -1, np.int32)
    inner = depth[by_depth] > 0
    parent[by_depth[inner]] = by_depth[above[inner]]
    return parent, depth.astype(np.int32)


def _wrong(parent: np.ndarray, end: np.ndarray, inside: np.ndarray, unit: int) -> np.ndarray:
    """Return which slices end too late for their parent, or were taken to end where they do not."""
    if not len(parent):
        return np.empty(0, bool)
    has = parent >= 0
    expected = np.where(has, np.minimum(end, inside[parent]), end)
    wrong: np.ndarray = (inside != expected) | (has & (end > end[parent] + unit))
    return wrong


def _apart(track: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return start and end on one axis where each track has a stretch of its own."""
    reach = int(end.max()) - int(start.min()) + 1
    if int(track[-1]) < (1 << 62) // reach:
        shift = track.astype(np.int64) * reach - int(start.min())
        return start + shift, end + shift
    times, codes = np.unique(np.concatenate((start, end)), return_inverse=True)
    shift = track.astype(np.int64) * len(times)
    return codes[: len(start)] + shift, codes[len(start) :] + shift


def _clipped(
    track: np.ndarray, start: np.ndarray, end: np.ndarray, inside: np.ndarray, unit: int
) -> np.ndarray:
    """Return where slices end within one that they overshoot by a unit; `inside` is where they ended so far."""
    order = np.lexsort((end, track))
    by_track, by_end = track[order], end[order]
    first = np.ones(len(order), bool)  # of all slices of one end the earliest: lexsort keeps their order
    first[1:] = (by_track[1:] != by_track[:-1]) | (by_end[1:] != by_end[:-1])
    earliest = order[first]
    _, closes = _apart(track, start, end)
    known = closes[earliest]
    at = earliest[np.minimum(np.searchsorted(known, closes - unit), len(known) - 1)]
    overshoot = (closes[at] == closes - unit) & (track[at] == track) & (at < np.arange(len(end)))
    overshoot &= start < inside[at]
    return np.where(overshoot, np.minimum(inside, inside[at]), inside)


def _one_by_one(start: list[int], end: list[int], unit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return parent and depth on one track where slices overlap partly."""
    parent, depth = np.full(len(start), -1, np.int32), np.zeros(len(start), np.int32)
    stack: list[tuple[int, int, int]] = []  # slice, its end, and its end within all that enclose it
    for i, (begin, stop) in enumerate(zip(start, end, strict=True)):
        while stack and (begin >= stack[-1][2] or stop > stack[-1][1] + unit):
            stack.pop()
        inside = stop
        if stack:
            parent[i], depth[i] = stack[-1][0], len(stack)
            inside = min(stop, stack[-1][2])
        stack.append((i, stop, inside))
    return parent, depth
