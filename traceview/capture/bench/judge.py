"""Say what samples are worth: median, spread, and what makes a figure of them doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from traceview.units import share

FEWEST = 8  # samples, to say something of their shape; that the first one stands out, two tell
APART = 0.10  # share of the median by which two modes differ at least
# share of the variance that lies between two modes. Of many samples 0.64 for a normal, 0.75 for a flat distribution;
# few samples fall into two groups by chance more often, those of an exponential distribution most
SEPARATED, FEW_SAMPLES, CLEAR = 0.85, 1.1, 0.985
LEAST_MODE = 0.10  # share of the samples
DRIFT = 0.05  # share of the median by which the last third differs from the first
ORDERED = (
    2.8  # standard errors by which the rank correlation with time differs from none (Fisher's transformation)
)
LEAKED = 2.0  # times the median that a first sample takes


class Spread(NamedTuple):
    """Hold figures of one configuration, in ns and as shares of the median."""

    median: float
    p95: float
    within: float  # quartile distance of a run
    between: float | None  # largest less smallest median of runs; None with one run


def spread(runs: Sequence[Sequence[int]]) -> Spread:
    """Return median, 95th percentile and spreads of runs: medians over runs of each run's figure."""
    arrays = [np.asarray(run, float) for run in runs]
    medians = [float(np.median(a)) for a in arrays]
    median = float(np.median(medians))
    inside = [float(np.subtract(*np.percentile(a, (75, 25)))) for a in arrays]
    between = (max(medians) - min(medians)) / median if len(runs) > 1 else None
    return Spread(
        median,
        float(np.median([np.percentile(a, 95) for a in arrays])),
        float(np.median(inside)) / median,
        between,
    )


def doubts(runs: Sequence[Sequence[int]]) -> list[str]:
    """Return what is odd about the samples: of what is odd in several runs, the one in which it is most."""
    worst: dict[str, tuple[float, str]] = {}
    for run in runs:
        samples = np.asarray(run, float)
        for slug, size, text in _doubts(samples) if len(samples) > 1 else ():
            if slug not in worst or abs(size) > abs(worst[slug][0]):
                worst[slug] = (size, text)
    return [text for _, text in worst.values()]


def _doubts(samples: np.ndarray) -> Iterator[tuple[str, float, str]]:
    rest = samples[1:]
    first = float(samples[0] / np.median(rest)) if np.median(rest) else 0.0
    if first > LEAKED and samples[0] > 1.2 * rest.max():
        yield (
            "leaked",
            first,
            f"a first iteration leaked in: it took {first:.1f} times the median; raise --warmup",
        )
    if len(samples) < FEWEST:
        return
    if modes := _modes(rest):
        apart = modes[1] / modes[0] - 1
        yield (
            "modes",
            apart,
            (f"two groups of samples, {share(apart)} apart: two clocks, two code paths, or a neighbour"),
        )
    elif (drift := _drift(rest)) is not None:
        yield "drift", drift, f"the samples drift by {drift:+.0%}: warming up, throttling, or a growing state"


def _modes(samples: np.ndarray) -> tuple[float, float] | None:
    """Return the centres of two groups where the samples fall into two (Otsu's threshold), else None."""
    ordered = np.sort(samples)
    count, whole = len(ordered), float(ordered.var())
    least = max(2, int(np.ceil(LEAST_MODE * count)))
    if whole == 0 or count < 2 * least:
        return None
    places = np.arange(least, count - least + 1)
    sums = np.cumsum(ordered)
    low, high = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (count - places)
    between = places * (count - places) / count**2 * (high - low) ** 2
    best = int(between.argmax())
    least_between = min(CLEAR, SEPARATED + FEW_SAMPLES / count)
    if between[best] < least_between * whole or high[best] - low[best] < APART * float(np.median(ordered)):
        return None
    return float(low[best]), float(high[best])


def _drift(samples: np.ndarray) -> float | None:
    """Return by what share the last third differs from the first, where time orders the samples."""
    third = len(samples) // 3
    first, last = np.median(samples[:third]), np.median(samples[-third:])
    change = float((last - first) / first)
    ranks = samples.argsort(kind="stable").argsort(kind="stable").astype(float)
    order = float(np.corrcoef(ranks, np.arange(len(samples)))[0, 1])
    by_chance = float(np.tanh(ORDERED * np.sqrt(1.06 / (len(samples) - 3))))
    return change if abs(change) > DRIFT and abs(order) > by_chance else None
