"""Kernels by full name: time on the device, and beside it the host time that launched them."""

from __future__ import annotations

from traceview.analyses.per_step import KERNEL
from traceview.events import Kind
from traceview.report.context import NO_KERNELS, Context
from traceview.report.longest import THE_LONGEST, longest_on_streams, longest_records
from traceview.report.trends import per_step
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.report.wording import only_recorded
from traceview.units import duration, plural, shown

COLUMNS = (
    Column("name", "Kernel", "name", "short name; click it for the full one"),
    Column("category", "Category", "text", "by name rules, see Method"),
    Column("calls", "Calls", "count", "device records with this name"),
    Column("sum", "Total ms", "ms", "sum of the single durations", bar=True),
    Column("share", "Share %", "share", "of the summed time of all kernels"),
    Column("mean", "Mean µs", "us"),
    Column("median", "Median µs", "us"),
    Column("p95", "p95 µs", "us", "95th percentile of the single durations"),
    Column("min", "Min µs", "us"),
    Column("max", "Max µs", "us"),
    Column("launch", "CPU launch ms", "ms", "host time of the calls that launched these kernels"),
)
BY_STREAM = (
    Column("name", "Kernel on a stream", "name"),
    Column("device", "Device", "text"),
    Column("stream", "Stream", "text"),
    *COLUMNS[2:10],
)
_FIGURES = ("calls", "sum", "share", "mean", "median", "p95", "min", "max")


def build(context: Context) -> SectionView:
    """Show the top kernels by total time; the rest as one line."""
    table = context.analysis.kernels
    if not len(table):
        return SectionView("kernels", "Kernels", empty=NO_KERNELS)
    top = min(len(table), context.options.top)
    rows: list[tuple[Cell, ...]] = []
    for i in range(top):
        name = str(table.name[i])
        figures = [getattr(table, key)[i].item() for key in _FIGURES]
        rows.append(
            (context.names.add(name), shown(str(table.category[i])), *figures, context.cost.get(name))
        )
    others = ""
    if len(table) > top:
        rest = duration(int(table.sum[top:].sum()))
        calls = plural(int(table.calls[top:].sum()), "call")
        others = f"Others ({len(table) - top:,} names): {rest} in {calls}."
    base = _base(context)
    names = [str(n) for n in table.name[:top]]
    trend, windows = (
        per_step(context.analysis, KERNEL, names),
        longest_records(context.trace, (Kind.KERNEL,), names),
    )
    views = [
        TableView(
            "kernels", "kernels", COLUMNS, tuple(rows), sort=3, others=others, base=base, trend=trend,
            windows=windows, shows=THE_LONGEST,
        )
    ]  # fmt: skip
    if len(set(context.analysis.kernels_by_stream.stream.tolist())) > 1:
        views.append(_by_stream(context))
    note = "Grouped by full name, from the single durations. Copies and fills are a table of their own."
    untimed = int(table.untimed.sum())
    if untimed:
        note += f" {plural(untimed, 'kernel record')} without a time are counted as calls only."
    return SectionView("kernels", "Kernels", note, tuple(views))


def _by_stream(context: Context) -> TableView:
    table = context.analysis.kernels_by_stream
    rows: list[tuple[Cell, ...]] = [
        (
            context.names.add(str(table.name[i])),
            shown(str(table.device[i])),
            shown(str(table.stream[i])),
            *(getattr(table, key)[i].item() for key in _FIGURES),
        )
        for i in range(min(len(table), context.options.top))
    ]
    noun, base = "kernels by stream", _base(context)
    keys = [(str(table.device[i]), str(table.stream[i]), str(table.name[i])) for i in range(len(rows))]
    windows, shows = longest_on_streams(context.trace, keys), f"{THE_LONGEST} on this stream"
    return TableView(
        "kernels-by-stream", noun, BY_STREAM, tuple(rows), sort=4, page=10, base=base, windows=windows, shows=shows
    )  # fmt: skip


def _base(context: Context) -> str:
    """Say of what the shares are."""
    table = context.analysis.kernels
    recorded = "recorded " if only_recorded(context.analysis) else ""
    calls = plural(int(table.calls.sum()), f"{recorded}kernel")
    return f"Share % is of {duration(int(table.sum.sum()))}, the summed time of {calls}; not of wall time."
