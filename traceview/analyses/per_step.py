"""How the time of the largest kernels and operators goes from step to step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.grouping import compact, sums, texts
from traceview.analyses.kernels import kernels
from traceview.analyses.operators import STEP_NAME, labels_of_positions, operators, self_time
from traceview.analyses.steps import step_of
from traceview.analyses.windows import Windows, marked_steps
from traceview.analyses.workspace import Workspace
from traceview.events import Kind
from traceview.tables import Table, column

LARGEST = 100  # names of each kind
FEWEST = 2  # steps; of one there is nothing to see
MOST_CELLS = 2_000_000  # names times steps: of a trace with very many steps fewer names are told
KERNEL, ON_DEVICE, ON_HOST = "kernel", "operator device self", "operator CPU self"


@dataclass(frozen=True, eq=False)
class PerStep(Table):
    """Hold the time of a name in each step that has some; names as in the tables of kernels and operators."""

    what: np.ndarray = column(
        "kernel: its records; operator device self: the work it launched; operator CPU self", "text"
    )
    name: np.ndarray = column("kernel or operator", "text")
    step: np.ndarray = column("place of the step among the steps", "id")
    number: np.ndarray = column("number of the step as shown", "id")
    time: np.ndarray = column("added durations of what was launched, or ran on the host, in the step", "ns")


def per_step(workspace: Workspace) -> PerStep:
    """Return the times of the largest kernels and operators; device work counts where it was launched."""
    steps = marked_steps(workspace.trace).number
    parts = []
    if len(steps) >= FEWEST:
        parts = [part for part in (_kernels(workspace), *_operators(workspace)) if len(part[1])]
    what, name, step, time = (
        [np.concatenate(c) for c in zip(*parts, strict=True)]
        if parts
        else [texts(()), texts(()), np.empty(0, np.int64), np.empty(0, np.int64)]
    )
    return PerStep(what, name, step, steps[step] if len(step) else step, time)


_Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _kernels(workspace: Workspace) -> _Part:
    work, of_work = workspace.work, workspace.once(Windows.found).of_work
    some = np.flatnonzero((work.kind == Kind.KERNEL) & (of_work >= 0))
    names = workspace.once(kernels).name
    return _added(workspace, KERNEL, names, (work.name[some], of_work[some], work.dur[some]))


def _operators(workspace: Workspace) -> tuple[_Part, ...]:
    """Return the device time that operators launched; where the trace has none, their time on the host."""
    tree, table, work = workspace.nesting, workspace.once(operators), workspace.work
    label = labels_of_positions(workspace)
    if len(work.row):
        of_work, at = workspace.once(Windows.found).of_work, workspace.op_of_work
        some = np.flatnonzero((at >= 0) & (of_work >= 0))
        columns = (label[at[some]], of_work[some], work.dur[some])
        return (_added(workspace, ON_DEVICE, table.name, columns),)
    trace = workspace.trace
    listed = np.flatnonzero(np.isin(trace.slices.kind[tree.rows], (Kind.OP, Kind.ANNOTATION, Kind.OTHER)))
    step = step_of(trace, marked_steps(trace), tree.rows[listed])
    inside = step >= 0
    own = self_time(tree, trace.slices.dur[tree.rows])[listed]
    order = np.argsort(-table.cpu_self, kind="stable")
    columns = (label[listed[inside]], step[inside], own[inside])
    return (_added(workspace, ON_HOST, table.name[order], columns),)


def _added(
    workspace: Workspace, what: str, ranked: np.ndarray, found: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> _Part:
    """Add times by name and step for the first of the ranked names; `found`: name codes, steps, times."""
    name, step, time = found
    names, count = workspace.trace.names, len(marked_steps(workspace.trace))
    used, group = compact(name, len(names))
    code = {names[c]: i for i, c in enumerate(used.tolist())}
    top = [str(n) for n in ranked.tolist() if n != STEP_NAME and n in code][
        : min(LARGEST, MOST_CELLS // count)
    ]
    place = np.full(len(used), -1, np.int64)
    place[[code[n] for n in top]] = np.arange(len(top))
    row = place[group]
    kept = row >= 0
    total = sums(row[kept] * count + step[kept], time[kept], len(top) * count)
    cells = np.flatnonzero(total)
    return (
        texts([what] * len(cells)),
        texts(top[i] for i in (cells // count).tolist()),
        cells % count,
        total[cells],
    )
