"""The sections of a comparison's page."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from traceview.diff.changes import (
    Bar,
    CallChange,
    Statement,
    calls,
    categories,
    causes,
    partition,
    statements,
)
from traceview.diff.claims import FEWEST_CALLS, FEWEST_STEPS, LEAST_SHARE, MOST_TESTED
from traceview.diff.comparability import CARE, FINE, LEAST_MATCHED, REFUSED, Condition
from traceview.diff.compare import Diff, Row
from traceview.diff.gates import FAIL, Outcome
from traceview.report.diff_text import headline_keys
from traceview.report.diff_work import whole_numbers
from traceview.report.view import (
    Block,
    Cell,
    ChangesView,
    ChangeView,
    ChartsView,
    ChartView,
    Column,
    DefinitionsView,
    Form,
    Said,
    SectionView,
    TableView,
)
from traceview.units import LABEL_LIMIT, count, duration, share, shown

_BARS = (
    Column("part", "Part", "text"),
    Column("base", "Base ms", "ms"),
    Column("new", "New ms", "ms"),
    Column("delta", "Change ms", "change_ms", "new − base", bar=True),
)
_GATES = (
    Column("gate", "Gate", "text"),
    Column("state", "Result", "text"),
    Column("why", "Why", "text"),
)
_ALIKE = (Column("key", "Condition", "text"), Column("base", "Base", "text"), Column("new", "New", "text"))
_DIFFERS = (*_ALIKE, Column("weight", "Then", "text"), Column("sentence", "Because", "text"))
_WEIGHTS = {REFUSED: "not comparable", CARE: "with care", FINE: "fine"}
_MOST_CALLS = 500
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


def changes_section(diff: Diff, top: int) -> SectionView:
    """Say in sentences what changed, those that are claimed first; what a sentence names leads to its row."""
    found = statements(diff)
    if not found:
        return SectionView(
            "changes", "What changed", empty="Nothing changed by more than half a percent of the time."
        )
    places = _places(diff, top)
    items = tuple(_change(s, places) for s in found)
    note = (
        "Claims first, then by size. Claimed is only what is larger than the noise (▲ more, ▼ less); "
        "counts are facts of these runs."
    )
    return SectionView("changes", "What changed", note, (ChangesView(items),))


def _change(said: Statement, places: Mapping[Hashable, tuple[str, str]]) -> ChangeView:
    if said.claimed:
        mark, word, turn = ("▲", "more", "rise") if said.delta > 0 else ("▼", "less", "fall")
    elif isinstance(said.about, CallChange):
        mark, word, turn = "=", "counted", ""
    else:
        mark, word, turn = "~", "not proven", ""
    text = shown(said.text, 500)
    row, section = places.get(_key(said.about), ("", ""))
    before, name, after = text.partition(shown(said.name, 500)) if row else (text, "", "")
    pieces = (Said(before), Said(name, row, section), Said(after)) if name else (Said(text),)
    return ChangeView(mark, word, turn, tuple(p for p in pieces if p.text))


def _places(diff: Diff, top: int) -> dict[Hashable, tuple[str, str]]:
    """Return the row of a table, and its section, of whatever a sentence can be about."""
    found: dict[Hashable, tuple[str, str]] = {}
    tables = (
        ("work", "work", [_key(row) for row in diff.rows[:top]]),
        ("idle", "idle", [_key(bar) for bar in _idle_bars(diff)]),
        ("calls", "calls", [_key(call) for call in calls(diff)[:_MOST_CALLS]]),
        ("headlines", "steps", headline_keys(diff)),
    )
    for table, section, keys in tables:
        found |= {key: (f"{table}-{i}", section) for i, key in enumerate(keys)}
    return found


def _key(about: Row | Bar | CallChange | str) -> Hashable:
    if isinstance(about, Row):
        return id(about)
    if isinstance(about, Bar):
        return ("idle", about.label)
    return about if isinstance(about, str) else (about.name, about.op, about.kind)


def waterfall_section(diff: Diff, chart: ChartView | None, per: str) -> SectionView:
    """Show how the time of the base becomes the time of the new run."""
    blocks: list[Block] = [ChartsView((chart,))] if chart is not None else []
    parts = partition(diff)
    if parts:
        base = f"Parts of the device's time, {_added_per(diff)} They add up."
        blocks.append(TableView("parts", "parts of the time", _BARS, _bar_rows(parts), 3, base=base))
    base = f"Added durations of device work, {per}; kernels that run at once count each."
    blocks.append(TableView("categories", "categories", _BARS, _bar_rows(categories(diff)), 3, base=base))
    return SectionView("change", "Where the time went", "", tuple(blocks))


def _added_per(diff: Diff) -> str:
    """Say what added time is told of: equal numbers of calls are a matter of single rows, never of all time."""
    if diff.per == "step":
        return "per complete step: totals divided by the steps, where headlines are medians."
    return "of the whole runs, however many calls they made."


def _bar_rows(bars: Iterable[Bar]) -> tuple[tuple[Cell, ...], ...]:
    ordered = sorted(bars, key=lambda b: -abs(b.delta))
    return tuple((shown(b.label, LABEL_LIMIT), float(b.base), float(b.new), float(b.delta)) for b in ordered)


def _idle_bars(diff: Diff) -> list[Bar]:
    """Return idle time by cause in the order of its table."""
    return sorted((b for b in causes(diff) if b.base or b.new), key=lambda b: -abs(b.delta))


def idle_section(diff: Diff) -> SectionView:
    """Show idle time by cause on both sides."""
    bars = _idle_bars(diff)
    if not bars:
        return SectionView(
            "idle", "Idle time", empty="No idle time is recorded on both sides; a saved run keeps no causes."
        )
    note = "Gaps by cause. One run a side proves little about idle time: the next capture of the same program may differ by much."
    return SectionView(
        "idle",
        "Idle time",
        note,
        (
            TableView(
                "idle",
                "causes of idle time",
                _BARS,
                _bar_rows(bars),
                3,
                base=f"Idle time, {_added_per(diff)}",
            ),
        ),
    )


def calls_section(diff: Diff) -> SectionView:
    """Show the host calls whose number changed."""
    found = calls(diff)[:_MOST_CALLS]
    if not found:
        why = "Launches, synchronisations and other runtime calls are as many on both sides, or a side is a saved run."
        return SectionView("calls", "Host calls", empty=why)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            shown(c.name, LABEL_LIMIT),
            shown(c.op, LABEL_LIMIT),
            *(float(v) for v in (c.base_calls, c.new_calls, c.new_calls - c.base_calls)),
            *(float(v) for v in (c.base, c.new, c.new - c.base)),
        )
        for c in found
    )
    columns = _calls(whole_numbers(v for c in found for v in (c.base_calls, c.new_calls)))
    note = "Runtime calls by name and operator whose number differs."
    return SectionView("calls", "Host calls", note, (TableView("calls", "host calls", columns, rows, 4),))


def _calls(whole: bool) -> tuple[Column, ...]:
    form: Form = "count" if whole else "number"
    change: Form = "change_count" if whole else "change_number"
    return (
        Column("name", "Host call", "text"),
        Column("op", "Under operator", "text"),
        Column("base_calls", "Base calls", form),
        Column("new_calls", "New calls", form),
        Column("calls", "Change of calls", change, bar=True),
        Column("base", "Base ms", "ms", "time of these calls on the host", hidden=True),
        Column("new", "New ms", "ms", "time of these calls on the host", hidden=True),
        Column("delta", "Change ms", "change_ms", "of the time of these calls on the host"),
    )


def environment_section(diff: Diff) -> SectionView:
    """Show every condition that was compared, first and apart those that differ."""
    ordered = sorted(diff.comparability.conditions, key=lambda c: c.weight != REFUSED)
    differ = [c for c in ordered if not c.alike or c.weight != FINE]
    alike = [c for c in ordered if c.alike and c.weight == FINE]
    note = f"The two runs: {diff.comparability.verdict}."
    if diff.structure:
        note += (
            " The programs differ in structure: " + "; ".join(shown(s, 200) for s in diff.structure[:5]) + "."
        )
    blocks: list[Block] = []
    if differ:
        rows = tuple((*_condition(c), _WEIGHTS[c.weight], shown(c.sentence, 300)) for c in differ)
        blocks.append(TableView("environment", "conditions that differ", _DIFFERS, rows, 0))
    else:
        note += " No condition that was compared differs."
    if alike:
        rows = tuple(_condition(c) for c in alike)
        blocks.append(TableView("alike", "conditions that are alike", _ALIKE, rows, 0, page=10))
    return SectionView("environment", "Comparable?", note, tuple(blocks))


def _condition(condition: Condition) -> tuple[Cell, ...]:
    name = f"{condition.key} (expected)" if condition.expected else condition.key
    return (name, shown(condition.base, 300), shown(condition.new, 300))


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
