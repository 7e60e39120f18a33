"""The sections of a comparison's page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from traceview.diff.changes import Bar, calls, categories, causes, partition, statements
from traceview.diff.claims import COUNTS, FEWEST_CALLS, FEWEST_STEPS, LEAST_SHARE, MOST_TESTED
from traceview.diff.comparability import LEAST_MATCHED, REFUSED
from traceview.diff.compare import Diff, Row
from traceview.diff.gates import FAIL, Outcome
from traceview.report.view import (
    Block,
    Cell,
    ChartsView,
    ChartView,
    Column,
    DefinitionsView,
    SectionView,
    TableView,
)
from traceview.units import LABEL_LIMIT, count, duration, share, shown

if TYPE_CHECKING:
    from traceview.report.diff_view import DiffContext

_BARS = (
    Column("rank", "#", "count", "by the size of the change"),
    Column("part", "Part", "text"),
    Column("base", "Base ms", "ms"),
    Column("new", "New ms", "ms"),
    Column("delta", "Change ms", "ms", "new − base"),
)
_WORK = (
    Column("rank", "#", "count", "by the size of the change"),
    Column("op", "Operator or kernel", "text", "what launched the work, else the kernel"),
    Column("shapes", "Input shapes", "text", "as recorded"),
    Column(
        "state",
        "Verdict",
        "text",
        "slower or faster: larger than the noise; ~: noise could explain it, or not tested",
    ),
    Column("base", "Base µs", "us"),
    Column("new", "New µs", "us"),
    Column("delta", "Change µs", "us", "new − base"),
    Column("part", "Change %", "share", "of the base"),
    Column("base_calls", "Base calls", "number"),
    Column("new_calls", "New calls", "number"),
    Column("calls_effect", "By calls µs", "us", "Δcalls × the mean of both means"),
    Column("mean_effect", "By length µs", "us", "the rest: calls that got slower or faster"),
    Column("matched", "Matched by", "text", "and how many kernels of both sides are paired, new and gone"),
)
_KERNELS = (
    Column("rank", "#", "count", "by the operator's place above"),
    Column("op", "Operator", "text"),
    Column("how", "State", "text", "same name, same family, same operator, new or gone"),
    Column("base", "Base kernel", "name"),
    Column("new", "New kernel", "name"),
)
_CALLS = (
    Column("rank", "#", "count", "by the change of calls"),
    Column("name", "Host call", "text"),
    Column("op", "Under operator", "text"),
    Column("base_calls", "Base calls", "number"),
    Column("new_calls", "New calls", "number"),
    Column("base", "Base ms", "ms", "time of these calls on the host"),
    Column("new", "New ms", "ms"),
    Column("delta", "Change ms", "ms"),
)
_GATES = (
    Column("gate", "Gate", "text"),
    Column("state", "Result", "text"),
    Column("why", "Why", "text"),
)
_ENVIRONMENT = (
    Column("key", "Condition", "text"),
    Column("base", "Base", "text"),
    Column("new", "New", "text"),
    Column("alike", "Alike", "text"),
    Column("weight", "Means", "text"),
    Column("sentence", "Because", "text"),
)
_MARKS = {FAIL: "✗ fail", "pass": "✓ pass", "unproven": "? unproven"}


def gates_section(outcomes: Sequence[Outcome]) -> SectionView | None:
    """Show what the gates came to; None where none was asked."""
    if not outcomes:
        return None
    rows: list[tuple[Cell, ...]] = [
        (shown(o.gate.text, 200), _MARKS[o.state], shown(o.why, 500)) for o in outcomes
    ]
    note = "A gate is unproven where its limit is exceeded and too few samples tell whether that is noise."
    return SectionView("gates", "Gates", note, (TableView("gates", "gates", _GATES, tuple(rows), 0),))


def changes_section(diff: Diff) -> SectionView:
    """Say in sentences what changed."""
    found = statements(diff)
    if not found:
        return SectionView(
            "changes", "What changed", empty="Nothing changed by more than half a percent of the time."
        )
    items = tuple(
        ("larger than the noise" if s.claimed else "~ not proven", shown(s.text, 500)) for s in found
    )
    note = "Largest first. Only what is larger than the noise is claimed; counts are facts of these runs."
    return SectionView("changes", "What changed", note, (DefinitionsView("", items),))


def waterfall_section(diff: Diff, chart: ChartView | None, per: str) -> SectionView:
    """Show how the time of the base becomes the time of the new run."""
    blocks: list[Block] = [ChartsView((chart,))] if chart is not None else []
    parts = partition(diff)
    if parts:
        base = f"Parts of the device's time, {per}: totals divided by the steps, where headlines are medians. They add up."
        blocks.append(TableView("parts", "parts of the time", _BARS, _bar_rows(parts), 0, base=base))
    base = f"Added durations of device work, {per}; kernels that run at once count each."
    blocks.append(TableView("categories", "categories", _BARS, _bar_rows(categories(diff)), 0, base=base))
    return SectionView("change", "Where the time went", "", tuple(blocks))


def _bar_rows(bars: Sequence[Bar]) -> tuple[tuple[Cell, ...], ...]:
    ordered = sorted(bars, key=lambda b: -abs(b.delta))
    return tuple(
        (i + 1, shown(b.label, LABEL_LIMIT), float(b.base), float(b.new), float(b.delta))
        for i, b in enumerate(ordered)
    )


def work_section(context: DiffContext) -> SectionView:
    """Show all work by what launched it, most changed first, and the kernels that stand for each other."""
    diff, top = context.diff, context.options.top
    listed = diff.rows[:top]
    rows = tuple((i + 1, *_work_row(row)) for i, row in enumerate(listed))
    others = ""
    if len(diff.rows) > top:
        rest = sum((r.change.delta for r in diff.rows[top:]), Fraction(0))
        others = f"Others ({count(len(diff.rows) - top)}): {duration(abs(float(rest)))} {'more' if rest > 0 else 'less'}."
    note = (
        "Work is matched by operator and input shapes first, so a kernel may have another name on the other side. "
        "The effects of calls and of their length add up to the change."
    )
    kernels = _kernel_rows(context, listed)
    views = [
        TableView("work", "groups of work", _WORK, rows, 0, others=others, base=f"Figures are {context.per}.")
    ]
    if kernels:
        views.append(TableView("kernels", "kernels that differ", _KERNELS, kernels, 0, page=10))
    return SectionView("work", "Work", note, tuple(views))


def state_of(row: Row) -> str:
    """Return a word for what became of a group of work."""
    if not row.change.base_calls:
        return "new"
    if not row.change.new_calls:
        return "gone"
    if not row.judgement.claimed:
        return f"~ {row.judgement.reason}"
    return "slower" if row.change.delta > 0 else "faster"


def _work_row(row: Row) -> tuple[Cell, ...]:
    change = row.change
    node = row.group.node
    how = [k.how for k in row.kernels]
    told = [
        f"{n} {word}"
        for word, n in (
            ("paired", sum(h not in ("new", "gone") for h in how)),
            ("new", how.count("new")),
            ("gone", how.count("gone")),
        )
        if n
    ]
    return (
        shown(row.group.label, LABEL_LIMIT),
        shown(node.shapes, 120) if node else "",
        state_of(row),
        float(change.base),
        float(change.new),
        float(change.delta),
        float(change.delta / change.base) if change.base else None,
        float(change.base_calls),
        float(change.new_calls),
        float(change.calls_effect),
        float(change.mean_effect),
        f"{row.group.layer}: {', '.join(told)}",
    )


def _kernel_rows(context: DiffContext, rows: Sequence[Row]) -> tuple[tuple[Cell, ...], ...]:
    """Return the kernels whose names differ between the sides."""
    none = context.names.add("–")
    return tuple(
        (
            i + 1,
            shown(row.group.label, LABEL_LIMIT),
            pair.how,
            context.names.add(pair.base) if pair.base else none,
            context.names.add(pair.new) if pair.new else none,
        )
        for i, row in enumerate(rows)
        for pair in row.kernels
        if pair.base != pair.new
    )[: context.options.top]


def idle_section(diff: Diff) -> SectionView:
    """Show idle time by cause on both sides."""
    bars = [b for b in causes(diff) if b.base or b.new]
    if not bars:
        return SectionView(
            "idle", "Idle time", empty="No idle time is recorded on both sides; a saved run keeps no causes."
        )
    note = "Gaps by cause. One run a side proves little about idle time: the next capture of the same program may differ by much."
    return SectionView(
        "idle", "Idle time", note, (TableView("idle", "causes of idle time", _BARS, _bar_rows(bars), 0),)
    )


def calls_section(diff: Diff) -> SectionView:
    """Show the host calls whose number changed."""
    found = calls(diff)
    if not found:
        return SectionView(
            "calls",
            "Host calls",
            empty="Launches, synchronisations and other runtime calls are as many on both sides, or a side is a saved run.",
        )
    rows = tuple(
        (
            i + 1,
            shown(c.name, LABEL_LIMIT),
            shown(c.op, LABEL_LIMIT),
            float(c.base_calls),
            float(c.new_calls),
            float(c.base),
            float(c.new),
            float(c.new - c.base),
        )
        for i, c in enumerate(found[:500])
    )
    note = "Runtime calls by name and operator whose number differs."
    return SectionView("calls", "Host calls", note, (TableView("calls", "host calls", _CALLS, rows, 0),))


def steps_section(diff: Diff, chart: ChartView | None) -> SectionView | None:
    """Show the samples of both sides; None without steps."""
    if not diff.headlines:
        return None
    columns = [Column("side", "Side", "text"), Column("step", "Step", "count")]
    keys = [k for k in diff.headlines if all(k in m.headlines for m in diff.measured)]
    columns += [
        Column(k, _words(k) if k in COUNTS else f"{_words(k)} ms", "count" if k in COUNTS else "ms")
        for k in keys
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, measured in zip(("base", "new"), diff.measured, strict=True):
        columns_of = [measured.headlines[k] for k in keys]
        rows += [(name, step, *(int(c[i]) for c in columns_of)) for i, step in enumerate(measured.steps)]
    judged: list[tuple[Cell, ...]] = [(_words(k), *_judged_cells(diff, k)) for k in keys]
    head = (
        Column("what", "Per step", "text"), Column("base", "Base", "text", "median"), Column("new", "New", "text", "median"),
        Column("low", "Change at least", "text", "95 % interval"), Column("high", "Change at most", "text", "95 % interval"),
        Column("p", "p", "number", "rank test"), Column("told", "Verdict", "text"),
    )  # fmt: skip
    blocks: list[Block] = [ChartsView((chart,))] if chart is not None else []
    blocks += [
        TableView("headlines", "headlines", head, tuple(judged), 0),
        TableView("samples", "samples", tuple(columns), tuple(rows[:1000]), 0, page=10),
    ]
    return SectionView(
        "steps",
        "Steps",
        "Complete steps with a device window; their spread is the reason to believe a change or not.",
        tuple(blocks),
    )


def _judged_cells(diff: Diff, key: str) -> tuple[Cell, ...]:
    judged = diff.headlines[key]

    def text(value: float) -> str:
        return f"{value:+,.0f}" if key in COUNTS else ("−" if value < 0 else "") + duration(abs(value))

    interval = judged.interval
    told = ("larger than the noise" if judged.claimed else "~ ") + ("" if judged.claimed else judged.reason)
    both = (text(interval.low), text(interval.high)) if interval else ("–", "–")
    return (text(judged.base), text(judged.new), *both, judged.p, told)


def _words(key: str) -> str:
    return key.replace("_", " ").replace("gpu", "GPU").replace("comm", "communication")


def environment_section(diff: Diff) -> SectionView:
    """Show every condition that was compared, those that differ first."""
    found = sorted(diff.comparability.conditions, key=lambda c: (c.alike, c.weight != REFUSED))
    rows = tuple(
        (
            c.key,
            shown(c.base, 300),
            shown(c.new, 300),
            "yes" if c.alike else "expected" if c.expected else "no",
            c.weight,
            shown(c.sentence, 300),
        )
        for c in found
    )
    note = f"Verdict: {diff.comparability.verdict}."
    if diff.structure:
        note += (
            " The programs differ in structure: " + "; ".join(shown(s, 200) for s in diff.structure[:5]) + "."
        )
    return SectionView(
        "environment", "Comparable?", note, (TableView("environment", "conditions", _ENVIRONMENT, rows, 0),)
    )


def method_section(diff: Diff) -> SectionView:
    """Define how work is matched, what noise is, and what is claimed."""
    floor = diff.runs.floor
    items = (
        ("matched", "by operator and input shapes (operators that a compiler numbers are one); then by the innermost operator around both with the same recorded shapes; by kernel name; by name without numbers, tiles and architecture; by operator whatever its shapes; by the lowest common operator; by category. Each difference is in one group."),
        ("change", "new − base. By calls: Δcalls × the mean of both mean durations; by length: the rest."),
        ("larger than the noise", f"the 95 % bootstrap interval of the difference of medians excludes zero, the rank test holds among all rows tested (false discoveries at most 5 %), and the change is above the floor: {share(floor.own)} of itself, {share(floor.step)} of step time and {duration(floor.ns)}; with several runs a side a tenth of these shares, and intervals as wide as the runs' own spread."),
        ("tested", f"rows of {share(LEAST_SHARE)} of the time or more, at most {MOST_TESTED}; per step from {FEWEST_STEPS} compared steps a side on, else per call from {FEWEST_CALLS} calls a side on; {count(diff.tested.rows)} rows were tested here."),
        ("measured once", "one run a side tells kernels, and not the host: idle time is claimed only where launches, kernels, synchronisations or the names of ranges differ."),
        ("comparable", f"not where a side has no kernels or incomplete device records, under {share(LEAST_MATCHED)} of the linked device time is matched by operator and shapes, or ranks, profiler switches or precision differ; with care where the named conditions differ."),
    )  # fmt: skip
    return SectionView("method", "Method", blocks=(DefinitionsView("Words", items),))
