"""Operators: host time and the device time they launched, as in key_averages()."""

from __future__ import annotations

from traceview.report.context import Context
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.units import duration, safe

COLUMNS = (
    Column("name", "Operator", "name", "click it for the full name"),
    Column("kind", "Kind", "text", "operator, annotation, or a range of unknown kind"),
    Column("calls", "Calls", "count"),
    Column("cpu_self", "CPU self ms", "ms", "host time without child operators and runtime calls", bar=True),
    Column("cpu_total", "CPU total ms", "ms", "host time with children"),
    Column("device_self", "GPU self ms", "ms", "kernels, copies and fills launched directly", bar=True),
    Column("device_total", "GPU total ms", "ms", "the same with children"),
)
_FIGURES = ("calls", "cpu_self", "cpu_total", "device_self", "device_total")
EMPTY = (
    "This trace holds no host operators. Record with ProfilerActivity.CPU beside the device's activity to see "
    "which operator launched what."
)


def build(context: Context) -> SectionView:
    """Show operators by device self time, where there is none by CPU self time."""
    table = context.analysis.operators
    named = [i for i in range(len(table)) if int(table.calls[i]) or int(table.device_self[i])]
    if not any(int(table.calls[i]) for i in named):
        return SectionView("operators", "Operators", empty=EMPTY)
    sort = 5 if int(table.device_self.sum()) else 3
    key = table.device_self if sort == 5 else table.cpu_self
    named.sort(key=lambda i: -int(key[i]))
    top = named[: context.options.top]
    rows: list[tuple[Cell, ...]] = [
        (
            context.names.add(str(table.name[i]), True),
            safe(str(table.kind[i])),
            *(getattr(table, k)[i].item() for k in _FIGURES),
        )
        for i in top
    ]
    rest = named[len(top) :]
    others = ""
    if rest:
        cpu = duration(int(table.cpu_self[rest].sum()))
        gpu = duration(int(table.device_self[rest].sum()))
        others = f"Others ({len(rest):,} names): {cpu} CPU self, {gpu} GPU self."
    return SectionView(
        "operators",
        "Operators",
        "Device time belongs to the innermost operator around the launching call; GPU self times add up to all "
        "device work, what no operator launched is “(no operator)”.",
        (TableView("operators", "operators", COLUMNS, tuple(rows), sort, others=others),),
    )
