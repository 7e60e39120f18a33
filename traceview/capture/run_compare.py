"""Compare two rows of the table of runs: may they be compared, and is the difference larger than the spread."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from traceview.capture.runs import Run
from traceview.diff.statistics import T95, Interval, centre, difference
from traceview.errors import InputError


@dataclass(frozen=True)
class Compared:
    """Hold two runs, what differs in their conditions, and the difference of their medians in ns.

    The interval holds the difference with 95 %; runs of several processes widen it by the spread between these.
    """

    base: Run
    new: Run
    unequal: dict[str, tuple[str, str]]
    centres: tuple[float, float]
    interval: Interval
    processes: tuple[int, int]

    def refused(self, expected: Collection[str]) -> list[str]:
        """Return the conditions that differ and were not expected to."""
        return [k for k in self.unequal if k not in expected]

    @property
    def is_real(self) -> bool:
        """Tell whether the difference is larger than the spread; one process a side cannot tell."""
        return self.interval.excludes_zero and min(self.processes) > 1

    @property
    def relative(self) -> tuple[float, float, float]:
        """Return the difference and its interval as shares of the base."""
        base = self.centres[0]
        return self.interval.estimate / base, self.interval.low / base, self.interval.high / base


def compare_runs(base: Run, new: Run) -> Compared:
    """Return what differs between two runs."""
    sides = []
    for run in (base, new):
        arrays = [np.asarray(s, np.int64) for s in run.samples if len(s)]
        if not arrays:
            raise InputError(f"run {run.id} has no samples", "compare runs of 'traceview bench'")
        sides.append(arrays)
    keys = list(dict.fromkeys([*base.conditions, *new.conditions]))
    pairs = {k: (base.conditions.get(k, "not noted"), new.conditions.get(k, "not noted")) for k in keys}
    if base.kind != new.kind:
        pairs["kind"] = (base.kind, new.kind)
    return Compared(
        base, new, {k: p for k, p in pairs.items() if p[0] != p[1]},
        (centre(sides[0]), centre(sides[1])), difference(sides[0], sides[1], T95), (len(sides[0]), len(sides[1])),
    )  # fmt: skip
