"""Sets of half-open intervals of int64: union, intersection, difference, gaps, total, coverage.

An Intervals is a pair of arrays, start and end. `union` makes one disjoint, sorted, and free of
empty and of touching intervals; the other functions expect both operands like that. No trace words
in here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Intervals(NamedTuple):
    """Hold intervals [start, end); int64 arrays of equal length."""

    start: np.ndarray
    end: np.ndarray


def union(start: np.ndarray, end: np.ndarray) -> Intervals:
    """Return the disjoint intervals that cover exactly what these cover; empty ones cover nothing."""
    start, end = np.asarray(start, np.int64), np.asarray(end, np.int64)
    real = end > start
    if not real.all():
        start, end = start[real], end[real]
    if not len(start):
        return Intervals(start, end)
    if (start[1:] < start[:-1]).any():
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    opens = np.flatnonzero(start[1:] > reach[:-1]) + 1
    first = np.concatenate(([0], opens))
    last = np.concatenate((opens - 1, [len(start) - 1]))
    return Intervals(start[first], reach[last])


def total(intervals: Intervals) -> int:
    """Return the added length of disjoint intervals."""
    return int((intervals.end - intervals.start).sum())


def intersect(left: Intervals, right: Intervals) -> Intervals:
    """Return what both cover."""
    edges, in_left, in_right = _sweep(left, right)
    return _where(edges, in_left & in_right)


def subtract(left: Intervals, right: Intervals) -> Intervals:
    """Return what `left` covers and `right` does not."""
    edges, in_left, in_right = _sweep(left, right)
    return _where(edges, in_left & ~in_right)


def gaps(intervals: Intervals) -> Intervals:
    """Return the holes between the first start and the last end."""
    return Intervals(intervals.end[:-1], intervals.start[1:])


def amount_before(intervals: Intervals, points: np.ndarray) -> np.ndarray:
    """Return how much the intervals cover before each point; a difference is what they cover between two."""
    lengths = np.concatenate(([0], np.cumsum(intervals.end - intervals.start)))
    begun = np.searchsorted(intervals.start, points, "right")
    reach = np.concatenate(([0], intervals.end))[begun]
    amount: np.ndarray = lengths[begun] - np.where(begun > 0, np.maximum(reach - points, 0), 0)
    return amount


def _sweep(left: Intervals, right: Intervals) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all edges in order, and for the stretch after each whether either operand covers it."""
    edges = np.concatenate((left.start, left.end, right.start, right.end))
    edges.sort(kind="stable")
    return edges, _covers(left, edges), _covers(right, edges)


def _covers(intervals: Intervals, points: np.ndarray) -> np.ndarray:
    opened = np.searchsorted(intervals.start, points, "right")
    closed = np.searchsorted(intervals.end, points, "right")
    covered: np.ndarray = opened > closed
    return covered


def _where(edges: np.ndarray, inside: np.ndarray) -> Intervals:
    return union(edges[:-1][inside[:-1]], edges[1:][inside[:-1]])
