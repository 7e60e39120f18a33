"""How long each annotated step took, and which steps stand out."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from traceview.analyses.grouping import sums
from traceview.analyses.results import StepTimes
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind, Steps, Trace

OUTLIER = 1.5


def steps(workspace: Workspace) -> StepTimes:
    """Return wall time, kernel time and completeness of each step."""
    trace, work = workspace.trace, workspace.work
    marked = trace.steps
    count = len(marked)
    s = trace.slices
    calls = np.flatnonzero(s.kind == Kind.LAUNCH)
    calls = calls[(s.flags[calls] & Flag.NESTED_CALL) == 0]
    of_call = step_of(trace, marked, calls)
    has = np.zeros(len(s), bool)
    link = s.link[workspace.usable]
    has[link[link >= 0]] = True
    inside = of_call >= 0
    launched = np.bincount(of_call[inside], minlength=count) if count else np.zeros(0, np.int64)
    present = np.bincount(of_call[inside & has[calls]], minlength=count) if count else np.zeros(0, np.int64)
    kernel = (work.kind == Kind.KERNEL) & (work.link >= 0)
    of_kernel = step_of(trace, marked, work.link[kernel])
    held = of_kernel >= 0
    kernels = sums(of_kernel[held], work.dur[kernel][held], count)
    complete = (launched > 0) & (present * 100 >= launched * 99)
    return StepTimes(
        marked.number, marked.start, marked.dur, launched, kernels, complete, outliers(kernels, complete)
    )


def step_of(trace: Trace, marked: Steps, rows: np.ndarray) -> np.ndarray:
    """Return the step in which host slices begin, on any thread of the step's process or rank; -1 for none.

    Of several steps that run then, it is the one that began last.
    """
    found = np.full(len(rows), -1, np.int64)
    if not len(marked):
        return found
    scope = np.array([t.scope for t in trace.tracks], np.int64)
    scope_of_step, scope_of_row = scope[trace.slices.track[marked.row]], scope[trace.slices.track[rows]]
    by_scope = np.argsort(scope_of_row, kind="stable")
    steps_by_scope = np.argsort(scope_of_step, kind="stable")
    for code in np.unique(scope_of_step).tolist():
        own = steps_by_scope[slice(*np.searchsorted(scope_of_step[steps_by_scope], (code, code + 1)))]
        asked = by_scope[slice(*np.searchsorted(scope_of_row[by_scope], (code, code + 1)))]
        edges, holder = _holders(marked.start[own], marked.start[own] + marked.dur[own])
        at = np.searchsorted(edges, trace.slices.start[rows[asked]], "right") - 1
        step = np.where(at >= 0, holder[at], -1)
        found[asked] = np.where(step >= 0, own[step], -1)
    return found


def _holders(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all edges of steps (given by start), and the latest begun step that runs from each on, -1 for none."""
    edges = np.unique(np.concatenate((start, end)))
    holder, running, begun = [], list[int](), 0
    starts, ends = start.tolist(), end.tolist()
    for edge in edges.tolist():
        while begun < len(starts) and starts[begun] <= edge:
            heappush(running, -begun)
            begun += 1
        while running and ends[-running[0]] <= edge:
            heappop(running)
        holder.append(-running[0] if running else -1)
    return edges, np.array(holder, np.int64)


def outliers(kernels: np.ndarray, complete: np.ndarray) -> np.ndarray:
    """Return which complete steps have more time (ns) than 1.5 times the median of the other complete ones."""
    outlier = np.zeros(len(kernels), bool)
    rows = np.flatnonzero(complete)
    others = len(rows) - 1
    if others < 1:
        return outlier
    order = rows[np.argsort(kernels[rows], kind="stable")]
    value = kernels[order]
    rank = np.arange(len(order))
    low, high = (others - 1) // 2, others // 2
    # without the value itself, those above it move one place down
    median = (value[low + (rank <= low)] + value[high + (rank <= high)]) / 2
    outlier[order] = value > OUTLIER * median
    return outlier
