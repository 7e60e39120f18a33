"""Compare two rows of the table of runs: may they be compared, and is the difference larger than the spread."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from traceview.capture.runs import Run
from traceview.diff.statistics import T95, Interval, centre, difference
from traceview.errors import InputError, UsageError

KIND = "kind"  # of a row, which differs as a condition does


@dataclass(frozen=True)
class Compared:
    """Hold two runs, what differs in their conditions, and the difference of their medians in ns.

    A condition that one side alone notes is unknown on the other, not unequal. The interval holds the difference
    with 95 %; runs of several processes widen it by the spread between these.
    """

    base: Run
    new: Run
    unequal: dict[str, tuple[str, str]]
    one_sided: dict[str, tuple[str | None, str | None]]
    centres: tuple[float, float]
    interval: Interval
    processes: tuple[int, int]

    def refused(self, expected: Collection[str]) -> list[str]:
        """Return the conditions that differ and were not expected to; what is no condition cannot be expected."""
        known = sorted({KIND, *self.base.conditions, *self.new.conditions})
        for name in expected:
            if name not in known:
                raise UsageError(
                    f"--expect {name}: no condition of these runs", f"use one of {', '.join(known)}"
                )
        return [k for k in self.unequal if k not in expected]

    @property
    def is_real(self) -> bool:
        """Tell whether the difference is larger than the spread; one process a side cannot tell."""
        return self.interval.excludes_zero and min(self.processes) > 1

    @property
    def relative(self) -> tuple[float, float, float] | None:
        """Return the difference and its interval as shares of the base, None where that took no time.

        The interval ends at -1: whatever the spread says, no time is below zero.
        """
        base = self.centres[0]
        if not base:
            return None
        estimate, low, high = (part / base for part in self.interval)
        return estimate, max(low, -1.0), high

    @property
    def margin(self) -> float | None:
        """Return the share of the base that a change must exceed to be told from the spread; None where unknown."""
        base, (estimate, low, high) = self.centres[0], self.interval
        if not base or min(self.processes) < 2:
            return None
        return max(estimate - low, high - estimate) / base


def compare_runs(base: Run, new: Run) -> Compared:
    """Return what differs between two runs."""
    sides = []
    for run in (base, new):
        arrays = [np.asarray(s, np.int64) for s in run.samples if len(s)]
        if not arrays and "failed" in run.notes:
            raise InputError(f"run {run.id} failed: {run.notes['failed']}", "compare runs that were timed")
        if not arrays:
            raise InputError(f"run {run.id} has no samples", "compare runs of 'traceview bench'")
        sides.append(arrays)
    keys = dict.fromkeys([*base.conditions, *new.conditions])
    pairs = {k: (base.conditions.get(k), new.conditions.get(k)) for k in keys}
    unequal = {k: (a, b) for k, (a, b) in pairs.items() if a is not None and b is not None and a != b}
    if base.kind != new.kind:
        unequal[KIND] = (base.kind, new.kind)
    return Compared(
        base, new, unequal, {k: p for k, p in pairs.items() if None in p},
        (centre(sides[0]), centre(sides[1])), difference(sides[0], sides[1], T95), (len(sides[0]), len(sides[1])),
    )  # fmt: skip
