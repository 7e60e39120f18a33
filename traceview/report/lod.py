"""Level of detail: reduce the slices of a row to items, exact slices or blocks of short neighbours.

Exact stay the slices that touch a focus window and those of at least tau ns; tau is the smallest
threshold for which the items keep the budget. Runs of the other slices become blocks, cut at holes
and at a length of two pixels of the whole trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Windows = tuple[tuple[int, int], ...]
_PIXELS = 2000
_STEPS = 64


@dataclass(frozen=True)
class Bars:
    """Hold slices sorted by (row, start) that never overlap inside a row; start and end in ns.

    `source` is the row of each in the trace.
    """

    row: npt.NDArray[Any]
    start: Ints
    end: Ints
    source: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def edges(self) -> list[int]:
        """Return where the rows begin, and the end of the last."""
        if not len(self.row):
            return [0]
        return [0, *(np.flatnonzero(np.diff(self.row)) + 1).tolist(), len(self.row)]


@dataclass(frozen=True)
class Items:
    """Hold what is drawn: `number` slices each (1 = exact), `busy` ns of them; tau is 0 if all are exact.

    `source` is the row of the slice in the trace, of a block's longest slice.
    """

    row: npt.NDArray[Any]
    start: Ints
    end: Ints
    source: npt.NDArray[Any]
    number: Ints
    busy: Ints
    tau: int

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class _Plan:
    """Hold what every attempt at a threshold needs, computed once."""

    since: Ints  # start from the first slice
    dur: Ints
    inside: Bools
    new_row: Bools
    hole: Ints
    span: int

    def begins(self, tau: int, pixels: int) -> tuple[Bools, Bools]:
        """Return which slices stay exact, and which of the others begin a block."""
        pixel = self.span // pixels if pixels else self.span + 1
        keep = self.inside | (self.dur >= tau)
        begins = np.ones(len(keep), bool)
        bucket = self.since // max(2 * pixel, 1)
        begins[1:] = self.new_row | (bucket[1:] != bucket[:-1]) | keep[:-1] | (self.hole > max(tau, pixel))
        begins &= ~keep
        return keep, begins


def joined(windows: Windows) -> Windows:
    """Return windows in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(windows):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(found)


def _touching(bars: Bars, windows: Windows) -> list[tuple[int, int]]:
    """Return the stretches of slices that touch windows, per row and window: each row is in order."""
    found = []
    for begin, end in pairwise(bars.edges):
        starts, ends = bars.start[begin:end], bars.end[begin:end]
        for first, last in joined(windows):
            a = begin + int(np.searchsorted(ends, first, "right"))
            b = begin + int(np.searchsorted(starts, last, "left"))
            if a < b:
                found.append((a, b))
    return found


def touched(bars: Bars, windows: Windows) -> int:
    """Count the slices that touch any of the windows."""
    number, row_end = 0, 0
    for a, b in _touching(bars, windows):  # in order; one slice may touch two windows
        number += max(b - max(a, row_end), 0)
        row_end = max(row_end, b)
    return number


def touches(bars: Bars, windows: Windows) -> Bools:
    """Return which slices touch any of the windows."""
    inside = np.zeros(len(bars), bool)
    for a, b in _touching(bars, windows):
        inside[a:b] = True
    return inside


def reduce(bars: Bars, budget: int, windows: Windows = ()) -> Items:
    """Reduce slices to at most `budget` items, or one block per row where even that is more.

    Focus windows that alone hold more than the budget do not count.
    """
    if len(bars) <= max(budget, 0):
        return _exact(bars)
    inside = touches(bars, windows)
    if int(inside.sum()) > budget:
        inside = np.zeros(len(bars), bool)
    since = bars.start - bars.start.min()
    span = max(int(bars.end.max() - bars.start.min()), 1)
    holes = bars.start[1:] - bars.end[:-1]
    plan = _Plan(since, bars.end - bars.start, inside, np.diff(bars.row) != 0, holes, span)
    for pixels in (_PIXELS, _PIXELS // 16, _PIXELS // 256, 0):
        tau, keep, begins = _smallest(plan, pixels, budget)
        if _number(keep, begins) <= budget:
            return _build(bars, plan.dur, *_refine(plan, (tau, pixels), (keep, begins), budget), tau)
    keep, begins = replace(plan, inside=inside & False).begins(span + 1, 0)
    return _build(bars, plan.dur, keep, begins, span + 1)


def _exact(bars: Bars) -> Items:
    ones = np.ones(len(bars), np.int64)
    return Items(bars.row, bars.start, bars.end, bars.source, ones, bars.end - bars.start, 0)


def _number(keep: Bools, begins: Bools) -> int:
    return int(np.count_nonzero(keep) + np.count_nonzero(begins))


def _smallest(plan: _Plan, pixels: int, budget: int) -> tuple[int, Bools, Bools]:
    """Find the smallest threshold on a log grid that keeps the budget, else the largest."""
    grid = np.unique(np.geomspace(100, max(plan.span, 101) + 1, _STEPS).astype(np.int64))
    # the slices kept exact must fit, blocks aside: that alone rules out most of the grid
    enough = len(plan.dur) - budget
    floor = int(np.partition(plan.dur, enough - 1)[enough - 1]) if enough > 0 else 0
    low, high = int(np.searchsorted(grid, floor, side="right")), len(grid) - 1
    low = min(low, high)
    while low < high:
        middle = (low + high) // 2
        if _number(*plan.begins(int(grid[middle]), pixels)) <= budget:
            high = middle
        else:
            low = middle + 1
    return int(grid[low]), *plan.begins(int(grid[low]), pixels)


def _refine(
    plan: _Plan, scale: tuple[int, int], found: tuple[Bools, Bools], budget: int
) -> tuple[Bools, Bools]:
    """Spend what is left of the budget on shorter blocks: slices of one length leave much of it."""
    tau, pixels = scale
    while pixels and plan.span // pixels > max(tau, 1) and _number(*found) < budget // 4:
        pixels *= 4
        finer = plan.begins(tau, pixels)
        if _number(*finer) > budget:
            break
        found = finer
    return found


def _build(bars: Bars, dur: Ints, keep: Bools, begins: Bools, tau: int) -> Items:
    """Make the items: kept slices as they are, each block with its longest slice's name."""
    head = np.flatnonzero(keep | begins)
    if not len(head):
        return _exact(bars)
    number = np.diff(np.append(head, len(keep)))
    last = head + number - 1
    longest = np.maximum.reduceat(dur, head)
    # of every item the first slice that is as long as its longest
    ranked = np.where(dur == np.repeat(longest, number), np.arange(len(dur)), len(dur))
    chosen = np.minimum.reduceat(ranked, head)
    return Items(
        row=bars.row[head],
        start=bars.start[head],
        end=bars.end[last],
        source=bars.source[chosen],
        number=number,
        busy=np.add.reduceat(dur, head),
        tau=tau,
    )


def join(parts: list[Items]) -> Items:
    """Join items of different rows, sorted by row; tau becomes the largest."""
    row = np.concatenate([p.row for p in parts])
    order = np.argsort(row, kind="stable")
    return Items(
        row=row[order],
        start=np.concatenate([p.start for p in parts])[order],
        end=np.concatenate([p.end for p in parts])[order],
        source=np.concatenate([p.source for p in parts])[order],
        number=np.concatenate([p.number for p in parts])[order],
        busy=np.concatenate([p.busy for p in parts])[order],
        tau=max((p.tau for p in parts), default=0),
    )
