"""Level of detail: reduce the slices of a row to items, exact slices or blocks of short neighbours.

Exact stay the slices that touch the focus window and those of at least tau ns; tau is the smallest
threshold for which the items keep the budget. Runs of the other slices become blocks, cut at holes
and at a length of two pixels of the whole trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_PIXELS = 2000
_STEPS = 64


@dataclass(frozen=True)
class Bars:
    """Hold slices sorted by (row, start) that never overlap inside a row; start and end in ns."""

    row: npt.NDArray[Any]
    start: Ints
    end: Ints
    entry: Ints

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class Items:
    """Hold what is drawn: `number` slices each (1 = exact), `busy` ns of them; tau is 0 if all are exact."""

    row: npt.NDArray[Any]
    start: Ints
    end: Ints
    entry: Ints
    number: Ints
    busy: Ints
    tau: int

    def __len__(self) -> int:
        return len(self.row)


class _Breaks(NamedTuple):
    """Hold, per slice but the first, whether the row changes and the hole before it."""

    row: Bools
    hole: Ints


def touches(bars: Bars, focus: tuple[int, int] | None) -> Bools:
    """Return which slices touch the focus window."""
    if focus is None:
        return np.zeros(len(bars), bool)
    return (bars.start < focus[1]) & (bars.end > focus[0])


def reduce(bars: Bars, budget: int, focus: tuple[int, int] | None = None) -> Items:
    """Reduce slices to at most `budget` items, or one block per row where even that is more."""
    if len(bars) <= max(budget, 0):
        return _exact(bars)
    dur = bars.end - bars.start
    span = max(int(bars.end.max() - bars.start.min()), 1)
    breaks = _Breaks(np.diff(bars.row) != 0, bars.start[1:] - bars.end[:-1])
    inside = touches(bars, focus)
    pixels = _PIXELS
    while True:
        tau, keep, begins = _smallest(bars, dur, (inside, breaks), (span, pixels), budget)
        items = int(keep.sum() + begins.sum())
        if items <= budget or (pixels < 1 and not inside.any()):
            return _build(bars, dur, keep, begins, tau)
        if pixels < 1:
            inside = np.zeros(len(bars), bool)  # the window alone is over the budget
        pixels = pixels // 4


def _exact(bars: Bars) -> Items:
    ones = np.ones(len(bars), np.int64)
    return Items(bars.row, bars.start, bars.end, bars.entry, ones, bars.end - bars.start, 0)


def _smallest(
    bars: Bars, dur: Ints, masks: tuple[Bools, _Breaks], scale: tuple[int, int], budget: int
) -> tuple[int, Bools, Bools]:
    """Find the smallest threshold on a log grid that keeps the budget, else the largest."""
    (inside, breaks), (span, pixels) = masks, scale
    grid = np.unique(np.geomspace(100, max(span, 101) + 1, _STEPS).astype(np.int64))
    pixel = span // pixels if pixels else span + 1
    bucket = np.diff(bars.start // max(2 * pixel, 1)) != 0
    low, high = 0, len(grid) - 1
    while low < high:
        middle = (low + high) // 2
        keep = inside | (dur >= grid[middle])
        kept = int(keep.sum())
        if (
            kept <= budget
            and kept + int(_begins(keep, breaks, bucket, max(grid[middle], pixel)).sum()) <= budget
        ):
            high = middle
        else:
            low = middle + 1
    keep = inside | (dur >= grid[low])
    return int(grid[low]), keep, _begins(keep, breaks, bucket, max(grid[low], pixel))


def _begins(keep: Bools, breaks: _Breaks, bucket: Bools, gap: int) -> Bools:
    """Return which of the slices not kept begin a block."""
    begins = np.ones(len(keep), bool)
    begins[1:] = breaks.row | bucket | keep[:-1] | (breaks.hole > gap)
    begins &= ~keep
    return begins


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
        entry=bars.entry[chosen],
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
        entry=np.concatenate([p.entry for p in parts])[order],
        number=np.concatenate([p.number for p in parts])[order],
        busy=np.concatenate([p.busy for p in parts])[order],
        tau=max((p.tau for p in parts), default=0),
    )
