"""The facts of one trace, by the keys that `traceview summary --format json` promises.

Times are microseconds, exact to the nanosecond. What cannot be known is None, never 0. Each key is
defined in the README's table of facts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from traceview.analyses.answers import Results
from traceview.analyses.grouping import combined, compact, spread, sums
from traceview.analyses.kernels import clipped_sums
from traceview.analyses.workspace import Workspace
from traceview.events import Kind
from traceview.intervals import total, union
from traceview.units import short_unique

Facts = dict[str, Any]
MOST_LINKS = 1000
MOST_LABELS = 20_000  # a label costs a third of a millisecond; no program has so many kernels
_NODE_SUFFIX = "_kernel_time"  # of ONNX Runtime's node events that are the operator itself


def us(ns: int) -> float:
    """Return ns as a number of microseconds: whole where it is, else the nearest double."""
    whole, rest = divmod(int(ns), 1000)
    return int(ns) / 1000 if rest else whole


def facts(workspace: Workspace, results: Results) -> Facts:
    """Return all facts of a trace."""
    return {
        **_kernels(workspace, results),
        **_devices(workspace, results),
        **_launches(workspace, results),
        **_operators(workspace, results),
        **_ranges(workspace),
        **_steps(workspace, results),
        **_record(workspace),
    }


def _kernels(workspace: Workspace, results: Results) -> Facts:
    table, copies = results.kernels, results.copies
    names = table.name.tolist()
    calls = table.calls.tolist()
    totals = [us(t) for t in table.sum.tolist()]
    timed = (table.calls - table.untimed).tolist()
    figures = zip(
        *(c.tolist() for c in (table.mean, table.median, table.p95, table.min, table.max)), strict=True
    )
    keys = ("mean_us", "median_us", "p95_us", "min_us", "max_us")
    stats = {
        n: dict(zip(keys, map(us, row), strict=True))
        for n, row, t in zip(names, figures, timed, strict=True)
        if t
    }
    clipped = clipped_sums(workspace)
    fill = copies.kind == "fill"
    return {
        "kernel_count": sum(calls),
        "kernel_sum_us": us(table.sum.sum()),
        "kernels": {n: [c, t] for n, c, t in zip(names, calls, totals, strict=True)},
        "timed_kernels": {n: [c, t] for n, c, t in zip(names, timed, totals, strict=True) if c},
        "kernel_stats": stats,
        "top_kernel": min(clipped, key=lambda n: (-clipped[n], n)) if clipped else None,
        "untimed_kernels": int(table.untimed.sum()),
        "deduplicated_kernel_count": sum(calls),
        "deduplicated_kernel_sum_us": us(table.sum.sum()),
        "distinct_display_names": len(set(short_unique(names).values()))
        if len(names) <= MOST_LABELS
        else None,
        "memcpy_count": int(copies.calls[~fill].sum()),
        "memcpy_sum_us": us(copies.sum[~fill].sum()),
        "memset_count": int(copies.calls[fill].sum()),
        "memset_sum_us": us(copies.sum[fill].sum()),
    }


def _devices(workspace: Workspace, results: Results) -> Facts:
    table = results.gpu_time
    devices = table.device.tolist()
    known = len(workspace.work.row) > 0

    def added(column: np.ndarray) -> float | None:
        return us(column.sum()) if known else None

    return {
        "device_count": len(devices),
        "kernel_busy_us_by_device": dict(zip(devices, map(us, table.kernel_busy.tolist()), strict=True)),
        "gpu_busy_us_by_device": dict(zip(devices, map(us, table.busy.tolist()), strict=True)),
        "overlapping_kernel_us": added(table.kernel_sum - table.kernel_busy),
        "gpu_span_us": added(table.span),
        "idle_us": added(table.idle),
        "compute_busy_us": added(table.compute),
        "comm_kernel_us": added(table.collective_busy),
        "comm_exposed_us": added(table.exposed_collective),
        "copy_only_us": added(table.exposed_copy + table.exposed_fill),
        "utilisation": results.utilisation,
        "utilisation_reliable": results.utilisation_reliable if known or results.launches.calls else None,
    }


def _launches(workspace: Workspace, results: Results) -> Facts:
    found = results.launches
    share = found.graph_kernel_share
    return {
        "launch_calls": found.calls,
        "launch_cpu_us": us(found.cpu_ns),
        "kernels_linked": found.linked,
        "kernels_unlinked": found.unlinked,
        "launches_without_gpu": found.without_gpu,
        "links": _links(workspace),
        "negative_latency_count": found.negative,
        "graph_launches": found.graph_launches,
        "graph_launches_with_kernels": found.graph_launches_with_kernels,
        "kernels_per_graph_launch": found.kernels_per_graph_launch.tolist(),
        "graph_kernel_share": None if share is None else round(share, 9),
    }


def _links(workspace: Workspace) -> list[list[Any]]:
    trace, s = workspace.trace, workspace.trace.slices
    rows = workspace.usable[s.kind[workspace.usable] == Kind.KERNEL]
    rows = rows[s.link[rows] >= 0]
    launching = np.zeros(len(s), bool)
    launching[s.link[rows]] = True
    last = np.flatnonzero(launching)[:MOST_LINKS].max(initial=-1)  # each launch has at least one link
    rows = rows[s.link[rows] <= last]
    # rows are sorted by start, so pairs sorted by the launch's row are sorted by its time
    launches, names, _ = combined(s.link[rows], s.name[rows], len(trace.names))
    both = zip(launches[:MOST_LINKS].tolist(), names[:MOST_LINKS].tolist(), strict=True)
    return [[trace.names[name], us(int(s.start[row]) + trace.origin_ns)] for row, name in both]


def _operators(workspace: Workspace, results: Results) -> Facts:
    table = results.operators
    kinds = {Kind.OP: "op", Kind.OTHER: "range"}
    rows = np.flatnonzero(np.isin(table.kind.astype(str), [kinds[k] for k in workspace.op_kinds]))
    names = table.name[rows].tolist()
    known = len(workspace.work.row) > 0 and len(names) > 0
    return {
        "op_of_kernel": _op_of_kernel(workspace) if known else None,
        "op_self_gpu_us": dict(zip(names, map(us, table.device_self[rows].tolist()), strict=True))
        if known
        else None,
        "op_total_gpu_us": dict(zip(names, map(us, table.device_total[rows].tolist()), strict=True))
        if known
        else None,
        "cpu_top_level_us": _top_level(workspace),
    }


def _op_of_kernel(workspace: Workspace) -> dict[str, str]:
    """Return the operator that launched most of each kernel's time; kernels without one are left out."""
    trace, work = workspace.trace, workspace.work
    some = np.flatnonzero((work.kind == Kind.KERNEL) & (workspace.op_of_work >= 0))
    op = trace.slices.name[workspace.nesting.rows[workspace.op_of_work[some]]]
    kernels, operators, group = combined(work.name[some], op, len(trace.names))
    added = sums(group, work.dur[some], len(kernels)).tolist()
    best: dict[int, tuple[int, str]] = {}
    for kernel, operator, ns in zip(kernels.tolist(), operators.tolist(), added, strict=True):
        key = (-ns, trace.names[operator])
        best[kernel] = min(best.get(kernel, key), key)
    return {trace.names[kernel]: operator for kernel, (_, operator) in best.items()}


def _top_level(workspace: Workspace) -> float | None:
    tree, s = workspace.nesting, workspace.trace.slices
    ops = np.flatnonzero(workspace.is_op)
    if not len(ops):
        return None
    top = tree.rows[ops[workspace.innermost_op(tree.parent[ops]) < 0]]
    return us(total(union(s.start[top], s.start[top] + s.dur[top])))


def _ranges(workspace: Workspace) -> Facts:
    trace = workspace.trace
    return {
        "cpu_ranges": _by_name(workspace, trace.closed_ranges),
        "open_ranges": list(trace.open_ranges),
        "cpu_node_us": _nodes(workspace),
    }


def _by_name(workspace: Workspace, rows: np.ndarray) -> dict[str, list[float]]:
    trace = workspace.trace
    used, group = compact(trace.slices.name[rows], len(trace.names))
    found = spread(group, trace.slices.dur[rows], len(used))
    both = zip(used.tolist(), found.calls.tolist(), found.sum.tolist(), strict=True)
    return {trace.names[n]: [calls, us(ns)] for n, calls, ns in both}


def _nodes(workspace: Workspace) -> dict[str, float] | None:
    """Return the host time per operator of ONNX Runtime's nodes."""
    trace, s = workspace.trace, workspace.trace.slices
    holders = trace.arg("op_name")
    if holders.texts is None or "node" not in {c.lower() for c in trace.categories}:
        return None
    node = np.array([c.lower() == "node" for c in trace.categories])
    kept = np.flatnonzero(node[s.category[holders.rows]])
    rows, codes = holders.rows[kept], holders.values[kept]
    own = np.array([trace.names[n].endswith(_NODE_SUFFIX) for n in s.name[rows].tolist()], bool)
    added = sums(codes[own], s.dur[rows[own]], len(holders.texts))
    used = np.unique(codes[own]).tolist()
    return {holders.texts[c].strip('"'): us(added[c]) for c in used} or None


def _steps(workspace: Workspace, results: Results) -> Facts:
    table = results.steps
    known = len(table) > 0 and len(workspace.kernels.row) > 0
    usual = table.kernels[table.complete & ~table.outlier]
    median = _median(usual) if known and len(usual) else None
    return {
        "step_count": len(table),
        "step_us": [us(ns) for ns in table.wall.tolist()],
        "complete_step_count": int(table.complete.sum()) if results.launches.calls else None,
        "step_kernel_us": [us(ns) for ns in table.kernels.tolist()] if known else None,
        "kernel_us_per_step": None
        if median is None
        else us(int(median))
        if median.denominator == 1
        else float(median / 1000),
        "outlier_steps": np.flatnonzero(table.outlier).tolist() if known else None,
    }


def _median(values: np.ndarray) -> Fraction:
    ordered = np.sort(values).tolist()
    return Fraction(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2], 2)


def _record(workspace: Workspace) -> Facts:
    trace = workspace.trace
    return {
        "dropped_device_events": trace.account.dropped_device_events,
        "trace_span_us": us(trace.span_ns) if trace.timed.any() else None,
    }
