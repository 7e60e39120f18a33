"""Compare two runs: match their work, say what changed, test it, and say whether they may be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from traceview.diff.claims import Floor, Judged, Judgement, Runs, judge_headlines, judge_rows, structure
from traceview.diff.comparability import (
    CARE,
    FINE,
    REFUSED,
    Comparability,
    Condition,
    Matched,
    check_expected,
    comparability,
)
from traceview.diff.figures import Change, change
from traceview.diff.matching import Group, KernelPair, match, pairs
from traceview.diff.merge import merge
from traceview.diff.side import Measured, Side
from traceview.errors import UsageError

PER = ("step", "call", "total")


@dataclass(frozen=True)
class Options:
    """Say how to compare: per what (None: steps where both have them), how to match, what is expected to differ."""

    per: str | None = None
    match: str = "auto"
    expected: Collection[str] = ()
    floor: Floor = field(default_factory=Floor)


@dataclass(frozen=True)
class Row:
    """Hold one group of work: what changed of it, its kernels, and whether that is claimed."""

    group: Group
    change: Change
    kernels: tuple[KernelPair, ...]
    judgement: Judgement


@dataclass(frozen=True)
class Diff:
    """Hold a comparison. `rows` are all work, largest |Δ| first; figures are per unit (`per`)."""

    base: Side
    new: Side
    per: str
    runs: Runs
    rows: tuple[Row, ...]
    headlines: Mapping[str, Judgement]
    tested: Judged
    comparability: Comparability
    structure: tuple[str, ...]

    @property
    def measured(self) -> tuple[Measured, Measured]:
        """Return what was measured of both sides, all runs together."""
        return self.runs.base_all, self.runs.new_all

    @property
    def claimed(self) -> tuple[Row, ...]:
        """Return the rows whose change is claimed."""
        return tuple(row for row in self.rows if row.judgement.claimed)


def compare(base: Sequence[Side], new: Sequence[Side], options: Options | None = None) -> Diff:
    """Compare the runs of two sides; the first of each stands for it. Raises UsageError for impossible options."""
    options = options or Options()
    every = (*base, *new)
    per = _per(every, options.per)
    measured = [[_measured(side, per) for side in sides] for sides in (base, new)]
    runs = Runs(measured[0], measured[1], merge(measured[0]), merge(measured[1]), options.floor)
    left, right = runs.base_all, runs.new_all
    groups = match(left.rows, right.rows, options.match)
    changes = [change(group, left, right) for group in groups]
    if per == "call":
        changes = [c.at_equal_calls() for c in changes]
    tested = judge_rows(groups, changes, runs)
    rows = [
        Row(group, c, pairs(group, left.rows, right.rows), judgement)
        for group, c, judgement in zip(groups, changes, tested.judgements, strict=True)
    ]
    rows.sort(key=lambda r: (-abs(r.change.delta), r.group.label, r.group.node or ()))
    verdict = _comparable(base, new, runs, options.expected)
    headlines = judge_headlines(runs)
    if verdict.verdict == REFUSED:  # no statement about speed: a side without kernels is no improvement
        rows = [replace(row, judgement=_unclaimed(row.judgement)) for row in rows]
        headlines = {key: _unclaimed(judgement) for key, judgement in headlines.items()}
    return Diff(base[0], new[0], per, runs, tuple(rows), headlines, tested, verdict, structure(runs))


def comparable(base: Side, new: Side, stepped: bool) -> Comparability:
    """Return whether two runs may be compared, both measured per complete step or both whole."""
    return comparability(base, new, _matched(base.measured[stepped], new.measured[stepped]))


def _comparable(
    base: Sequence[Side], new: Sequence[Side], runs: Runs, expected: Collection[str]
) -> Comparability:
    """Return whether the sides may be compared, and whether all runs of each are runs of one program.

    That is a matter of the work, however it is asked to be matched.
    """
    check_expected((*base, *new), expected)
    found = comparability(base[0], new[0], _matched(runs.base_all, runs.new_all), expected)
    others = []
    for name, sides, measured in (("base", base, runs.base), ("new", new, runs.new)):
        for side, run in zip(sides[1:], measured[1:], strict=True):
            own = comparability(sides[0], side, _matched(measured[0], run), expected)
            if own.verdict != FINE and (own.verdict != found.verdict or own.verdict == REFUSED):
                why = f"another run of {name} ({side.label}): {'; '.join(own.reasons)}"
                others.append(
                    Condition(f"run of {name}", sides[0].label, side.label, False, own.verdict, why)
                )
    if not others:
        return found
    weights = {found.verdict, *(c.weight for c in others)}
    verdict = REFUSED if REFUSED in weights else CARE
    return replace(found, verdict=verdict, conditions=(*found.conditions, *others))


def _matched(left: Measured, right: Measured) -> Matched:
    return Matched(match(left.rows, right.rows), left, right)


def _unclaimed(judgement: Judgement) -> Judgement:
    return replace(judgement, claimed=False, reason="not comparable") if judgement.claimed else judgement


def _per(sides: Sequence[Side], asked: str | None) -> str:
    """Return what figures are per: steps where all have them; the whole run where all made as many kernel calls.

    Else calls: what is compared is the run as if both had made the mean number of calls.
    """
    if asked is not None and asked not in PER:
        raise UsageError(f"--per {asked!r} is unknown", f"use one of {', '.join(PER)}")
    stepped = all(side.samples for side in sides)
    if asked == "step" and not stepped:
        raise UsageError("--per step needs complete steps on both sides", "use --per call or --per total")
    if asked:
        return asked
    if stepped:
        return "step"
    calls = {side.conditions["kernels"] for side in sides}
    return "total" if len(calls) == 1 else "call"


def _measured(side: Side, per: str) -> Measured:
    return side.measured[per == "step"]
