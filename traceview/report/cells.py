"""A cell of a table as text, wherever no script formats it: static rows of the page, Markdown."""

from __future__ import annotations

from traceview.report.view import Cell
from traceview.units import significant


def cell_text(cell: Cell, form: str) -> str:
    """Show a cell as js/codec.js shows it; a name must have been looked up."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if form == "share":
        return "< 0.1" if 0 < cell < 0.0005 else f"{100 * cell:.1f}"
    if form == "rate":
        return significant(cell)
    scale, digits = {"count": (1, 0), "ms": (1e6, 3), "us": (1e3, 2), "bytes": (2**20, 2)}.get(form, (1, 2))
    return f"{cell / scale:,.{digits}f}"
