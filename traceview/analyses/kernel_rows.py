"""Kernels by the operator and the shapes that launched them, step by step: what two runs are compared by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.grouping import sums, texts
from traceview.analyses.steps import step_of
from traceview.analyses.windows import marked_steps
from traceview.analyses.workspace import Workspace
from traceview.tables import Table, column


@dataclass(frozen=True, eq=False)
class KernelRows(Table):
    """Hold one row per kernel, operator and shapes, largest sum first; the operator is the innermost one."""

    kernel: np.ndarray = column("full name of the kernel, copy or fill", "text")
    op: np.ndarray = column("innermost operator around its launch, empty where none is known", "text")
    shapes: np.ndarray = column("input shapes of that operator as recorded, empty where not recorded", "text")
    category: np.ndarray = column("category by the rules of categories.rules", "text")
    calls: np.ndarray = column("timed device records", "count")
    sum: np.ndarray = column("added durations", "ns")


@dataclass(frozen=True, eq=False)
class StepRows:
    """Hold the rows, and for each of them and each step asked for its calls and added durations in ns.

    `whole` is the added duration of all device work, in ns.
    """

    rows: KernelRows
    whole: int
    calls: np.ndarray  # row × step
    sum: np.ndarray


def step_rows(workspace: Workspace, starts: np.ndarray, most: int) -> StepRows:
    """Return the `most` largest rows, and what each is in the steps that begin at `starts`."""
    trace, work = workspace.trace, workspace.work
    at = workspace.op_of_work
    tree = np.append(workspace.nesting.rows, -1)  # so that -1, no operator, has a place
    op_row = tree[at].astype(np.int64)
    dims = trace.arg("input_dims")
    op = np.where(op_row >= 0, trace.slices.name[np.maximum(op_row, 0)], -1).astype(np.int64)
    shape = np.where(op_row >= 0, dims.lookup(np.maximum(op_row, 0), -1), -1).astype(np.int64)
    keys = np.stack((work.name.astype(np.int64), op, shape))
    distinct, group = np.unique(keys, axis=1, return_inverse=True)
    group, count = group.reshape(-1), distinct.shape[1]
    whole = sums(group, work.dur, count)
    names, written = np.append(texts(trace.names), ""), np.append(texts(dims.texts or ()), "")
    # of equal sums the one that was seen first: a rerun has the same order
    top = np.argsort(-whole, kind="stable")[:most]
    place = np.full(count, -1, np.int64)
    place[top] = np.arange(len(top))
    category = np.zeros(count, np.int64)
    category[group] = work.category
    labels = texts(workspace.rules.categories)
    rows = KernelRows(
        kernel=names[distinct[0, top]],
        op=names[distinct[1, top]],
        shapes=written[np.where(distinct[2, top] >= 0, distinct[2, top], -1)],
        category=labels[category[top]],
        calls=np.bincount(group, minlength=count)[top].astype(np.int64) if count else np.zeros(0, np.int64),
        sum=whole[top],
    )
    return StepRows(rows, int(whole.sum()), *_by_step(workspace, place[group], len(top), starts))


def _by_step(
    workspace: Workspace, row: np.ndarray, rows: int, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    work, marked = workspace.work, marked_steps(workspace.trace)
    shape = (rows, len(starts))
    if not len(marked) or not rows or not len(starts):
        return np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    asked = {int(s): i for i, s in enumerate(starts.tolist())}
    column_of = np.array([asked.get(int(s), -1) for s in marked.start.tolist()], np.int64)
    own = np.flatnonzero((row >= 0) & (work.link >= 0))
    step = step_of(workspace.trace, marked, work.link[own])
    held = np.where(step >= 0, column_of[np.maximum(step, 0)], -1)
    own, held = own[held >= 0], held[held >= 0]
    cell = row[own] * len(starts) + held
    size = rows * len(starts)
    calls = np.bincount(cell, minlength=size).astype(np.int64)
    return calls.reshape(shape), sums(cell, work.dur[own], size).reshape(shape)
