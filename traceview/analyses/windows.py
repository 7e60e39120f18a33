"""Where each step lies on its device: what marks the steps, and the windows that tile the main stream."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from traceview.analyses.grouping import compact, sums
from traceview.analyses.steps import step_of
from traceview.analyses.workspace import Workspace
from traceview.events import Kind, Steps, Trace

# annotations that engines and trainers put around a step, where the profiler's own marks are missing
STEP_ANNOTATION = re.compile(
    r"^(?:train(?:ing)?|eval(?:uation)?|decode|prefill|generation)?[ _]?(?:step|iteration|iter)[ _#:]*\d+$"
    r"|^(?:train|training|eval)_?step$|^step\[|^execute_\w*context_|^\[pl\]\[profile\]run_training_batch",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d+)\D*$")


class Spans(NamedTuple):
    """Hold device windows of steps, by device, then start, in ns: those of one device do not overlap.

    `step` is a place among the steps, `closer` that of the step whose first record ends the window, -1
    for the last; `device` a code into Workspace.devices.
    """

    step: np.ndarray
    device: np.ndarray
    start: np.ndarray
    end: np.ndarray
    closer: np.ndarray

    def of_steps(self, steps: np.ndarray) -> Spans:
        """Return the windows of some of the steps."""
        kept = np.isin(self.step, steps)
        return Spans(*(column[kept] for column in self))

    def at(self, times: np.ndarray, device: np.ndarray) -> np.ndarray:
        """Return the step in whose window on its device each time lies, -1 for none."""
        found = np.full(len(times), -1, np.int64)
        used, first = np.unique(self.device, return_index=True)
        edges = [*first.tolist(), len(self.device)]
        by_device = np.argsort(device, kind="stable")
        for i, code in enumerate(used.tolist()):
            asked = by_device[slice(*np.searchsorted(device[by_device], (code, code + 1)))]
            own = slice(edges[i], edges[i + 1])
            place = np.searchsorted(self.start[own], times[asked], "right") - 1
            held = (place >= 0) & (times[asked] < self.end[own][np.maximum(place, 0)])
            found[asked[held]] = self.step[own][place[held]]
        return found


class Windows(NamedTuple):
    """Hold the device windows of steps, and the step that launched each timed device record, -1 for none.

    A window of a step on a device runs from its first record of any length on the device's main stream
    to the first one there of the next step that has any. The last one ends with the step's own work.
    `main` says which windows are on the main device of their rank: they are the steps' own.
    """

    spans: Spans
    main: np.ndarray
    of_work: np.ndarray

    @classmethod
    def found(cls, workspace: Workspace) -> Windows:
        """Return the device windows of the steps of a trace."""
        trace, work, marked = workspace.trace, workspace.work, marked_steps(workspace.trace)
        if not len(marked) or not len(work.row):
            return cls.nowhere(workspace)
        of_work = np.full(len(work.row), -1, np.int64)
        linked = np.flatnonzero(work.link >= 0)
        of_work[linked] = step_of(trace, marked, work.link[linked])
        scope_of_step = workspace.scope_of_track[trace.slices.track[marked.row]]
        own = np.flatnonzero((of_work >= 0) & (work.dur > 0))  # what has no length begins and ends nothing
        own = own[workspace.scope_of_device[work.device[own]] == scope_of_step[of_work[own]]]
        of_device, of_scope = _main_streams(workspace)
        spans = _laid(workspace, of_work, own, of_device)
        scope = workspace.scope_of_device[spans.device]
        main = workspace.device_of_track[of_scope[scope]] == spans.device
        return cls(spans, main, of_work)

    @classmethod
    def nowhere(cls, workspace: Workspace) -> Windows:
        """Return no windows, for work that no step launched."""
        none = np.empty(0, np.int64)
        of_work = np.full(len(workspace.work.row), -1, np.int64)
        return cls(Spans(none, none, none, none, none), none.astype(bool), of_work)


def marked_steps(trace: Trace) -> Steps:
    """Return the steps of a trace: the profiler's, else those that well-known annotations mark at least twice."""
    if len(trace.steps):
        return trace.steps
    rows = named_rows(trace, trace.rows_of(Kind.ANNOTATION), STEP_ANNOTATION)
    found = steps_from(trace, rows)
    return found if len(found) > 1 else found.take(np.empty(0, np.int64))


def named_rows(trace: Trace, rows: np.ndarray, pattern: re.Pattern[str]) -> np.ndarray:
    """Return those of the rows in whose name the pattern is found."""
    used, group = compact(trace.slices.name[rows], len(trace.names))
    found = np.array([pattern.search(trace.names[n]) is not None for n in used.tolist()], bool)
    return rows[found[group]] if len(used) else rows


def steps_from(trace: Trace, rows: np.ndarray) -> Steps:
    """Make steps of slices, leaving out those that begin inside another on their rank.

    Their numbers are those that end the names where all names have one and no two the same, else 0, 1, …
    """
    s = trace.slices
    scope = np.array([t.scope for t in trace.tracks], np.int64)[s.track[rows]]
    kept = []
    for code in np.unique(scope).tolist():
        own = rows[scope == code]
        end = s.start[own] + s.dur[own]
        reach = np.concatenate(([np.iinfo(np.int64).min], np.maximum.accumulate(end)[:-1]))
        kept.append(own[s.start[own] >= reach])
    rows = np.sort(np.concatenate(kept)) if kept else rows[:0]
    said = [_NUMBER.search(trace.name_of(row)) for row in rows.tolist()]
    numbers = [int(m[1]) % (1 << 62) for m in said if m]
    if len(set(numbers)) < len(rows):
        numbers = list(range(len(rows)))
    return Steps(np.array(numbers, np.int64), s.start[rows], s.dur[rows], rows.astype(np.int64))


def _main_streams(workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return the stream with most kernel time of each device and of each rank, as tracks.

    Collectives count only where nothing else runs: one that waits for other ranks can outlast all work.
    """
    work = workspace.work
    tracks, _ = compact(work.track, len(workspace.trace.tracks))
    kernel = work.kind == Kind.KERNEL
    length, count = workspace.clipped_end - work.start, len(workspace.trace.tracks)
    masks = (kernel & ~work.collective, kernel, np.ones(len(kernel), bool))
    times = [sums(work.track[mask], length[mask], count)[tracks] for mask in masks]
    device, scope = workspace.device_of_track[tracks], workspace.scope_of_track[tracks]
    groups = ((device, len(workspace.devices)), (scope, int(scope.max()) + 1))
    by_device, by_scope = (_longest(tracks, times, group, number) for group, number in groups)
    return by_device, by_scope


def _longest(tracks: np.ndarray, times: list[np.ndarray], group: np.ndarray, groups: int) -> np.ndarray:
    """Return the track with most time in each group, the first at ties.

    Of the times the first counts of which the group has any.
    """
    value = times[-1]
    for time in reversed(times[:-1]):
        value = np.where((sums(group, time, groups) > 0)[group], time, value)
    order = np.lexsort((-tracks, value, group))
    found = np.full(groups, -1, np.int64)
    found[group[order]] = tracks[order]  # of equal indices numpy keeps the last
    return found


def _laid(workspace: Workspace, of_work: np.ndarray, own: np.ndarray, main: np.ndarray) -> Spans:
    """Lay the windows of all devices on their main streams; `own` is the work that counts, as places."""
    work, count = workspace.work, int(of_work.max(initial=0)) + 1
    key = work.device[own].astype(np.int64) * count + of_work[own]
    on_main = work.track[own] == main[work.device[own]]
    used, first = np.unique(key[on_main], return_index=True)  # work is sorted by start
    device, step = used // count, used % count
    start = work.start[own[on_main][first]]
    reach = np.full(len(used), np.iinfo(np.int64).min)
    place = np.searchsorted(used, key)
    held = np.append(used, -1)[place] == key
    np.maximum.at(reach, place[held], workspace.clipped_end[own[held]])
    end, closer = np.empty(len(used), np.int64), np.full(len(used), -1, np.int64)
    edges = np.flatnonzero(np.diff(device, prepend=-1, append=-1)) if len(used) else np.zeros(1, np.int64)
    for begin, stop in pairwise(edges.tolist()):
        start[begin:stop] = np.maximum.accumulate(start[begin:stop])
        end[begin : stop - 1], closer[begin : stop - 1] = start[begin + 1 : stop], step[begin + 1 : stop]
        end[stop - 1] = max(int(reach[stop - 1]), int(start[stop - 1]))
    return Spans(step, device, start, end, closer)
