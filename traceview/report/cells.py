"""A cell of a table as text, wherever no script formats it: static rows of the page, Markdown."""

from __future__ import annotations

from traceview.report.view import Cell, Column, TableView
from traceview.units import significant

CHANGE = "change_"
"""Begins the forms of signed differences."""


def cell_text(cell: Cell, form: str) -> str:
    """Show a cell as js/codec.js shows it; a name must have been looked up."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if form.startswith(CHANGE):
        return sign_of(cell) + cell_text(abs(cell), form.removeprefix(CHANGE))
    if form == "share":
        return "< 0.1" if 0 < cell < 0.0005 else f"{100 * cell:.1f}"
    if form == "rate":
        return significant(cell)
    scale, digits = {"count": (1, 0), "ms": (1e6, 3), "us": (1e3, 2), "bytes": (2**20, 2)}.get(form, (1, 2))
    return f"{cell / scale:,.{digits}f}"


def sign_of(cell: float) -> str:
    """Return the sign of a change: nothing is ±0."""
    return "+" if cell > 0 else "−" if cell < 0 else "±"


def direction(cell: Cell, form: str) -> str:
    """Return whether a change is a rise or a fall; of what is no change nothing."""
    if not form.startswith(CHANGE) or not isinstance(cell, (int, float)) or cell == 0:
        return ""
    return "rise" if cell > 0 else "fall"


def is_number(column: Column) -> bool:
    """Say whether a column holds numbers: they stand to the right and are sorted by size."""
    return column.form not in ("name", "text")


def size_of(cell: Cell, form: str) -> float:
    """Return what a number is sorted by: a change by its size, whatever its sign."""
    value = float(cell) if isinstance(cell, (int, float)) else float("-inf")
    return abs(value) if form.startswith(CHANGE) and isinstance(cell, (int, float)) else value


def visible(table: TableView) -> list[int]:
    """Return the places of the columns that are shown unless a reader chooses others."""
    return [i for i, column in enumerate(table.columns) if not column.hidden]
