"""Is a difference larger than the noise: intervals, rank tests, and many of them at once.

Times are in ns. Each side's random numbers come from its own samples: swapping the sides negates every
difference and interval exactly, and a run against itself gives zero, whatever the order of its steps.
Sources: Efron's percentile bootstrap; Mann and Whitney 1947; Benjamini and Hochberg 1995.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 999  # odd, so that a percentile is one of them
LEVEL = 0.95
FALSE_DISCOVERY = 0.05
_EXACT = 40  # samples on both sides together up to which the rank test counts every split
# Student's t, two-sided, by degrees of freedom, the last for more: few runs tell their own spread badly. 95 % gives
# intervals of LEVEL for one question; where many are asked of the same runs, 98 and 99 % keep false claims rare
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.0)
T98 = (31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764, 2.718, 2.681, 2.650, 2.624, 2.5)
T99 = (63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.8)

Runs = Sequence[np.ndarray]  # one array of samples per run


class Interval(NamedTuple):
    """Hold a difference, new − base, and the interval in which it lies with LEVEL."""

    estimate: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Tell whether the interval lies on one side of zero."""
        return self.low > 0 or self.high < 0


def centre(runs: Runs) -> float:
    """Return the median over runs of the median of each."""
    return float(np.median([np.median(run) for run in runs]))


def difference(base: Runs, new: Runs, student: Sequence[float] = T99) -> Interval:
    """Return the difference of the centres with a bootstrap interval: runs are drawn, then steps of them.

    A few runs drawn from themselves vary too little, so the interval is no narrower than their spread says
    by Student's t.
    Every run must have a sample.
    """
    drawn = np.sort(_drawn(new) - _drawn(base))
    tail = (RESAMPLES + 1) * (1 - LEVEL) / 2  # of 999 the 25th from either end
    at = math.floor(tail) - 1
    estimate, low, high = centre(new) - centre(base), float(drawn[at]), float(drawn[-1 - at])
    spread = spread_of_runs(base, new, student) or 0.0
    return Interval(estimate, min(low, estimate - spread), max(high, estimate + spread))


def _drawn(runs: Runs) -> np.ndarray:
    """Return the centres of resampled runs."""
    ordered = sorted((np.sort(np.asarray(run, np.int64)) for run in runs), key=lambda r: r.tobytes())
    random = np.random.default_rng(_seed(ordered))
    count = len(ordered)
    medians = np.stack([_medians(run, random, RESAMPLES * count) for run in ordered])
    if count == 1:
        return np.asarray(medians[0])
    medians = medians.reshape(count, RESAMPLES, count)
    which = random.integers(0, count, (RESAMPLES, count))
    draw, place = np.ogrid[:RESAMPLES, :count]
    return np.asarray(np.median(medians[which, draw, place], axis=1))


def _medians(ordered: np.ndarray, random: np.random.Generator, draws: int) -> np.ndarray:
    """Return medians of resamples: which order statistic a resample's median is follows from Beta variates."""
    size = len(ordered)
    middle = (size + 1) // 2
    place = random.beta(middle, size + 1 - middle, draws)
    values = ordered[np.minimum((place * size).astype(np.int64), size - 1)].astype(float)
    if size % 2:
        return np.asarray(values)
    place += (1 - place) * random.beta(1, size - middle, draws)
    return np.asarray((values + ordered[np.minimum((place * size).astype(np.int64), size - 1)]) / 2)


def _seed(ordered: Sequence[np.ndarray]) -> int:
    digest = hashlib.sha256(b"|".join(run.tobytes() for run in ordered)).digest()
    return int.from_bytes(digest[:8], "big")


def rank_test(base: np.ndarray, new: np.ndarray) -> float:
    """Return the two-sided p of Mann and Whitney's rank test: exact for few samples, ties included."""
    both = np.concatenate((base, new))
    if not len(base) or not len(new) or both.min() == both.max():
        return 1.0
    ranks = _doubled_ranks(both)
    stat = int(ranks[: len(base)].sum())
    middle = len(base) * (len(both) + 1)  # of the doubled rank sum
    if len(both) <= _EXACT:
        ways = _rank_sums(ranks, len(base))
        sums = np.arange(len(ways))
        extreme = ways[np.abs(sums - middle) >= abs(stat - middle)].sum()
        return min(1.0, float(extreme / ways.sum()))
    _, ties = np.unique(both, return_counts=True)
    n, m, total = len(base), len(new), len(both)
    spread = (
        n * m / 12 * ((total + 1) - float((ties.astype(float) ** 3 - ties).sum()) / (total * (total - 1)))
    )
    if spread <= 0:
        return 1.0
    z = max(0.0, abs(stat - middle) / 2 - 0.5) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2))


def _doubled_ranks(values: np.ndarray) -> np.ndarray:
    """Return twice the mid-ranks, so that ties have whole numbers."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    doubled: np.ndarray = (2 * last - counts + 1)[inverse.reshape(-1)]
    return doubled


def _rank_sums(ranks: np.ndarray, chosen: int) -> np.ndarray:
    """Return in how many ways `chosen` of the ranks add up to each sum."""
    top = int(np.sort(ranks)[-chosen:].sum())
    ways = np.zeros((chosen + 1, top + 1))
    ways[0, 0] = 1
    for rank in ranks.tolist():
        for k in range(chosen, 0, -1):
            if rank <= top:
                ways[k, rank:] += ways[k - 1, : top + 1 - rank]
    return np.asarray(ways[chosen])


def discoveries(p: Sequence[float], level: float = FALSE_DISCOVERY) -> np.ndarray:
    """Return which of many tests hold, at most `level` of them by chance (bool per test)."""
    values = np.asarray(p, float)
    if not len(values):
        return np.zeros(0, bool)
    order = np.argsort(values, kind="stable")
    passed = np.flatnonzero(values[order] <= level * np.arange(1, len(values) + 1) / len(values))
    found = np.zeros(len(values), bool)
    if len(passed):
        found[order[: passed[-1] + 1]] = True
    return found


def smallest_p(base: int, new: int) -> float:
    """Return the smallest p that the rank test can give for so many samples."""
    return min(1.0, 2 / math.comb(base + new, base))


def can_be_told(base: int, new: int, rows: int) -> bool:
    """Tell whether so many samples can single out one of so many rows at all."""
    return smallest_p(base, new) <= FALSE_DISCOVERY / max(rows, 1)


def samples_needed(rows: int) -> int:
    """Return how many samples on each side would do for so many rows."""
    count = 1
    while not can_be_told(count, count, rows):
        count += 1
    return count


def spread_of_runs(base: Runs, new: Runs, student: Sequence[float] = T99) -> float | None:
    """Return by how much the difference of two or more runs a side varies by Student's t; None with fewer runs.

    Student's t for the difference of the means of run medians, spreads pooled.
    """
    freedom = len(base) + len(new) - 2
    if min(len(base), len(new)) < 2:
        return None
    squares = sum(float(np.var([np.median(r) for r in side])) * len(side) for side in (base, new))
    error = math.sqrt(squares / freedom * (1 / len(base) + 1 / len(new)))
    return error * student[min(freedom, len(student)) - 1]
