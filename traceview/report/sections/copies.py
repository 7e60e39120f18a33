"""Copies and fills on the device."""

from __future__ import annotations

from traceview.events import Kind
from traceview.report.context import NO_KERNELS, Context
from traceview.report.longest import longest_records
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.units import duration, shown

COLUMNS = (
    Column("name", "Copy or fill", "name"),
    Column("kind", "Kind", "text"),
    Column("direction", "Direction", "text"),
    Column("memory", "Memory", "text"),
    Column("calls", "Calls", "count"),
    Column("sum", "Total ms", "ms", "sum of the single durations", bar=True),
    Column("mean", "Mean µs", "us"),
    Column("median", "Median µs", "us"),
    Column("max", "Max µs", "us"),
    Column("bytes", "Data MiB", "bytes", "sum of the bytes recorded"),
    Column("rate", "GB/s", "rate", "bytes divided by the summed time; a clue, not a verdict"),
)
_FIGURES = ("calls", "sum", "mean", "median", "max")
EMPTY = (
    "No copy or fill on the device in this trace: none ran while it was recorded, or the profiler left them out. They are "
    "recorded with the device's activity, as kernels are."
)


def build(context: Context) -> SectionView:
    """Show copies and fills by total time."""
    table = context.analysis.copies
    if not len(context.analysis.gpu_time):
        return SectionView("copies", "Copies", empty=NO_KERNELS)
    if not len(table):
        return SectionView("copies", "Copies", empty=EMPTY)
    top = min(len(table), context.options.top)
    rows: list[tuple[Cell, ...]] = []
    for i in range(top):
        size, ns = int(table.bytes[i]), int(table.sum[i])
        known = size > 0
        rows.append(
            (
                context.names.add(str(table.name[i])),
                *(shown(str(getattr(table, key)[i])) for key in ("kind", "direction", "memory")),
                *(getattr(table, key)[i].item() for key in _FIGURES),
                size if known else None,
                size / ns if known and ns else None,
            )
        )
    others = ""
    if len(table) > top:
        others = f"Others ({len(table) - top:,} names): {duration(int(table.sum[top:].sum()))}."
    note = "Durations of the device's records. How much of this no kernel hides is “exposed copy” under GPU time."
    windows = longest_records(context.trace, (Kind.COPY, Kind.FILL), [str(n) for n in table.name[:top]])
    view = TableView(
        "copies", "copies and fills", COLUMNS, tuple(rows), sort=5, page=10, others=others,
        windows=windows, shows="the longest record of this name",
    )  # fmt: skip
    return SectionView("copies", "Copies", note, (view,))
