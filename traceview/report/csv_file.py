"""One table as CSV: UTF-8, lines ended by a line feed, safe to open in a spreadsheet.

A text that a spreadsheet would take for a formula gets an apostrophe in front; control and other
invisible characters are shown as text. Numbers are written in full.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from traceview.report.result_tables import FileColumn
from traceview.units import safe

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def csv_text(columns: Sequence[FileColumn]) -> str:
    """Return the table with its header; what is unknown is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([c.name for c in columns])
    writer.writerows(zip(*(_cells(c) for c in columns), strict=True))
    return out.getvalue()


def _cells(column: FileColumn) -> list[Any]:
    if column.unit == "text":
        return [plain(text) for text in column.values.tolist()]
    if column.unit == "bool":
        return ["true" if value else "false" for value in column.values.tolist()]
    pairs = zip(column.values.tolist(), column.known.tolist(), strict=True)
    return [value if known else "" for value, known in pairs]


def plain(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, also behind spaces."""
    shown = safe(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or text.startswith(_FORMULA) else shown
