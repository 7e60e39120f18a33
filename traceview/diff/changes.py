"""Who did it: the change of a step as a waterfall, and in sentences, largest first.

A sentence has numbers of both sides. It claims nothing that was not tested: what noise could explain
says so, and counts are facts of these two runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from traceview.diff.claims import Judgement
from traceview.diff.comparability import REFUSED
from traceview.diff.compare import Diff, Row
from traceview.diff.side import Calls, Measured
from traceview.units import duration, share, shown

SENTENCES = 8
LEAST = 0.005  # of step time: smaller changes are no sentence
_PARTS = (
    ("compute", "compute"), ("exposed_comm", "exposed communication"), ("exposed_copy", "exposed copies and fills"),
    ("gpu_idle", "idle"),
)  # fmt: skip


@dataclass(frozen=True)
class Bar:
    """Hold one bar of a waterfall: both sides and Δ, in ns per unit; the bars add up."""

    label: str
    base: Fraction
    new: Fraction

    @property
    def delta(self) -> Fraction:
        """Return new − base."""
        return self.new - self.base


@dataclass(frozen=True)
class Statement:
    """Hold a sentence, the ns per unit that it is about, and whether it is claimed.

    `about` is what it is about: a row of work, a bar of idle time, calls, or the key of a headline; `name` is
    what the sentence calls it.
    """

    text: str
    delta: float
    claimed: bool
    about: Row | Bar | CallChange | str = ""
    name: str = ""


@dataclass(frozen=True)
class CallChange:
    """Hold how calls of the host changed: their name, the operator around them, both sides per unit."""

    name: str
    op: str
    kind: str
    base_calls: Fraction
    new_calls: Fraction
    base: Fraction
    new: Fraction


def partition(diff: Diff) -> tuple[Bar, ...]:
    """Return the parts of the time (of steps where figures are per step) on both sides; they add up to it."""
    left, right = diff.measured
    return tuple(
        Bar(label, _per_unit(left, key), _per_unit(right, key))
        for key, label in _PARTS
        if key in left.totals and key in right.totals
    )


def categories(diff: Diff) -> tuple[Bar, ...]:
    """Return the added durations of device work by category, most changed first."""
    sums: dict[str, list[Fraction]] = {}
    if diff.per == "call":  # as if both had made as many calls: the rows say how much
        for row in diff.rows:
            left = sums.setdefault(_category(row, diff), [Fraction(0), Fraction(0)])
            left[0] += row.change.base
            left[1] += row.change.new
    else:
        for side, measured in enumerate(diff.measured):
            for work, ns in zip(measured.rows.rows, measured.rows.sum.tolist(), strict=True):
                sums.setdefault(work.category, [Fraction(0), Fraction(0)])[side] += Fraction(
                    ns, measured.units
                )
    bars = (Bar(label, *values) for label, values in sums.items())
    return tuple(sorted(bars, key=lambda bar: (-abs(bar.delta), bar.label)))


def _category(row: Row, diff: Diff) -> str:
    places, side = (row.group.base, 0) if row.group.base else (row.group.new, 1)
    return diff.measured[side].rows.rows[places[0]].category


def causes(diff: Diff) -> tuple[Bar, ...]:
    """Return idle time by cause, most changed first."""
    left, right = diff.measured
    bars = (
        Bar(cause, Fraction(left.causes[cause], left.units), Fraction(right.causes[cause], right.units))
        for cause in left.causes
        if cause in right.causes  # a saved run has none
    )
    return tuple(sorted(bars, key=lambda bar: -abs(bar.delta)))


def calls(diff: Diff) -> tuple[CallChange, ...]:
    """Return the host calls whose number changed, most changed first; none where a side is a saved run."""
    if diff.base.analysis is None or diff.new.analysis is None:
        return ()
    left, right = (_summed(m.calls, m.units) for m in diff.measured)
    none = (Fraction(0), Fraction(0))
    found = [
        CallChange(*key, left.get(key, none)[0], right.get(key, none)[0], left.get(key, none)[1], right.get(key, none)[1])
        for key in dict.fromkeys([*left, *right])
    ]  # fmt: skip
    changed = [c for c in found if c.base_calls != c.new_calls]
    return tuple(sorted(changed, key=lambda c: (-abs(c.new_calls - c.base_calls), c.name, c.op)))


def _summed(table: Calls, units: int) -> dict[tuple[str, str, str], tuple[Fraction, Fraction]]:
    found: dict[tuple[str, str, str], tuple[Fraction, Fraction]] = {}
    for call, number, ns in zip(table.rows, table.calls.tolist(), table.sum.tolist(), strict=True):
        key = (call.name, call.op, call.kind)
        held = found.get(key, (Fraction(0), Fraction(0)))
        found[key] = (held[0] + Fraction(number, units), held[1] + Fraction(ns, units))
    return found


def _per_unit(measured: Measured, key: str) -> Fraction:
    return Fraction(measured.totals[key], measured.units)


def statements(diff: Diff) -> tuple[Statement, ...]:
    """Return what changed, in sentences: the largest first, at most SENTENCES."""
    floor = LEAST * float(sum((bar.base for bar in partition(diff)), Fraction(0)))
    found = [*_headline(diff), *_idle(diff), *_rows(diff), *_calls(diff)]
    kept = [s for s in found if s.claimed or abs(s.delta) >= floor]
    kept.sort(key=lambda s: (not s.claimed, -abs(s.delta)))
    return tuple(kept[:SENTENCES])


def signed(ns: float | Fraction) -> str:
    """Return a change of time with its sign."""
    return f"{'+' if ns > 0 else '−' if ns < 0 else '±'}{duration(abs(float(ns)))}"


def _unit(diff: Diff) -> str:
    return " per step" if diff.per == "step" else ""


def _change(base: float | Fraction, new: float | Fraction) -> str:
    if base == new:
        return f"unchanged: {duration(float(base))}"
    part = f" ({'+' if new > base else '−'}{share(abs(float((new - base) / base)))})" if base else ""
    return f"{signed(new - base)}{part}: {duration(float(base))} → {duration(float(new))}"


def _doubt(judgement: Judgement | None) -> str:
    return "" if judgement is None or judgement.claimed else f" ({judgement.reason})"


def verdict(diff: Diff) -> str:
    """Return the comparison in one sentence."""
    if diff.comparability.verdict == REFUSED:
        return f"Not comparable: {'; '.join(diff.comparability.reasons)}."
    for key, name in (("step_time", "Step time"), ("kernel_time", "GPU kernel time")):
        found = diff.headlines.get(key)
        if found is not None:
            return f"{name} {_change(found.base, found.new)}{_doubt(found) if found.delta else ''}."
    left, right = (
        sum((b.base for b in categories(diff)), Fraction(0)),
        sum((b.new for b in categories(diff)), Fraction(0)),
    )
    return f"GPU work {_change(left, right)} (measured once)."


def _headline(diff: Diff) -> Iterable[Statement]:
    for key, name in (("step_time", "Step time"), ("gpu_busy", "GPU busy time")):
        found = diff.headlines.get(key)
        if found is not None and found.delta:
            text = f"{name} {_change(found.base, found.new)}{_doubt(found)}."
            yield Statement(text, found.delta, found.claimed, key, name)


def _idle(diff: Diff) -> Iterable[Statement]:
    judgement = diff.headlines.get("gpu_idle")
    for bar in causes(diff):
        if bar.delta:
            text = f"Idle time by {bar.label} {_change(bar.base, bar.new)}{_unit(diff)}{_doubt(judgement)}."
            large = judgement is not None and judgement.claimed and 4 * abs(bar.delta) >= abs(judgement.delta)
            # a claim about idle time is one about its large parts
            yield Statement(text, float(bar.delta), large, bar, bar.label)


def _rows(diff: Diff) -> Iterable[Statement]:
    for row in diff.rows:
        change = row.change
        if not change.delta:
            continue
        name = shown(row.group.label, 80)
        if not change.base_calls or not change.new_calls:
            state = "New" if change.new_calls else "Gone"
            text = f"{state}: {name}, {signed(change.delta)}{_unit(diff)}{_doubt(row.judgement)}."
        else:
            split = ""
            if change.calls_effect and change.mean_effect:
                split = f"; {signed(change.calls_effect)} by the number of calls, {signed(change.mean_effect)} by their length"
            text = f"{name} {_change(change.base, change.new)}{_unit(diff)}{split}{_doubt(row.judgement)}."
        yield Statement(text, float(change.delta), row.judgement.claimed, row, name)


def _calls(diff: Diff) -> Iterable[Statement]:
    if diff.per == "call":
        return
    for call in calls(diff):
        number = call.new_calls - call.base_calls
        under = f" under {shown(call.op, 80)}" if call.op else ""
        name = shown(call.name, 80)
        sign = "+" if number > 0 else "−"
        text = f"{sign}{_number(abs(number))} {name}{_unit(diff)}{under}: {signed(call.new - call.base)} on the host."
        yield Statement(text, float(call.new - call.base), False, call, name)


def _number(value: Fraction) -> str:
    return f"{float(value):,.0f}" if value.denominator == 1 else f"{float(value):,.1f}"
