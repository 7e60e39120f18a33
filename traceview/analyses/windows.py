"""Where each step lies on its device: what marks the steps, and the windows that tile the main stream."""

from __future__ import annotations

import re
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


class Windows(NamedTuple):
    """Hold where steps lie on a device; one entry per step, -1 where there is none; times in ns.

    `device` is a code into Workspace.devices. A window runs from the step's first record on the main
    stream to the first record there of the step `closer`; the last one ends with the step's own work
    and has no closer. `of_work` is the step that launched each timed device record.
    """

    start: np.ndarray
    end: np.ndarray
    closer: np.ndarray
    device: np.ndarray
    of_work: np.ndarray

    def at(self, times: np.ndarray, devices: np.ndarray) -> np.ndarray:
        """Return the step whose window on one of the devices (bool per device) holds each time, -1 for none."""
        own = np.flatnonzero(self.start >= 0)
        own = own[devices[self.device[own]]]
        if not len(own):
            return np.full(len(times), -1, np.int64)
        own = own[np.argsort(self.start[own], kind="stable")]
        place = np.searchsorted(self.start[own], times, "right") - 1
        step = own[np.maximum(place, 0)]
        return np.where((place >= 0) & (times < self.end[step]), step, -1)


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


def windows(workspace: Workspace, marked: Steps) -> Windows:
    """Return the device windows of steps."""
    trace, work, count = workspace.trace, workspace.work, len(marked)
    of_work = np.full(len(work.row), -1, np.int64)
    linked = np.flatnonzero(work.link >= 0)
    of_work[linked] = step_of(trace, marked, work.link[linked])
    none = np.full((4, count), -1, np.int64)
    found = Windows(none[0], none[1], none[2], none[3], of_work)
    if not count:
        return found
    scope = np.array([t.scope for t in trace.tracks], np.int64)
    for code in np.unique(scope[trace.slices.track[marked.row]]).tolist():
        own = np.flatnonzero(scope[trace.slices.track[marked.row]] == code)
        _lay(workspace, found, own, _main_stream(workspace, scope == code))
    return found


def _main_stream(workspace: Workspace, tracks: np.ndarray) -> int:
    """Return the stream of these tracks with most kernel time, -1 for none.

    Collectives count only where nothing else runs: one that waits for other ranks can outlast all work.
    """
    work = workspace.work
    kernel = work.kind == Kind.KERNEL
    for mask in (kernel & ~work.collective, kernel, np.ones(len(kernel), bool)):
        time = sums(work.track[mask], workspace.clipped_end[mask] - work.start[mask], len(tracks)) * tracks
        if time.any():
            return int(np.argmax(time))
    return -1


def _lay(workspace: Workspace, found: Windows, own: np.ndarray, stream: int) -> None:
    """Enter the windows of one rank's steps on its main stream."""
    work = workspace.work
    on_stream = np.flatnonzero((work.track == stream) & (found.of_work >= 0))
    first = np.full(len(found.start), -1, np.int64)
    first[found.of_work[on_stream[::-1]]] = on_stream[::-1]  # work is sorted: the earliest is written last
    steps = own[first[own] >= 0]
    if not len(steps):
        return
    start = np.maximum.accumulate(work.start[first[steps]])
    found.start[steps] = start
    found.end[steps[:-1]] = start[1:]
    found.closer[steps[:-1]] = steps[1:]
    device = int(workspace.device_of_track[stream])
    found.device[steps] = device
    last = (found.of_work == steps[-1]) & (work.device == device)
    found.end[steps[-1]] = max(int(workspace.clipped_end[last].max()), int(start[-1]))
