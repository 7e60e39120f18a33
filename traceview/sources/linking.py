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
    start, end = _on_one_axis(track, start, end)
    reach = np.maximum.accumulate(end)
    before = np.empty(count, np.int64)
    before[0] = -1
    before[1:] = reach[:-1]
    inside = (start < before) & (end <= before)
    inside[1:] &= track[1:] == track[:-1]
    inside[0] = False
    holder = np.maximum.accumulate(np.where(inside, -1, np.arange(count)))
    outer = np.empty(count, np.int64)
    outer[order] = order[holder]
    return outer


def _on_one_axis(track: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give each thread a stretch of one axis, so that one running maximum serves all; order is kept."""
    low, width = int(start.min()), int(end.max()) - int(start.min()) + 2
    if width * (int(track.max()) + 1) >= 1 << 62:  # ranks do where times would not fit
        times, ranks = np.unique(np.concatenate([start, end]), return_inverse=True)
        low, width = 0, len(times) + 2
        start, end = ranks[: len(start)], ranks[len(start) :]
    base = track.astype(np.int64) * width - low + 1
    return base + start, base + end


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
    if len(several):
        linked[several] = _last_before(work_id[several], work_start[several], order, ids, call_start[order])
    return linked


def _last_before(
    work_id: np.ndarray, work_start: np.ndarray, order: np.ndarray, ids: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Return for each piece of work the last call of its id that began before it, else the first of its id."""
    calls = len(ids)
    id_all, start_all = np.concatenate([ids, work_id]), np.concatenate([starts, work_start])
    is_work = np.arange(len(id_all)) >= calls
    merged = np.lexsort((is_work, start_all, id_all))
    seen = np.where(is_work[merged], -1, merged)
    seen = np.maximum.accumulate(np.where(seen >= 0, np.arange(len(merged)), -1))
    place = np.empty(len(merged), np.int64)
    place[merged] = np.where(seen >= 0, merged[np.maximum(seen, 0)], -1)
    found = place[calls:]
    wrong = (found < 0) | (ids[np.maximum(found, 0)] != work_id)
    found[wrong] = np.searchsorted(ids, work_id[wrong], "left")
    chosen: np.ndarray = order[found]
    return chosen


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
