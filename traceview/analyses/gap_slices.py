"""What the host was in the middle of in each slice of an idle gap: of the time before the launch, and of its call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.gap_parts import CAUSES, HOST_CAUSES, INSIDE_LAUNCH, Holes, Pieces
from traceview.analyses.grouping import texts
from traceview.analyses.host_stack import stack_at
from traceview.analyses.host_states import PROFILER, STATES, HostStates
from traceview.analyses.workspace import Workspace
from traceview.tables import Table, column

FINEST = 2_000  # longest gaps whose slices are cut where the host's stack changes
MOST_CUTS = 200_000
_AT_ONCE = 1 << 17  # slices looked at at once: of millions few lie in a long gap
_IN_CALL = next(i for i, (name, _) in enumerate(CAUSES) if name == INSIDE_LAUNCH)


@dataclass(frozen=True, eq=False)
class GapSlices(Table):
    """Hold one row per slice of a gap in which the host sets the pace, by gap, then time.

    The stack is that of the launching thread, or of the thread on which the cause is active. In the longest
    gaps a slice ends where that stack changes; in the others it may change, and the middle of the slice
    tells. Of a launch call it is the stack as it begins.
    """

    gap: np.ndarray = column("place of the gap in Gaps", "id")
    cause: np.ndarray = column("column of Gaps that the slice is part of", "text")
    start: np.ndarray = column("start", "ns")
    dur: np.ndarray = column("length; those of a gap and a cause add up to the gap's part", "ns")
    op: np.ndarray = column("innermost operator", "text")
    annotation: np.ndarray = column("innermost annotation, steps left out", "text")
    python: np.ndarray = column("innermost Python frame, where recorded", "text")


def with_calls(cut: Pieces, holes: Holes, inside: np.ndarray) -> Pieces:
    """Return the pieces and those inside launch calls (`inside`: ns by gap), by gap, then time."""
    calls = np.flatnonzero(inside)
    merged = np.concatenate((cut.hole, calls))
    order = np.argsort(merged, kind="stable")  # a call follows what the host did before it
    cause = np.concatenate((cut.cause, np.full(len(calls), _IN_CALL, cut.cause.dtype)))
    start = np.concatenate((cut.start, holes.reached[calls]))
    length = np.concatenate((cut.length, inside[calls]))
    return Pieces(merged[order], cause[order], start[order], length[order])


def slices_of(
    workspace: Workspace, states: HostStates, cut: Pieces, holes: Holes, launch: np.ndarray
) -> tuple[Pieces, GapSlices]:
    """Return each piece with the host's stack, cut where it changes; `launch` is the row that ends each gap."""
    track = workspace.trace.slices.track[launch[cut.hole]].astype(np.int64)
    time = np.where(cut.cause == _IN_CALL, cut.start, cut.start + cut.length // 2)
    for place, state in enumerate(STATES):
        # the profiler's slices lie on a lane of their own: there the launching thread tells
        own = np.flatnonzero(cut.cause == place) if state != PROFILER else np.empty(0, np.int64)
        track[own] = _thread_of(workspace, states.rows[state], time[own] + holes.shift[cut.hole[own]])
    cut, track = _finer(workspace, cut, track, holes)
    time = np.where(cut.cause == _IN_CALL, cut.start, cut.start + cut.length // 2)
    stack = stack_at(workspace, track, time)
    names = np.append(texts(workspace.trace.names), "")
    code = workspace.trace.slices.name
    named = [names[np.where(rows >= 0, code[rows], -1)] for rows in stack]
    columns = texts(name for name, _ in CAUSES[: HOST_CAUSES + 1])
    return cut, GapSlices(cut.hole, columns[cut.cause], cut.start, cut.length, *named)


def _finer(workspace: Workspace, cut: Pieces, track: np.ndarray, holes: Holes) -> tuple[Pieces, np.ndarray]:
    """Cut the pieces of the longest gaps wherever a slice begins or ends on their thread."""
    length = holes.closing - holes.opening
    longest = np.zeros(len(length), bool)
    longest[np.argsort(-length, kind="stable")[:FINEST]] = True
    some = np.flatnonzero(longest[cut.hole] & (cut.cause != _IN_CALL) & (track >= 0))
    first, last = np.zeros(len(cut.hole), np.int64), np.zeros(len(cut.hole), np.int64)
    edges, offset = [], 0
    for code in np.unique(track[some]).tolist():
        own = some[track[some] == code]
        found = _edges(workspace, code, cut.start[own], cut.length[own])
        first[own] = offset + np.searchsorted(found, cut.start[own], "right")
        last[own] = offset + np.searchsorted(found, cut.start[own] + cut.length[own], "left")
        edges.append(found)
        offset += len(found)
    by_length = some[np.argsort(-length[cut.hole[some]], kind="stable")]
    within = np.cumsum((last - first)[by_length]) <= MOST_CUTS
    cuts = np.zeros(len(cut.hole), np.int64)
    cuts[by_length[within]] = (last - first)[by_length[within]]
    if not cuts.any():
        return cut, track
    piece = np.repeat(np.arange(len(cuts)), cuts + 1)
    place = np.arange(len(piece)) - (np.cumsum(cuts + 1) - cuts - 1)[piece]
    times = np.append(np.concatenate(edges), 0)
    at = times[np.where(place > 0, first[piece] + place - 1, -1)]
    start = np.where(place > 0, at, cut.start[piece])
    end = (cut.start + cut.length)[piece]
    ends = np.where(place < cuts[piece], np.append(start[1:], 0), end)
    return Pieces(cut.hole[piece], cut.cause[piece], start, ends - start), track[piece]


def _edges(workspace: Workspace, track: int, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the times inside some pieces (sorted, apart) at which a host slice begins or ends on a thread."""
    s = workspace.trace.slices
    order = np.argsort(start, kind="stable")
    start, end = start[order], (start + length)[order]
    rows = np.flatnonzero((s.track == track) & workspace.trace.timed)
    inside = []
    for first in range(0, len(rows), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        for times in (s.start[some], s.start[some] + s.dur[some]):
            at = np.searchsorted(start, times, "left") - 1  # the last piece that begins before
            inside.append(times[(at >= 0) & (times < end[at])])
    times = np.sort(np.concatenate(inside)) if inside else np.empty(0, np.int64)
    found: np.ndarray = times[np.diff(times, prepend=-1) != 0]
    return found


def _thread_of(workspace: Workspace, rows: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the thread on which a state is active at each time, given that it is; -1 for device records.

    The times are those of the axis where each rank has a stretch of its own.
    """
    s, tracks = workspace.trace.slices, workspace.trace.tracks
    if not len(rows) or not len(time):
        return np.full(len(time), -1, np.int64)
    start = s.start[rows] + workspace.scope_shift[workspace.scope_of_track[s.track[rows]]]
    order = np.argsort(start, kind="stable")
    rows, start = rows[order], start[order]
    end = start + s.dur[rows]
    reach = np.maximum.accumulate(end)
    furthest = np.maximum.accumulate(np.where(end == reach, np.arange(len(rows)), 0))
    track = s.track[rows[furthest[np.searchsorted(start, time, "right") - 1]]]
    on_host = np.array([not t.is_device for t in tracks], bool)
    return np.where(on_host[track], track, -1)
