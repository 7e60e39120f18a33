"""Collectives: what communication cost, how much of it is hidden, and at which bandwidth."""

from __future__ import annotations

import math

from traceview.analyses.collectives import FORMULAS
from traceview.events import Kind
from traceview.report.context import NO_KERNELS, Context
from traceview.report.longest import longest_records
from traceview.report.sections.gaps import shown
from traceview.report.view import Cell, Column, DefinitionsView, SectionView, TableView
from traceview.units import data_size, duration

COLUMNS = (
    Column("name", "Kernel", "name"),
    Column("collective", "Collective", "text"),
    Column("dtype", "Type", "text"),
    Column("group", "Group", "text"),
    Column("group_size", "Ranks", "count"),
    Column("message", "Message", "text", "size that the bandwidth is of"),
    Column("calls", "Calls", "count"),
    Column("sum", "Total ms", "ms", "added durations; waiting for other ranks included", bar=True),
    Column("median", "Median µs", "us"),
    Column("min", "Min µs", "us", "the one that waited least"),
    Column("exposed", "Exposed ms", "ms", "under no compute kernel of the device"),
    Column("overlapped", "Hidden %", "share", "of its time, under compute kernels"),
    Column("algorithm_bandwidth", "Alg. GB/s", "rate", "algorithm bandwidth: message by median duration"),
    Column("bus_bandwidth", "Bus GB/s", "rate", "algorithm bandwidth × the factor of the collective"),
)
EMPTY = (
    "No collective in this trace: a run on one device, or none was recorded. Sizes and groups need PyTorch 2.4 or later, "
    "or record_param_comms on the host (record_shapes=True)."
)
NOTE = (
    "With the trace of one rank the time includes waiting for the others: a slow collective may be a late peer. "
    "1 GB/s is 10⁹ bytes per second; bandwidths are unknown where sizes or ranks are not recorded."
)


def build(context: Context) -> SectionView:
    """Show collectives by kernel, message and group, and the formulas of the bandwidths."""
    table = context.analysis.collectives
    if not len(context.analysis.gpu_time):
        return SectionView("collectives", "Collectives", empty=NO_KERNELS)
    if not len(table):
        return SectionView("collectives", "Collectives", empty=EMPTY)
    top = min(len(table), context.options.top)
    rows: list[tuple[Cell, ...]] = []
    for i in range(top):
        texts = [shown(context, str(getattr(table, key)[i])) for key in ("collective", "dtype", "group")]
        size, message = int(table.group_size[i]), int(table.message[i])
        figures = [getattr(table, c.key)[i].item() for c in COLUMNS[6:]]
        cells = [None if isinstance(v, float) and math.isnan(v) else v for v in figures]
        known = (None if size < 0 else size, data_size(message) if message >= 0 else "–")
        rows.append((context.names.add(str(table.name[i])), *texts, *known, *cells))
    others = ""
    if len(table) > top:
        others = f"Others ({len(table) - top:,} rows): {duration(int(table.sum[top:].sum()))}."
    windows = longest_records(context.trace, (Kind.KERNEL,), [str(n) for n in table.name[:top]])
    view = TableView(
        "collectives", "collectives", COLUMNS, tuple(rows), sort=7, page=10, others=others,
        windows=windows, shows="the longest record of this name",
    )  # fmt: skip
    formulas = DefinitionsView("Bandwidth", tuple(_formula(i) for i in range(len(FORMULAS))))
    return SectionView("collectives", "Collectives", NOTE, (view, formulas))


def _formula(i: int) -> tuple[str, str]:
    formula = FORMULAS[i]
    kinds = formula.pattern.pattern.replace("_?", "-").replace("|", ", ")
    message = {"in": "the input", "out": "the output", "larger": "the larger of input and output"}
    return kinds, f"message: {message[formula.message]}; bus = algorithm × {formula.factor}"
