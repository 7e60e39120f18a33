"""The first recorded step is much longer than the others."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.step_windows import DEVICE_PERIOD
from traceview.findings.finding import Finding, Rule
from traceview.findings.said import STEPS, Row
from traceview.units import duration

SLUG = "first-step-outlier"
RATIO = 1.5
FEWEST = 3
ADVICE = (
    "Warm up longer before the active steps: compilation, autotuning and allocation belong to the first ones."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where the first step takes 1.5 times the median of the others or more."""
    windows = analysis.step_windows
    by_period = analysis.step_time.basis == DEVICE_PERIOD
    whole = np.flatnonzero(windows.complete & (windows.period >= 0) if by_period else windows.complete)
    times = (windows.period if by_period else windows.wall)[whole]
    if len(times) < FEWEST or int(whole[0]) != 0:
        return None
    first, median = int(times[0]), float(np.median(times[1:]))
    if not median or first < RATIO * median:
        return None
    begin = windows.window_start if by_period else windows.start
    sentence = f"The first step took {duration(first)}, {first / median:.1f} times the median of the others ({duration(median)})."
    row = Row(STEPS, text=duration(first), place=0)
    evidence = (("first step", (row,)), ("median of the others", duration(median)))
    window = (int(begin[0]), int(begin[0]) + first)
    return Finding(SLUG, sentence, evidence, ADVICE, "high", int(first - median), window=window)


RULE = Rule(SLUG, "The first step is not like the others", check, of_idle=False, needs_records=False)
