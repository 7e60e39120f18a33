"""Rows of a lane: nested slices one under the other, nothing overlapping inside a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
DEEPEST = 96  # rows are assigned so deep; what lies deeper is not drawn


def assign(start: Ints, dur: Ints, levels: int = DEEPEST) -> npt.NDArray[np.int16]:
    """Return the row of each slice of one lane, sorted by (start, longer first); DEEPEST = too deep.

    For slices that nest this is their depth. A slice without length counts as 1 ns long. Where
    slices overlap partly, no more than `levels` rows are filled.
    """
    end = start + np.maximum(dur, 1)
    if not len(start) or (start[1:] >= end[:-1]).all():
        return np.zeros(len(start), np.int16)
    depth = _depth(start, end)
    return depth if _free_of_overlap(depth, start, end) else _first_fit(start, end, levels)


def _depth(start: Ints, end: Ints) -> npt.NDArray[np.int16]:
    """Count the slices open at each start: right for all slices where all of them nest."""
    ended = np.searchsorted(np.sort(end), start, side="right")
    open_slices: npt.NDArray[Any] = np.arange(len(start)) - ended
    depth: npt.NDArray[np.int16] = np.minimum(open_slices, DEEPEST).astype(np.int16)
    return depth


def _free_of_overlap(row: npt.NDArray[np.int16], start: Ints, end: Ints) -> bool:
    order = np.argsort(row, kind="stable")  # radix sort: rows are 16 bit wide
    row, start, end = row[order], start[order], end[order]
    clash = (row[1:] == row[:-1]) & (start[1:] < end[:-1]) & (row[1:] < DEEPEST)
    return not clash.any()


def _first_fit(start: Ints, end: Ints, levels: int) -> npt.NDArray[np.int16]:
    """Fill row after row from left to right, for lanes whose slices overlap partly.

    Per row one search gives every slice its next neighbour; a walk along them touches each slice
    once, so the whole costs little more than one pass in Python.
    """
    row = np.full(len(start), DEEPEST, np.int16)
    left = np.arange(len(start))
    for level in range(levels):
        follower = np.searchsorted(start, end, side="left").tolist()
        chosen, at, stop = [], 0, len(start)
        while at < stop:
            chosen.append(at)
            at = follower[at]
        row[left[chosen]] = level
        rest = np.ones(stop, bool)
        rest[chosen] = False
        left, start, end = left[rest], start[rest], end[rest]
        if not len(left):
            break
    return row
