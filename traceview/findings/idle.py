"""Idle time by cause, as rules ask for it: how much, how often, where the worst of it lies, and under what."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.finding import LOW, Finding, base_ns
from traceview.units import count, duration, hide_home, plural, safe, share


class Idle(NamedTuple):
    """Hold the idle time of some causes: ns, gaps, the worst gap as a window, and what the host did meanwhile."""

    total: int
    gaps: int
    window: tuple[int, int] | None
    under: str


def idle(analysis: Analysis, *causes: str, longest: int | None = None) -> Idle:
    """Return the idle time of these causes (columns of Gaps), inside step windows where there are steps.

    `longest` leaves out gaps above that length.
    """
    gaps = analysis.gaps
    part = sum((getattr(gaps, cause) for cause in causes), np.zeros(len(gaps), np.int64))
    mask = part > 0
    if (analysis.step_windows.window_start >= 0).any():
        mask &= gaps.step >= 0
    if longest is not None:
        mask &= gaps.dur <= longest
    some = np.flatnonzero(mask)
    if not len(some):
        return Idle(0, 0, None, "")
    worst = int(some[np.argmax(part[some])])
    start, dur = int(gaps.start[worst]), int(gaps.dur[worst])
    return Idle(
        int(part[some].sum()),
        len(some),
        (max(0, start - dur // 4), start + dur + dur // 4),
        _under(analysis, some, part),
    )


def _under(analysis: Analysis, some: np.ndarray, part: np.ndarray) -> str:
    """Return what of the host stack covers most of the time: operator, else annotation, else Python frame."""
    gaps = analysis.gaps
    weight: Counter[str] = Counter()
    for i in some[np.argsort(-part[some])][:2000].tolist():
        label = str(gaps.op[i]) or str(gaps.annotation[i]) or str(gaps.python[i])
        if label:
            weight[label] += int(part[i])
    return safe(hide_home(weight.most_common(1)[0][0])) if weight else ""


def worth_saying(analysis: Analysis, at_stake: int) -> bool:
    """Say whether a stake is 1 % of the base or more, in a trace whose device records are complete."""
    base = base_ns(analysis)
    return analysis.utilisation_reliable and base > 0 and at_stake >= LOW * base


def of_base(analysis: Analysis, ns: int) -> str:
    """Return a time with its share of the base, which is named."""
    base = base_ns(analysis)
    name = "step windows" if (analysis.step_windows.window_start >= 0).any() else "GPU span"
    return f"{duration(ns)} ({share(ns / base) if base else '?'} of the {name})"


def idle_finding(analysis: Analysis, slug: str, found: Idle, words: tuple[str, str, str]) -> Finding | None:
    """Return the finding of an idle cause, None where it is not worth saying; words: cause, advice, confidence."""
    if not worth_saying(analysis, found.total):
        return None
    cause, advice, confidence = words
    under = f", most of it under {found.under}" if found.under else ""
    evidence = [("idle of this cause", of_base(analysis, found.total)), ("gaps", count(found.gaps))]
    if found.under:
        evidence.append(("the host was in", found.under))
    if found.window:
        evidence.append(("worst gap", duration((found.window[1] - found.window[0]) * 2 // 3)))
    return Finding(
        slug=slug,
        sentence=f"The GPU idled {of_base(analysis, found.total)} in {plural(found.gaps, 'gap')} while {cause}{under}.",
        evidence=tuple(evidence),
        advice=advice,
        confidence=confidence,
        at_stake=found.total,
        window=found.window,
    )
