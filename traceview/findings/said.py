"""Texts of findings that point to rows: painters name these as their document does, and can link to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from traceview.units import LABEL_LIMIT, short_name, shown

KERNELS, COLLECTIVES, COPIES, OPERATORS = "kernels", "collectives", "copies", "operators"
GAPS, WAITS, PAIRS, STEPS = "gaps", "syncs", "stream-pairs", "steps"


class Row(NamedTuple):
    """Point to a row of one of the page's tables.

    It is found by its full name, else by the begin of its window (ns from the trace's origin), else by
    its place in the table. `text` stands for a row without a name.
    """

    table: str
    name: str = ""
    text: str = ""
    place: int = -1
    window: tuple[int, int] | None = None


Said = str | tuple[str | Row, ...]
Naming = Callable[[Row], str]


def named(text: str) -> str:
    """Return a name of the trace as a sentence has it: one line, no home folder, cut to a length."""
    return shown(text, LABEL_LIMIT)


def short(row: Row) -> str:
    """Return what stands for a row where no document has labels of its own."""
    if row.text:
        return row.text
    return named(short_name(row.name) if row.table in (KERNELS, COLLECTIVES) else row.name)


def written(said: Said, naming: Naming = short) -> str:
    """Return the text with a name for each row."""
    return said if isinstance(said, str) else "".join(p if isinstance(p, str) else naming(p) for p in said)


def rows_of(said: Said) -> tuple[Row, ...]:
    """Return the rows that a text points to."""
    return () if isinstance(said, str) else tuple(p for p in said if isinstance(p, Row))
