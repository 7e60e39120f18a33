"""How far the trace can be trusted, and what was not recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.grouping import texts
from traceview.analyses.launches import launches
from traceview.analyses.steps import steps
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind
from traceview.intervals import total, union
from traceview.tables import Table, column

BLOCKED_NS = (
    1_000_000  # blocked for longer than this with work launched: the device may have worked unrecorded
)
_SYNCHRONISE = ("Synchronize", "SynchronizeDevice", "urQueueFinish", "zeCommandQueueSynchronize")

HOW_TO_RECORD = {
    "shapes": "profile with record_shapes=True",
    "stacks": "profile with with_stack=True (it costs time, and two thirds of the file)",
    "memory": "profile with profile_memory=True",
    "device": "profile with ProfilerActivity.CUDA (or XPU) on a machine where the profiler may read the GPU",
    "steps": "call prof.step() once per iteration, with a schedule",
}


@dataclass(frozen=True, eq=False)
class StepCoverage(Table):
    """Hold one row per annotated step."""

    number: np.ndarray = column("number in the step's name", "id")
    launches: np.ndarray = column("launches inside the step", "count")
    complete: np.ndarray = column("whether 99 % of them have device records", "bool")


@dataclass(frozen=True, eq=False)
class Unrecorded(Table):
    """Hold the stretches in which the device may have worked without a record: host blocked, work launched."""

    start: np.ndarray = column("from when the host waits and the device shows no work", "ns")
    dur: np.ndarray = column("for how long", "ns")
    call: np.ndarray = column("name of the waiting call", "text")
    launch: np.ndarray = column("row of the last launch before it that has no device record", "id")


@dataclass(frozen=True)
class Health:
    """Hold what limits the figures; counts, and times in ns.

    `recorded` says for shapes, stacks, memory, device and steps whether the trace has them; where it
    has not, HOW_TO_RECORD says how to get them.
    """

    steps: StepCoverage
    unlinked_kernels: int
    unlinked_work: int
    duplicates: int
    untimed: int
    overlong: int
    overlong_clipped: int
    clock_skew: int
    overhead: int
    overhead_calls: int
    launches_lost: int
    capture_run: bool
    graph_share: float | None
    cut: bool
    cpu_only: bool
    unfinished: int
    unrecorded: Unrecorded
    recorded: dict[str, bool]


def health(workspace: Workspace) -> Health:
    """Return how far the trace can be trusted."""
    called, marked = workspace.once(launches), workspace.once(steps)
    trace, work = workspace.trace, workspace.work
    s = trace.slices
    over = np.flatnonzero(s.kind == Kind.OVERHEAD)
    broken = workspace.overlong
    coverage = called.coverage
    return Health(
        steps=StepCoverage(marked.number, marked.launches, marked.complete),
        unlinked_kernels=called.unlinked,
        unlinked_work=int((work.link < 0).sum()),
        duplicates=int(((s.flags & Flag.DUPLICATE) != 0).sum()),
        untimed=len(workspace.untimed),
        overlong=len(broken),
        overlong_clipped=int((work.end[broken] - workspace.clipped_end[broken]).sum()),
        clock_skew=called.negative,
        overhead=total(union(s.start[over], s.start[over] + s.dur[over])),
        overhead_calls=len(over),
        launches_lost=called.without_gpu - coverage.capture - coverage.tail,
        capture_run=(coverage.capture + coverage.tail) * 5 > coverage.launches,
        graph_share=called.graph_kernel_share,
        cut=trace.cut,
        cpu_only=not len((workspace.whole or workspace).usable) and not called.calls,
        unfinished=int(((s.flags & Flag.UNFINISHED) != 0).sum()),
        unrecorded=_unrecorded(workspace),
        recorded=_recorded(workspace),
    )


def _recorded(workspace: Workspace) -> dict[str, bool]:
    trace = workspace.trace
    return {
        "shapes": len(trace.arg("input_dims").rows) > 0,
        "stacks": bool((trace.slices.kind == Kind.PYTHON).any()),
        "memory": len(trace.memory) > 0,
        "device": len(workspace.usable) > 0,
        "steps": len(trace.steps) > 0,
    }


def _unrecorded(workspace: Workspace) -> Unrecorded:
    """Find waits of over 1 ms in which the device shows no work although a launch without record precedes."""
    trace, work = workspace.trace, (workspace.whole or workspace).work  # that of other steps is work too
    s = trace.slices
    calls = trace.rows_of(Kind.RUNTIME)
    wanted = np.array([any(part in n for part in _SYNCHRONISE) for n in trace.names], bool)
    waits = calls[wanted[s.name[calls]] & (s.dur[calls] > BLOCKED_NS)]
    launched = np.zeros(len(s), bool)
    launched[s.link[workspace.usable][s.link[workspace.usable] >= 0]] = True
    lost = trace.rows_of(Kind.LAUNCH)
    lost = lost[~launched[lost] & ((s.flags[lost] & Flag.NESTED_CALL) == 0)]
    empty = np.empty(0, np.int64)
    if not len(waits) or not len(lost) or not len(work.row):
        return Unrecorded(empty, empty, texts(()), empty)
    busy = union(work.start, work.end)
    begin, end = s.start[waits], s.start[waits] + s.dur[waits]
    after = np.searchsorted(
        busy.end, begin, "right"
    )  # the first stretch of work that ends after the wait began
    free = np.concatenate((busy.start, [np.iinfo(np.int64).max]))[after]
    quiet_end = np.minimum(end, free)
    before = np.searchsorted(s.start[lost], begin, "right") - 1
    last_work = np.concatenate(([np.iinfo(np.int64).min], busy.end))[after]
    found = (quiet_end - begin > BLOCKED_NS) & (before >= 0)
    found &= s.start[lost][np.maximum(before, 0)] >= np.where(after > 0, last_work, np.iinfo(np.int64).min)
    names = texts(trace.names[n] for n in s.name[waits[found]].tolist())
    return Unrecorded(begin[found], (quiet_end - begin)[found], names, lost[before[found]])
