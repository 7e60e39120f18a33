"""What a host thread was in the middle of: innermost operator, annotation and Python frame at an instant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traceview.analyses.nesting import Nesting, nest
from traceview.analyses.workspace import Workspace
from traceview.events import Kind


class Stack(NamedTuple):
    """Hold the innermost slices of each kind at instants on threads, as rows of the trace, -1 for none."""

    op: np.ndarray
    annotation: np.ndarray
    python: np.ndarray


def stack_at(workspace: Workspace, track: np.ndarray, time: np.ndarray) -> Stack:
    """Return the stack at each time (ns) on each track (-1: none); marks of steps are no annotations here."""
    trace = workspace.trace
    s = trace.slices
    tree = workspace.nesting
    at = innermost(workspace, tree, track, time)
    op = workspace.innermost_op(at)
    noted = (s.kind[tree.rows] == Kind.ANNOTATION) & ~np.isin(tree.rows, trace.steps.row)
    annotation = climb(tree, at, noted)
    frames = trace.rows_of(Kind.PYTHON)
    frames = frames[
        _holds_an_instant(s.start[frames], s.start[frames] + s.dur[frames], np.sort(time[track >= 0]))
    ]
    calls = nest(s, frames, trace.unit_ns)
    python = innermost(workspace, calls, track, time)
    return Stack(_rows(tree, op), _rows(tree, annotation), _rows(calls, python))


def innermost(workspace: Workspace, tree: Nesting, track: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the innermost slice of a tree at each time on each track, as a position in it, -1 for none."""
    s = workspace.trace.slices
    tracks = s.track[tree.rows]
    start = s.start[tree.rows]
    end = start + s.dur[tree.rows]
    at = np.full(len(time), -1, np.int64)
    by_track = np.argsort(track, kind="stable")
    for code in np.unique(track[track >= 0]).tolist():
        first, last = np.searchsorted(tracks, [code, code + 1])
        asked = by_track[slice(*np.searchsorted(track[by_track], (code, code + 1)))]
        place = np.searchsorted(start[first:last], time[asked], "right") - 1
        at[asked] = np.where(place >= 0, place + first, -1)
    left = np.flatnonzero(at >= 0)
    left = left[end[at[left]] <= time[left]]
    while len(left):
        at[left] = tree.parent[at[left]]
        left = left[at[left] >= 0]
        left = left[end[at[left]] <= time[left]]
    return at


def climb(tree: Nesting, positions: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the innermost wanted slice at or above positions of a tree, -1 for none."""
    at = positions.copy()
    left = np.flatnonzero(at >= 0)
    left = left[~wanted[at[left]]]
    while len(left):
        at[left] = tree.parent[at[left]]
        left = left[at[left] >= 0]
        left = left[~wanted[at[left]]]
    return at


def _rows(tree: Nesting, positions: np.ndarray) -> np.ndarray:
    if not len(tree.rows):
        return np.full(len(positions), -1, np.int64)
    rows: np.ndarray = np.where(positions >= 0, tree.rows[np.maximum(positions, 0)], -1)
    return rows


def _holds_an_instant(start: np.ndarray, end: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return which slices hold any of the sorted times: of millions of Python frames few are asked for."""
    if not len(times):
        return np.zeros(len(start), bool)
    following = times[np.minimum(np.searchsorted(times, start, "left"), len(times) - 1)]
    held: np.ndarray = (following >= start) & (following < end)
    return held
