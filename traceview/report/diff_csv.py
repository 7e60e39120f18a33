"""The tables of a comparison as columns for files: work first, each by the name that `--table` takes.

Times are ns, per step or per run as the comparison has them: where figures are per step they can be fractions.
What is unknown is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from traceview.diff.changes import Bar, calls, categories, causes, partition
from traceview.diff.claims import COUNTS
from traceview.diff.compare import Diff
from traceview.errors import UsageError
from traceview.report.diff_text import headline_keys
from traceview.report.diff_work import matched_by, state_of
from traceview.report.result_tables import FileColumn, file_name
from traceview.units import hide_home, middle

Spec = tuple[tuple[str, str, str], ...]
Cells = Sequence[Sequence[Any]]
_BARS: Spec = (
    ("part", "text", "part of the time"), ("base", "ns", "time of the base"), ("new", "ns", "time of the new run"),
    ("change", "ns", "new − base"),
)  # fmt: skip


def _work(diff: Diff) -> tuple[Spec, Cells]:
    spec: Spec = (
        ("label", "text", "operator that launched the work, else the kernel"), ("shapes", "text", "input shapes as recorded"),
        ("verdict", "text", "slower, faster, new, gone, same, or ~: not claimed"), ("why", "text", "what the verdict rests on"),
        ("base", "ns", "time of the base"), ("new", "ns", "time of the new run"), ("change", "ns", "new − base"),
        ("change", "share", "the same as a share of the base"), ("base_calls", "count", "calls of the base"),
        ("new_calls", "count", "calls of the new run"), ("calls_effect", "ns", "what the other number of calls explains"),
        ("mean_effect", "ns", "what the length of calls explains"), ("low", "ns", "lower end of the interval of the change"),
        ("high", "ns", "upper end of the interval of the change"), ("p", "number", "of the rank test of the row alone"),
        ("matched_by", "text", "how the work of both sides was matched"),
    )  # fmt: skip
    rows = []
    for row in diff.rows:
        c, found = row.change, row.judgement.interval
        rows.append((
            row.group.label, row.group.node.shapes if row.group.node else "", state_of(row), row.judgement.reason, c.base, c.new, c.delta,
            c.delta / c.base if c.base else None, c.base_calls, c.new_calls, c.calls_effect, c.mean_effect,
            found.low if found else None, found.high if found else None, row.judgement.p, matched_by(row),
        ))  # fmt: skip
    return spec, rows


def _kernels(diff: Diff) -> tuple[Spec, Cells]:
    spec: Spec = (
        ("label", "text", "operator that launched the work, else the kernel"), ("pair", "text", "how the kernels stand for each other"),
        ("base_kernel", "text", "empty: new"), ("new_kernel", "text", "empty: gone"),
    )  # fmt: skip
    return spec, [(row.group.label, k.how, k.base, k.new) for row in diff.rows for k in row.kernels]


def _bars(bars: Iterable[Bar]) -> tuple[Spec, Cells]:
    return _BARS, [(b.label, b.base, b.new, b.delta) for b in bars]


def _calls(diff: Diff) -> tuple[Spec, Cells]:
    spec: Spec = (
        ("call", "text", "host call"), ("under", "text", "innermost operator around it"), ("kind", "text", "launch, sync or call"),
        ("base_calls", "count", "calls of the base"), ("new_calls", "count", "calls of the new run"),
        ("base", "ns", "time of these calls on the host"), ("new", "ns", "time of these calls on the host"),
    )  # fmt: skip
    rows = [(c.name, c.op, c.kind, c.base_calls, c.new_calls, c.base, c.new) for c in calls(diff)]
    return spec, rows


def _headlines(diff: Diff) -> tuple[Spec, Cells]:
    spec: Spec = (
        ("what", "text", "headline"), ("unit", "text", "ns or count"), ("base", "number", "median of the base"),
        ("new", "number", "median of the new run"), ("change", "number", "difference of the medians"),
        ("low", "number", "lower end of its interval"), ("high", "number", "upper end of its interval"),
        ("p", "number", "rank test"), ("claimed", "bool", "larger than the noise"), ("why", "text", "what the verdict rests on"),
    )  # fmt: skip
    rows = []
    for key in headline_keys(diff):
        j = diff.headlines[key]
        ends = (j.interval.low, j.interval.high) if j.interval else (None, None)
        unit = "count" if key in COUNTS else "ns"
        rows.append((key, unit, j.base, j.new, j.delta, *ends, j.p, j.claimed, j.reason))
    return spec, rows


def _conditions(diff: Diff) -> tuple[Spec, Cells]:
    spec: Spec = (
        ("condition", "text", "what was compared"), ("base", "text", "of the base"), ("new", "text", "of the new run"),
        ("alike", "bool", "whether they are alike"), ("expected", "bool", "whether --expect named the difference"),
        ("weight", "text", "what follows from it"), ("because", "text", "in a sentence"),
    )  # fmt: skip
    found = diff.comparability.conditions
    return spec, [(c.key, c.base, c.new, c.alike, c.expected, c.weight, c.sentence) for c in found]


TABLES: dict[str, Callable[[Diff], tuple[Spec, Cells]]] = {
    "work": _work,
    "kernels": _kernels,
    "parts": lambda diff: _bars(partition(diff)),
    "categories": lambda diff: _bars(categories(diff)),
    "idle": lambda diff: _bars(causes(diff)),
    "calls": _calls,
    "headlines": _headlines,
    "conditions": _conditions,
}


def checked_diff_table(name: str | None) -> str:
    """Return the name of a table as TABLES has it, work where none is named; refuse one that is not there."""
    found = "work" if name is None else name.strip().lower().replace("_", "-")
    if found not in TABLES:
        raise UsageError(f"there is no table {middle(found, 40)!r}", f"one of {', '.join(TABLES)}")
    return found


def diff_columns(diff: Diff, table: str, show_paths: bool = False) -> list[FileColumn]:
    """Return a table of TABLES for a file; texts without home folders unless `show_paths`."""
    spec, rows = TABLES[table](diff)
    found = []
    for place, (name, unit, meaning) in enumerate(spec):
        cells = [row[place] for row in rows]
        known = np.array([cell is not None for cell in cells], bool)
        values = np.empty(len(cells), object)
        values[:] = [_value(cell, unit, show_paths) for cell in cells]
        found.append(FileColumn(file_name(name, unit), unit, meaning, values, known))
    return found


def _value(cell: Any, unit: str, show_paths: bool) -> Any:
    """Return a number as plain as it is: whole ones without a point."""
    if unit == "bool" or cell is None:
        return cell
    if unit == "text":
        return str(cell) if show_paths else hide_home(str(cell))
    exact = Fraction(cell)
    return int(exact) if exact.denominator == 1 else float(exact)
