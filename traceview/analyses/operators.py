"""Which host operators cost what, on the host and on the device, as key_averages() of PyTorch counts.

Source: torch/autograd/profiler_util.py. Device work belongs to the innermost operator around its
launch, on the launching thread; times of kernels, copies and fills are added, not united.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from traceview.analyses.grouping import by_size, compact, sums, texts
from traceview.analyses.nesting import Nesting
from traceview.analyses.results import NO_OPERATOR, Operators
from traceview.analyses.workspace import Workspace
from traceview.events import Kind

STEP_NAME = "ProfilerStep*"
_KINDS = {Kind.OP: "op", Kind.ANNOTATION: "annotation", Kind.OTHER: "range"}


def operators(workspace: Workspace) -> Operators:
    """Return host operators and annotations by name, and the device work that has no operator."""
    trace, tree = workspace.trace, workspace.nesting
    kind = trace.slices.kind[tree.rows]
    listed = np.flatnonzero(np.isin(kind, tuple(_KINDS)))
    label = labels_of_positions(workspace)
    used, group = compact(label[listed], len(trace.names))
    groups = len(used)
    dur = trace.slices.dur[tree.rows]
    outermost = ~_within_same_name(tree, label, listed)
    own, inside, without = _device_time(workspace)
    merged = _same_call(tree, label)[listed]
    kinds = np.zeros(groups, np.uint8)
    kinds[group[::-1]] = kind[listed][::-1]
    names = texts(trace.names[n] for n in used.tolist())
    cpu_self = sums(group, self_time(tree, dur)[listed], groups)
    cpu_total = sums(group[outermost], dur[listed[outermost]], groups)
    table = Operators(
        names,
        texts(_KINDS[Kind(k)] for k in kinds.tolist()),
        sums(group, (~merged).astype(np.int64), groups),
        cpu_self,
        # slices that cross on a thread count twice in self: no file should hold any
        np.maximum(cpu_total, cpu_self),
        sums(group, own[listed], groups),
        sums(group[outermost], inside[listed[outermost]], groups),
    )
    for position in _profiler_steps(workspace)[:1]:
        names[used == label[position]] = STEP_NAME
    order = by_size(table.cpu_self, names)
    order = order[np.argsort(-table.device_self[order], kind="stable")]
    table = table.take(order)
    return table if without is None else _with_rest(table, without)


def labels_of_positions(workspace: Workspace) -> np.ndarray:
    """Return the name code of each position; all ProfilerStep#N share the code of the first."""
    trace = workspace.trace
    label: np.ndarray = trace.slices.name[workspace.nesting.rows]
    steps = _profiler_steps(workspace)
    if len(steps):
        label[steps] = label[steps[0]]
    return label


def _profiler_steps(workspace: Workspace) -> np.ndarray:
    """Return the positions of the profiler's own steps; slices that a user chose as steps keep their names."""
    trace = workspace.trace
    rows = trace.steps.row
    own = np.array([trace.name_of(r).startswith("ProfilerStep") for r in rows.tolist()], bool)
    at = workspace.nesting.at(rows[own])
    found: np.ndarray = at[at >= 0]
    return found


def self_time(tree: Nesting, dur: np.ndarray) -> np.ndarray:
    """Return durations less those of the children; rounding never makes them negative."""
    child = np.flatnonzero(tree.parent >= 0)
    own: np.ndarray = np.maximum(dur - sums(tree.parent[child], dur[child], len(dur)), 0)
    return own


def _same_call(tree: Nesting, label: np.ndarray) -> np.ndarray:
    """Return which slices are the only child of a parent of their name: a wrapper, not a second call."""
    child = np.flatnonzero(tree.parent >= 0)
    same = np.zeros(len(label), bool)
    above = tree.parent[child]
    children = np.bincount(above, minlength=len(label))
    same[child] = (children[above] == 1) & (label[above] == label[child])
    return same


def _within_same_name(tree: Nesting, label: np.ndarray, listed: np.ndarray) -> np.ndarray:
    """Return which of these slices lie, at any depth, within one of the same name."""
    within = np.zeros(len(listed), bool)
    at = np.flatnonzero(tree.parent[listed] >= 0)
    above = tree.parent[listed[at]]
    while len(at):
        hit = label[above] == label[listed[at]]
        within[at[hit]] = True
        going = ~hit & (tree.parent[above] >= 0)
        at, above = at[going], tree.parent[above[going]]
    return within


def _device_time(workspace: Workspace) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Return device time per position, launched with it as the innermost operator and inside it; the rest."""
    tree, work = workspace.nesting, workspace.work
    op = workspace.op_of_work
    has = op >= 0
    own = sums(op[has], work.dur[has], len(tree.rows))
    linked = work.link >= 0
    at = tree.at(work.link[linked])
    inside = sums(at[at >= 0], work.dur[linked][at >= 0], len(tree.rows))
    deepest_first = np.argsort(-tree.depth, kind="stable")
    edges = np.flatnonzero(np.diff(tree.depth[deepest_first], prepend=-1))
    for first, last in pairwise([*edges.tolist(), len(deepest_first)]):
        level = deepest_first[first:last]
        level = level[(inside[level] > 0) & (tree.parent[level] >= 0)]
        np.add.at(inside, tree.parent[level], inside[level])
    return own, inside, None if has.all() else int(work.dur[~has].sum())


def _with_rest(table: Operators, without: int) -> Operators:
    rest = (NO_OPERATOR, "", 0, 0, 0, without, without)
    columns = {}
    for column, value in zip(table.columns(), rest, strict=True):
        last = texts([value]) if isinstance(value, str) else np.array([value], np.int64)
        columns[column.name] = np.concatenate((getattr(table, column.name), last))
    return Operators(**columns)
