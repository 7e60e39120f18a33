"""Categories: device time by what the kernels do."""

from __future__ import annotations

from traceview.report import figures
from traceview.report.context import NO_KERNELS, Context
from traceview.report.view import Cell, ChartsView, Column, SectionView, TableView
from traceview.report.wording import only_recorded
from traceview.units import duration, shown

COLUMNS = (
    Column("category", "Category", "text"),
    Column("calls", "Calls", "count"),
    Column("sum", "Total ms", "ms", "sum of the single durations", bar=True),
    Column("share", "Share %", "share", "of the summed time of kernels, copies and fills"),
)


def build(context: Context) -> SectionView:
    """Show every category with its share of summed device work."""
    table = context.analysis.categories
    if not len(table):
        return SectionView("categories", "Categories", empty=NO_KERNELS)
    rows: list[tuple[Cell, ...]] = [
        (
            shown(str(table.category[i]), paths=context.options.show_paths),
            *(getattr(table, c.key)[i].item() for c in COLUMNS[1:]),
        )
        for i in range(len(table))
    ]
    recorded = "recorded " if only_recorded(context.analysis) else ""
    whole = duration(int(table.sum.sum()))
    base = f"Share % is of {whole}, the summed time of all {recorded}device work: kernels, copies and fills."
    return SectionView(
        "categories",
        "Categories",
        "By rules over kernel names; --categories FILE adds rules of your own.",
        (
            ChartsView((figures.time_by_category(context.analysis),)),
            TableView("categories", "categories", COLUMNS, tuple(rows), sort=2, base=base),
        ),
    )
