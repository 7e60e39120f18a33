"""Categories: device time by what the kernels do."""

from __future__ import annotations

from traceview.report.context import NO_KERNELS, Context
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.units import safe

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
        (safe(str(table.category[i])), *(getattr(table, c.key)[i].item() for c in COLUMNS[1:]))
        for i in range(len(table))
    ]
    return SectionView(
        "categories",
        "Categories",
        "By rules over kernel names; --categories FILE adds rules of your own.",
        (TableView("categories", "categories", COLUMNS, tuple(rows), sort=2),),
    )
