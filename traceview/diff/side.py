"""One side of a comparison: what is measured of a run, per compared step where there are steps.

Compared steps are the samples of step_windows: complete, no outliers, with a window of their own.
Everything here is exact; nothing is rounded, and nothing is compared yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.gap_parts import CAUSES
from traceview.analyses.grouping import alike, sums
from traceview.analyses.host_states import LOADING, SYNC, HostStates
from traceview.analyses.steps import step_of
from traceview.analyses.windows import Windows, marked_steps
from traceview.analyses.workspace import Workspace
from traceview.diff.chains import Chain, chains
from traceview.events import Flag, Kind

PARTS = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")


class WorkRow(NamedTuple):
    """Name device work: its kernel, the operators around its launch (innermost first), its category."""

    kernel: str
    chain: Chain
    category: str
    is_kernel: bool
    launched: bool  # its launch is recorded


@dataclass(frozen=True, eq=False)
class Rows:
    """Hold device work by row: calls, added ns, both per compared step too (row × step), and order of appearance.

    `durations` are the single ones in ns, in order of start; a saved run has none.
    """

    rows: tuple[WorkRow, ...]
    calls: np.ndarray
    sum: np.ndarray
    step_calls: np.ndarray
    step_sum: np.ndarray
    first: np.ndarray
    durations: tuple[np.ndarray, ...] = ()


class Call(NamedTuple):
    """Name calls of the host's runtime: the call, the innermost operator around it, and what it does."""

    name: str
    op: str
    kind: str  # "launch", "sync" or "call"


@dataclass(frozen=True, eq=False)
class Calls:
    """Hold host calls by row: how many, added ns on the host, both per compared step too (row × step)."""

    rows: tuple[Call, ...]
    calls: np.ndarray
    sum: np.ndarray
    step_calls: np.ndarray
    step_sum: np.ndarray


@dataclass(frozen=True, eq=False)
class Measured:
    """Hold what is compared of one run, whole or of its compared steps.

    `units` is what totals are divided by. `headlines` are one value per compared step, in ns or counts;
    `totals` the same keys over everything measured; `causes` idle ns per cause, added. What is `abridged`,
    a saved run, has no host calls, causes, ranges or order.
    """

    by_step: bool
    steps: tuple[int, ...]
    units: int
    rows: Rows
    calls: Calls
    headlines: Mapping[str, np.ndarray]
    totals: Mapping[str, int]
    causes: Mapping[str, int]
    ranges: Mapping[str, int] = field(default_factory=dict)  # annotations by name, with their calls
    abridged: bool = False


@dataclass(frozen=True, eq=False)
class Side:
    """Hold a run that takes part in a comparison; `analysis` is None for a saved one."""

    label: str
    facts: Mapping[str, Any]
    conditions: Mapping[str, Any]
    samples: int  # compared steps that it has
    analysis: Analysis | None
    measured: Mapping[bool, Measured]  # by whether it is of the compared steps


def measure(workspace: Workspace, analysis: Analysis, by_step: bool) -> Measured:
    """Return what is compared of a run: its compared steps, or the whole of it."""
    table = analysis.step_windows
    samples = np.flatnonzero(table.sample) if by_step else np.empty(0, np.int64)
    of_step = np.full(len(table) + 1, -1, np.int64)
    of_step[samples] = np.arange(len(samples))
    rows = _rows(workspace, of_step, by_step)
    calls = _calls(workspace, of_step, by_step)
    headlines = _headlines(analysis, samples, calls) if by_step else {}
    return Measured(
        by_step=by_step,
        steps=tuple(table.number[samples].tolist()),
        units=len(samples) if by_step else 1,
        rows=rows,
        calls=calls,
        headlines=headlines,
        totals={k: int(v.sum()) for k, v in headlines.items()} if by_step else _totals(analysis, calls),
        causes=_causes(analysis, of_step, by_step),
        ranges=_ranges(workspace, analysis),
    )


def _rows(workspace: Workspace, of_step: np.ndarray, by_step: bool) -> Rows:
    work, known = workspace.work, workspace.once(chains)
    step = of_step[workspace.once(Windows.found).of_work] if by_step else np.zeros(len(work.row), np.int64)
    own = np.flatnonzero(step >= 0)
    linked = (work.link[own] >= 0).astype(np.int64)
    keys = (work.name[own], known.of_work[own], linked, work.category[own])
    first, group = alike(*keys)
    distinct, count = [key[first] for key in keys], len(first)
    names, categories = workspace.trace.names, workspace.rules.categories
    is_kernel = (work.kind[own] == Kind.KERNEL)[first] if count else np.empty(0, bool)
    listed = tuple(
        WorkRow(names[n], known.chains[c] if c >= 0 else (), categories[g], bool(k), bool(link))
        for n, c, link, g, k in zip(*(d.tolist() for d in distinct), is_kernel.tolist(), strict=True)
    )
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(1, count))
    dur = work.dur[own]
    size = int((of_step >= 0).sum()) if by_step else 0
    return Rows(
        listed,
        np.bincount(group, minlength=count).astype(np.int64)[:count],
        sums(group, dur, count),
        *_cells(group, step[own], dur, (count, size)),
        first=first.astype(np.int64),
        durations=tuple(np.split(dur[order], edges)) if count else (),
    )


def _cells(
    row: np.ndarray, step: np.ndarray, value: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and sums by row and step."""
    size = shape[0] * shape[1]
    if not size:
        return np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    cell = row * shape[1] + step
    counts = np.bincount(cell, minlength=size).astype(np.int64)
    return counts.reshape(shape), sums(cell, value, size).reshape(shape)


def _calls(workspace: Workspace, of_step: np.ndarray, by_step: bool) -> Calls:
    trace = workspace.trace
    s = trace.slices
    waits = np.zeros(len(s), bool)
    waits[workspace.once(HostStates.found).rows[SYNC]] = True
    rows = trace.rows_of(Kind.LAUNCH, Kind.RUNTIME)
    rows = rows[(s.flags[rows] & Flag.NESTED_CALL) == 0]
    step = of_step[step_of(trace, marked_steps(trace), rows)] if by_step else np.zeros(len(rows), np.int64)
    rows, step = rows[step >= 0], step[step >= 0]
    op = workspace.innermost_op(workspace.nesting.at(rows).astype(np.int64))
    op_row = np.append(workspace.nesting.rows, -1)[op].astype(np.int64)
    kind = np.where(waits[rows], 1, np.where(s.kind[rows] == Kind.LAUNCH, 0, 2))
    op_name = np.where(op_row >= 0, s.name[np.maximum(op_row, 0)], -1).astype(np.int64)
    keys = (s.name[rows], op_name, kind)
    first, group = alike(*keys)
    distinct, count = [key[first] for key in keys], len(first)
    listed = tuple(
        Call(trace.names[n], trace.names[o] if o >= 0 else "", ("launch", "sync", "call")[k])
        for n, o, k in zip(*(d.tolist() for d in distinct), strict=True)
    )
    size = int((of_step >= 0).sum()) if by_step else 0
    dur = s.dur[rows]
    return Calls(
        listed,
        np.bincount(group, minlength=count).astype(np.int64)[:count],
        sums(group, dur, count),
        *_cells(group, step, dur, (count, size)),
    )


def _headlines(analysis: Analysis, samples: np.ndarray, calls: Calls) -> dict[str, np.ndarray]:
    """Return one value per compared step of each headline; what needs a window is left out where one is missing."""
    table = analysis.step_windows
    found = {"wall": table.wall[samples]}
    windowed = bool(len(samples)) and bool((table.period[samples] >= 0).all())
    if windowed:
        found["step_time"] = table.period[samples]
        for part in PARTS:
            found[part] = getattr(table, part)[samples]
        found["gpu_idle"] = found.pop("idle")
        found["gpu_busy"] = found["step_time"] - found["gpu_idle"]
        found["exposed_comm"] = found.pop("exposed_collective")
        found["exposed_copy"] = found["exposed_copy"] + found.pop("exposed_fill")
    else:
        found["step_time"] = table.wall[samples]
    found["kernel_time"] = table.kernel_sum[samples]
    found["kernels"] = table.kernels[samples]
    kinds = np.array([c.kind for c in calls.rows], object)
    for name, kind in (("launches", "launch"), ("syncs", "sync")):
        found[name] = calls.step_calls[kinds == kind].sum(axis=0).astype(np.int64)
    found["launch_cpu"] = calls.step_sum[kinds == "launch"].sum(axis=0).astype(np.int64)
    return found


def _totals(analysis: Analysis, calls: Calls) -> dict[str, int]:
    time = analysis.gpu_time
    kinds = np.array([c.kind for c in calls.rows], object)
    return {
        "compute": int(time.compute.sum()),
        "exposed_comm": int(time.exposed_collective.sum()),
        "exposed_copy": int(time.exposed_copy.sum() + time.exposed_fill.sum()),
        "gpu_idle": int(time.idle.sum()),
        "gpu_busy": int(time.busy.sum()),
        "kernel_time": int(time.kernel_sum.sum()),
        "kernels": int(analysis.facts["kernel_count"]),
        "launches": int(calls.calls[kinds == "launch"].sum()),
        "syncs": int(calls.calls[kinds == "sync"].sum()),
        "launch_cpu": int(calls.sum[kinds == "launch"].sum()),
    }


def _causes(analysis: Analysis, of_step: np.ndarray, by_step: bool) -> dict[str, int]:
    gaps, table = analysis.gaps, analysis.step_windows
    own = np.ones(len(gaps), bool)
    if by_step:
        devices = np.append(table.device, "")
        own = (of_step[gaps.step] >= 0) & (gaps.device == devices[gaps.step])
    return {label: int(getattr(gaps, column)[own].sum()) for column, label in CAUSES}


def _ranges(workspace: Workspace, analysis: Analysis) -> dict[str, int]:
    """Return annotations and ranges of loaders by name, with their calls: what the program says it does."""
    trace, phases = workspace.trace, analysis.phases
    found: dict[str, int] = {}
    for name, calls in zip(phases.name.tolist(), phases.calls.tolist(), strict=True):
        found[str(name)] = found.get(str(name), 0) + int(calls)
    loading = workspace.once(HostStates.found).rows[LOADING]
    codes, counts = np.unique(trace.slices.name[loading], return_counts=True)
    return found | {trace.names[c]: n for c, n in zip(codes.tolist(), counts.tolist(), strict=True)}
