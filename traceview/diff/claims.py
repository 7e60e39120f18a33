"""Which changes are claimed: larger than the floor, and larger than what noise explains.

A row of work, or a headline, is claimed when its interval excludes zero, its rank test holds among all
that were tested, and |Δ| is above the floor. One run of a program differs from the next by some percent
of kernel time and by much more of idle time, so: one run a side has a high floor, and its idle time is
claimed only where the host did something else (structure). More runs a side lower the floor to what
they show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from traceview.diff.figures import Change, call_samples, step_samples
from traceview.diff.matching import Group
from traceview.diff.merge import by_run
from traceview.diff.side import Measured
from traceview.diff.statistics import (
    LEVEL,
    T98,
    T99,
    Interval,
    can_be_told,
    centre,
    difference,
    discoveries,
    rank_test,
    samples_needed,
)

FEWEST_STEPS = 4  # compared steps a side, to test them
FEWEST_CALLS = 8  # calls a side, to test them where there are too few steps
LEAST_SHARE = 0.005  # of all device time: smaller rows are not tested
MOST_TESTED = 100
STRUCTURE = 0.01  # relative difference of a count from which the host did something else


@dataclass(frozen=True)
class Floor:
    """Hold below what no change is claimed: share of itself, share of step time, and ns."""

    own: float = 0.05
    step: float = 0.01
    ns: float = 10_000.0

    def above(self, delta: float, base: float, step: float) -> bool:
        """Tell whether a change is above the floor."""
        return abs(delta) > max(self.own * abs(base), self.step * abs(step), self.ns)


@dataclass(frozen=True)
class Judgement:
    """Hold how a change was tested: its interval and p, on steps or calls; None where it could not be."""

    by: str = ""  # "step", "call" or ""
    base: float = 0.0  # centre of the samples, ns
    new: float = 0.0
    interval: Interval | None = None
    p: float | None = None
    claimed: bool = False
    reason: str = ""  # why not, or why

    @property
    def delta(self) -> float:
        """Return the difference of the centres."""
        return self.interval.estimate if self.interval else self.new - self.base


@dataclass(frozen=True)
class Runs:
    """Hold the runs of both sides, and the same as one measurement each."""

    base: Sequence[Measured]
    new: Sequence[Measured]
    base_all: Measured
    new_all: Measured
    floor: Floor = field(default_factory=Floor)

    @property
    def single(self) -> bool:
        """Tell whether a side was run only once."""
        return min(len(self.base), len(self.new)) < 2

    @property
    def enough_steps(self) -> bool:
        """Tell whether both sides have steps enough to test them."""
        return min(len(m.steps) for m in (*self.base, *self.new)) >= 1 and (
            min(len(self.base_all.steps), len(self.new_all.steps)) >= FEWEST_STEPS
        )


@dataclass(frozen=True)
class Judged:
    """Hold the tests of all rows, how many were asked, and how many samples would do where too few were there."""

    judgements: tuple[Judgement, ...]
    rows: int
    needed: int | None


def judge_rows(groups: Sequence[Group], changes: Sequence[Change], runs: Runs) -> Judged:
    """Judge the largest rows at once."""
    whole = sum(float(max(c.base, c.new)) for c in changes)
    size = [float(max(c.base, c.new)) for c in changes]
    asked = [
        i for i in np.argsort([-s for s in size], kind="stable").tolist() if size[i] >= LEAST_SHARE * whole
    ]
    asked = asked[:MOST_TESTED]
    step = _step_time(runs)
    tests: list[Judgement] = [Judgement(reason="too small to be tested")] * len(groups)
    for i in asked:
        tests[i] = _row(groups[i], runs)
    tested = [i for i in asked if tests[i].p is not None]
    told = discoveries([tests[i].p or 0.0 for i in tested])
    needed = None
    for holds, i in zip(told.tolist(), tested, strict=True):
        counts = _counts(tests[i], groups[i], runs)
        if not can_be_told(*counts, len(tested)):
            needed = samples_needed(len(tested))
            tests[i] = replace(tests[i], reason=f"too few samples: {needed} a side would do")
            continue
        base = float(changes[i].base) if tests[i].by == "call" else tests[i].base
        delta = float(changes[i].delta) if tests[i].by == "call" else tests[i].delta
        tests[i] = _judged(tests[i], holds, _floor(tests[i].by, runs).above(delta, base, step))
        if tests[i].claimed and tests[i].delta * changes[i].delta <= 0:  # some steps outweigh the typical one
            tests[i] = replace(tests[i], claimed=False, reason="medians and totals differ in direction")
    return Judged(tuple(tests), len(tested), needed)


def _counts(judgement: Judgement, group: Group, runs: Runs) -> tuple[int, int]:
    if judgement.by == "step":
        return len(runs.base_all.steps), len(runs.new_all.steps)
    return len(call_samples(group.base, runs.base_all)), len(call_samples(group.new, runs.new_all))


def _row(group: Group, runs: Runs) -> Judgement:
    if runs.enough_steps:
        return _tested("step", *_by_run(group, runs), T98)  # rows are held to many tests at once, too
    samples = [call_samples(p, side) for p, side in ((group.base, runs.base_all), (group.new, runs.new_all))]
    if min(map(len, samples)) < FEWEST_CALLS:
        return Judgement(reason="measured once")
    return _tested("call", [samples[0]], [samples[1]])


def _by_run(group: Group, runs: Runs) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return (
        by_run(step_samples(group.base, runs.base_all), runs.base),
        by_run(step_samples(group.new, runs.new_all), runs.new),
    )


def _tested(
    by: str, base: Sequence[np.ndarray], new: Sequence[np.ndarray], student: Sequence[float] = T99
) -> Judgement:
    interval = difference(base, new, student)
    p = rank_test(np.concatenate(base), np.concatenate(new))
    return Judgement(by, centre(base), centre(new), interval, p)


def _judged(judgement: Judgement, holds: bool, above: bool) -> Judgement:
    excluded = judgement.interval is not None and judgement.interval.excludes_zero
    if not excluded or not holds:
        return replace(judgement, reason="noise could explain it")
    if not above:
        return replace(judgement, reason="below the floor")
    return replace(judgement, claimed=True, reason="larger than the noise")


def _floor(by: str, runs: Runs) -> Floor:
    """Return the floor: with several runs a side, whose spread the intervals hold, a tenth of it."""
    if by != "step" or runs.single:
        return runs.floor
    return replace(runs.floor, own=runs.floor.own / 10, step=runs.floor.step / 10)


def _step_time(runs: Runs) -> float:
    """Return the base's step time in ns, else its device time per unit."""
    if runs.base_all.by_step and "step_time" in runs.base_all.headlines:
        return float(np.median(runs.base_all.headlines["step_time"]))
    return float(runs.base_all.rows.sum.sum()) / max(runs.base_all.units, 1)


def judge_headlines(runs: Runs) -> Mapping[str, Judgement]:
    """Judgement the headlines that both sides have; idle time of single runs needs a change of structure."""
    left, right = runs.base_all.headlines, runs.new_all.headlines
    found: dict[str, Judgement] = {}
    for key in (k for k in left if k in right):
        base, new = by_run(left[key], runs.base), by_run(right[key], runs.new)
        if key in COUNTS and runs.enough_steps:
            judgement = _tested("step", base, new)
            found[key] = _judged(judgement, (judgement.p or 0.0) <= 1 - LEVEL, judgement.delta != 0)
        else:
            found[key] = judge_samples(left[key], right[key], runs)
    return _with_structure(found, runs)


def judge_samples(base: np.ndarray, new: np.ndarray, runs: Runs) -> Judgement:
    """Judge one quantity of which there is a sample per compared step, such as the time of some kernels."""
    left, right = by_run(base, runs.base), by_run(new, runs.new)
    if not runs.enough_steps:
        return Judgement("", centre(left), centre(right), reason="measured once")
    judgement = _tested("step", left, right)
    above = _floor("step", runs).above(judgement.delta, judgement.base, _step_time(runs))
    return _judged(judgement, (judgement.p or 0.0) <= 1 - LEVEL, above)


COUNTS = ("kernels", "launches", "syncs")
_OF_HOST = ("gpu_idle", "wall", "launch_cpu")


def _with_structure(found: dict[str, Judgement], runs: Runs) -> dict[str, Judgement]:
    """Take back what is said of the host of runs measured once where the program did the same: gates too."""
    if not runs.single or structure(runs):
        return found
    once = "measured once: without another structure it may be another day's host"
    for key in _OF_HOST:
        if key in found and found[key].delta:
            found[key] = replace(found[key], claimed=False, reason=once)
    if "step_time" in found and found["step_time"].delta and not _by_busy(found):
        found["step_time"] = replace(found["step_time"], claimed=False, reason=once)
    return found


def _by_busy(found: Mapping[str, Judgement]) -> bool:
    """Tell whether busy time alone, which is claimed, explains half of the change of step time or more."""
    busy, step = found.get("gpu_busy"), found["step_time"]
    return busy is not None and busy.claimed and busy.delta * step.delta > 0 and (
        2 * abs(busy.delta) >= abs(step.delta)
    )  # fmt: skip


def structure(runs: Runs) -> tuple[str, ...]:
    """Return in what the programs differ: counts per step, or names of ranges; numbers in names are left out.

    What a side does not know, such as a saved run its ranges, is no difference.
    """
    found = []
    sides = (runs.base_all, runs.new_all)
    for key in COUNTS:
        values = [
            float(np.median(side.headlines[key])) if key in side.headlines
            else side.totals[key] / max(side.units, 1) if key in side.totals else None
            for side in sides
        ]  # fmt: skip
        left, right = values
        if (
            left is not None
            and right is not None
            and abs(right - left) > max(STRUCTURE * max(left, right), 0.5)
        ):
            found.append(f"{key}: {left:,.0f} → {right:,.0f}")
    if not any(side.abridged for side in sides):
        names = [{_plain(n) for n in side.ranges} for side in sides]
        for text, only in (("gone", names[0] - names[1]), ("new", names[1] - names[0])):
            found += [f"{text} range: {name}" for name in sorted(only)]
    return tuple(found)


def _plain(name: str) -> str:
    return "".join("#" if c.isdigit() else c for c in name)
