"""Results as JSON: times in µs by keys that say so, unknown as null."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from traceview.analyses.facts import us
from traceview.analyses.grouping import Quantiles
from traceview.tables import Table


def records(table: Table, most: int | None = None) -> list[dict[str, Any]]:
    """Return a table's rows, the first `most`; columns in ns become µs and say so, -1 there is None."""
    columns: dict[str, list[Any]] = {}
    for name, unit, _ in table.columns():
        values = getattr(table, name)[:most].tolist()
        key = f"{name}_us" if unit == "ns" else name
        columns[key] = [known(v, unit) for v in values]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def known(value: Any, unit: str) -> Any:
    """Return a value of a result as JSON has it: below 0 stands for unknown, in every unit."""
    if unit == "text" or isinstance(value, bool):
        return value
    if value < 0 or not math.isfinite(value):
        return None
    return us(value) if unit == "ns" else value


def quantiles_record(found: Quantiles | None) -> dict[str, float] | None:
    """Return the spread of durations in µs, None where there are none."""
    if found is None:
        return None
    return {k: v if k == "count" else us(v) for k, v in asdict(found).items()}
