"""One axis for many devices or ranks: each gets a stretch of its own, so that one sweep serves all of them.

Times of a trace are bounded too: sums of what is longer would not fit 64 bits.
"""

from __future__ import annotations

import numpy as np

from traceview.analyses.grouping import added
from traceview.errors import InputError
from traceview.events import Trace

MOST_NS = 1 << 62  # 146 years


def refuse_endless(trace: Trace) -> None:
    """Raise InputError where all durations together are longer than any that a trace can have."""
    if added(trace.slices.dur) >= MOST_NS:
        raise _endless(trace.meta.label)


def shifts(group: np.ndarray, start: np.ndarray, end: np.ndarray, groups: int) -> np.ndarray:
    """Return what to add to the times of each group, so that no two groups overlap or touch.

    Raises InputError where all stretches together are longer than MOST_NS.
    """
    limits = np.iinfo(np.int64)
    first, last = np.full(groups, limits.max), np.full(groups, limits.min)
    np.minimum.at(first, group, start)
    np.maximum.at(last, group, end)
    some = first <= last
    first[~some] = last[~some] = 0
    width = last - first + 1
    if added(width) >= MOST_NS:
        raise _endless("the trace")
    shift: np.ndarray = np.cumsum(width) - width - first
    return shift


def _endless(label: str) -> InputError:
    hint = "look for records that cannot be true"
    return InputError(f"{label}: its times add up to more than 146 years", hint)
