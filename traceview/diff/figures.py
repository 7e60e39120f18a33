"""What changed between two groups of work: Δ, split into more calls and slower calls, adding up to the nanosecond.

Figures are per unit: a compared step, or the whole run. Totals divided by units add up;
medians do not, and serve tests and headlines only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from traceview.diff.matching import Group
from traceview.diff.side import Measured


@dataclass(frozen=True)
class Change:
    """Hold totals and calls of both sides per unit (ns, count), and the split of Δ; all exact."""

    base: Fraction
    new: Fraction
    base_calls: Fraction
    new_calls: Fraction

    @property
    def delta(self) -> Fraction:
        """Return new − base, in ns per unit."""
        return self.new - self.base

    @property
    def calls_effect(self) -> Fraction:
        """Return what the other number of calls explains: Δcalls × (m₀ + m₁)/2, m the mean of a call."""
        return (self.new_calls - self.base_calls) * (self._mean(0) + self._mean(1)) / 2

    @property
    def mean_effect(self) -> Fraction:
        """Return what slower or faster calls explain: the rest."""
        return self.delta - self.calls_effect

    def _mean(self, side: int) -> Fraction:
        """Return the mean of a call; a side without calls takes the other's, so that all of Δ is calls."""
        sums, calls = (self.base, self.new), (self.base_calls, self.new_calls)
        if not calls[side]:
            side = 1 - side
        return sums[side] / calls[side] if calls[side] else Fraction(0)

    def at_equal_calls(self) -> Change:
        """Return the change as if both sides had made the mean number of calls: what slower calls explain.

        What only one side has stays as it is.
        """
        if not self.base_calls or not self.new_calls:
            return self
        calls = (self.base_calls + self.new_calls) / 2
        return Change(self._mean(0) * calls, self._mean(1) * calls, calls, calls)


def change(group: Group, base: Measured, new: Measured) -> Change:
    """Return the change of a group of work."""
    figures = []
    for side, places in ((base, group.base), (new, group.new)):
        own = list(places)
        figures.append(Fraction(int(side.rows.sum[own].sum()), side.units))
        figures.append(Fraction(int(side.rows.calls[own].sum()), side.units))
    return Change(figures[0], figures[2], figures[1], figures[3])


def step_samples(places: tuple[int, ...], side: Measured) -> np.ndarray:
    """Return the time of a group in each compared step, in ns."""
    samples: np.ndarray = side.rows.step_sum[list(places)].sum(axis=0).astype(np.int64)
    return samples


def call_samples(places: tuple[int, ...], side: Measured) -> np.ndarray:
    """Return the single durations of a group, in ns; none for a saved run."""
    parts = [side.rows.durations[i] for i in places] if side.rows.durations else []
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
