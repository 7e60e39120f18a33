"""The section of a comparison's page that shows all work by what launched it, and the kernels that differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from traceview.diff.compare import Row
from traceview.report.view import Cell, Column, Form, SectionView, TableView
from traceview.units import LABEL_LIMIT, count, duration, plural, shown

if TYPE_CHECKING:
    from traceview.report.diff_view import DiffContext

_SHAPES = 120  # characters
_EMPTY = re.compile(r"(?:, ?\[\])+\]$")  # inputs without a shape, such as numbers
_KERNELS = (
    Column("op", "Operator or kernel", "text", "what launched the work, else the kernel"),
    Column("delta", "Its change µs", "change_us", "of all work of the operator with these shapes"),
    Column("how", "Pair", "text", "how they stand for each other: same family, same operator; new or gone without a pair"),
    Column("base", "Base kernel", "name"),
    Column("new", "New kernel", "name"),
)  # fmt: skip


def work_section(context: DiffContext) -> SectionView:
    """Show all work by what launched it, most changed first, and the kernels that stand for each other."""
    diff, top = context.diff, context.options.top
    listed = diff.rows[:top]
    others = ""
    if len(diff.rows) > top:
        rest = sum((r.change.delta for r in diff.rows[top:]), Fraction(0))
        others = f"Others ({count(len(diff.rows) - top)}): {duration(abs(float(rest)))} {'more' if rest > 0 else 'less'}."
    note = (
        "Work is matched by operator and input shapes first, so a kernel may have another name on the other side. "
        "A name opens to the full one, and finds its slices in the timeline."
    )
    columns = _columns(whole_numbers(c for r in listed for c in (r.change.base_calls, r.change.new_calls)))
    rows = tuple(_work_row(context, row) for row in listed)
    base = f"Figures are {context.per}. {_reasons(listed)}"
    views = [TableView("work", "groups of work", columns, rows, 5, others=others, base=base)]
    if kernels := _kernel_rows(context, listed):
        views.append(TableView("kernels", "kernels that differ", _KERNELS, kernels, 1, page=10))
    return SectionView("work", "Work", note, tuple(views))


def _columns(whole: bool) -> tuple[Column, ...]:
    calls: Form = "count" if whole else "number"
    return (
        Column("op", "Operator or kernel", "name", "what launched the work, else the kernel"),
        Column("shapes", "Input shapes", "text", "as recorded; inputs at the end without a shape are left out"),
        Column("state", "Verdict", "text", "slower, faster: larger than the noise; new, gone: on one side only; ~: noise could explain it, or not tested"),
        Column("base", "Base µs", "us"),
        Column("new", "New µs", "us"),
        Column("delta", "Change µs", "change_us", "new − base", bar=True),
        Column("part", "Change %", "change_share", "of the base"),
        Column("base_calls", "Base calls", calls),
        Column("new_calls", "New calls", calls),
        Column("calls_effect", "By calls µs", "change_us", "Δcalls × the mean of both means", hidden=True),
        Column("mean_effect", "By length µs", "change_us", "the rest: calls that got slower or faster", hidden=True),
        Column("why", "Why", "text", "what the verdict rests on", hidden=True),
        Column("p", "p", "number", "of the rank test of the row alone", hidden=True),
        Column("matched", "Matched by", "text", "and how many kernels of both sides are paired, new and gone", hidden=True),
    )  # fmt: skip


def whole_numbers(values: Iterable[float | Fraction]) -> bool:
    """Tell whether all numbers are whole, so that no digits need to be shown."""
    return all(float(v).is_integer() for v in values)


def _reasons(rows: Sequence[Row]) -> str:
    """Say why rows are not claimed, in numbers."""
    open_rows = Counter(r.judgement.reason for r in rows if not r.judgement.claimed and r.change.delta)
    if not open_rows:
        return ""
    told = ", ".join(f"{plural(n, 'row')} ({reason})" for reason, n in open_rows.most_common(4) if reason)
    return f"Not claimed: {told}." if told else ""


def state_of(row: Row) -> str:
    """Return a word for what became of a group of work."""
    if not row.change.base_calls:
        return "new"
    if not row.change.new_calls:
        return "gone"
    if not row.change.delta:
        return "same"
    if not row.judgement.claimed:
        return "~"
    return "slower" if row.change.delta > 0 else "faster"


def matched_by(row: Row) -> str:
    """Say by what a group was matched, and how many of its kernels are paired, new and gone."""
    how = [k.how for k in row.kernels]
    numbers = {
        "paired": sum(h not in ("new", "gone") for h in how), "new": how.count("new"), "gone": how.count("gone")
    }  # fmt: skip
    return f"{row.group.layer}: {', '.join(f'{n} {word}' for word, n in numbers.items() if n)}"


def shapes_of(row: Row) -> str:
    """Return the input shapes of a group, those at the end that are none left out."""
    node = row.group.node
    return _EMPTY.sub("]", node.shapes) if node else ""


def _work_row(context: DiffContext, row: Row) -> tuple[Cell, ...]:
    change = row.change
    return (
        context.names.add(row.group.label),
        shown(shapes_of(row), _SHAPES),
        state_of(row),
        float(change.base),
        float(change.new),
        float(change.delta),
        float(change.delta / change.base) if change.base else None,
        float(change.base_calls),
        float(change.new_calls),
        float(change.calls_effect),
        float(change.mean_effect),
        row.judgement.reason if change.delta else "",
        row.judgement.p,
        matched_by(row),
    )


def _kernel_rows(context: DiffContext, rows: Sequence[Row]) -> tuple[tuple[Cell, ...], ...]:
    """Return the kernels whose names differ between the sides."""
    none = context.names.add("–")
    return tuple(
        (
            shown(row.group.label, LABEL_LIMIT),
            float(row.change.delta),
            pair.how,
            context.names.add(pair.base) if pair.base else none,
            context.names.add(pair.new) if pair.new else none,
        )
        for row in rows
        for pair in row.kernels
        if pair.base != pair.new
    )[: context.options.top]
