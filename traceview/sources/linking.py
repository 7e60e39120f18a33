"""Link device work to the host call that launched it.

By correlation id, one to many (a graph launch shares its id with all its kernels). A driver call
inside a runtime call is part of it, so work goes to the outer call. Ids repeat when several
processes wrote one file: then the last call that began before the work wins. Flow arrows are often
half missing and serve only where no correlation linked anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Calls(NamedTuple):
    """Hold host calls as columns: row, track, start and end in ns."""

    row: np.ndarray
    track: np.ndarray
    start: np.ndarray
    end: np.ndarray


def outer_calls(calls: Calls) -> np.ndarray:
    """Return for each call the index of the call that contains it on its thread, its own where none does."""
    count = len(calls.row)
    if not count:
        return np.empty(0, np.int64)
    order = np.lexsort((calls.row, -calls.end, calls.start, calls.track))
    track, start, end = calls.track[order], calls.start[order], calls.end[order]
    # one running maximum for all threads: each thread lives in a range of its own
    base = track.astype(np.int64) * (int(end.max()) - int(start.min()) + 2)
    reach = np.maximum.accumulate(base + end - int(start.min()) + 1)
    before = np.empty(count, np.int64)
    before[0] = -1
    before[1:] = reach[:-1]
    shifted = base + start - int(start.min()) + 1
    inside = (shifted < before) & (base + end - int(start.min()) + 1 <= before)
    inside[1:] &= track[1:] == track[:-1]
    inside[0] = False
    holder = np.maximum.accumulate(np.where(inside, -1, np.arange(count)))
    outer = np.empty(count, np.int64)
    outer[order] = order[holder]
    return outer


def link(
    work_id: np.ndarray, work_start: np.ndarray, call_id: np.ndarray, call_start: np.ndarray
) -> np.ndarray:
    """Return for each piece of work the index of its call, -1 for none; ids are equal or not, no more."""
    linked = np.full(len(work_id), -1, np.int64)
    if not len(call_id) or not len(work_id):
        return linked
    order = np.lexsort((call_start, call_id))
    ids = call_id[order]
    first = np.searchsorted(ids, work_id, "left")
    last = np.searchsorted(ids, work_id, "right")
    found = last > first
    linked[found] = order[first[found]]
    several = np.flatnonzero(last - first > 1)
    for i in several.tolist():
        starts = call_start[order[first[i] : last[i]]]
        before = int(np.searchsorted(starts, work_start[i], "right")) - 1
        linked[i] = order[first[i] + max(before, 0)]
    return linked


def link_by_flow(
    flow_id: np.ndarray, side: np.ndarray, slice_at: np.ndarray, work_rows: np.ndarray, count: int
) -> np.ndarray:
    """Return for each row the row its flow arrow starts from, -1 for none.

    `slice_at` is the row of the slice that stands at each flow end (-1: none); side 0 starts an
    arrow, 2 finishes it; only `work_rows` are linked; `count` is the number of rows.
    """
    links = np.full(count, -1, np.int64)
    starts = (side == 0) & (slice_at >= 0)
    ends = (side == 2) & (slice_at >= 0)
    is_work = np.zeros(count, bool)
    is_work[work_rows] = True
    ends &= is_work[np.maximum(slice_at, 0)]
    source = dict(zip(flow_id[starts].tolist(), slice_at[starts].tolist(), strict=True))
    for arrow, row in zip(flow_id[ends].tolist(), slice_at[ends].tolist(), strict=True):
        links[row] = source.get(arrow, -1)
    return links


def duplicates(start: np.ndarray, dur: np.ndarray, keys: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return which records repeat an earlier one: equal start, duration and keys (bool per record).

    Records must be in the order of their start.
    """
    repeated = np.zeros(len(start), bool)
    same = start[1:] == start[:-1]
    if not same.any():
        return repeated
    near = np.zeros(len(start), bool)
    near[1:] |= same
    near[:-1] |= same
    rows = np.flatnonzero(near)
    order = np.lexsort((rows, *(k[rows] for k in keys), dur[rows], start[rows]))
    rows = rows[order]
    equal = np.ones(len(rows) - 1, bool)
    for column in (start, dur, *keys):
        equal &= column[rows[1:]] == column[rows[:-1]]
    repeated[rows[1:][equal]] = True
    return repeated
