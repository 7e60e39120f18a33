"""Idle time by cause, as rules ask for it: how much, how often, where the worst of it lies, and under what."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.findings.finding import LOW, Finding, base_ns, base_word, has_windows
from traceview.findings.said import GAPS, OPERATORS, Row, Said, named
from traceview.units import count, duration, plural, share

MOST, MUCH = 0.50, 0.20  # shares of a cause from which its place on the host is named
_NAMED_GAPS = 2_000  # largest gaps that are asked for their place


class Idle(NamedTuple):
    """Hold the idle time of some causes: ns, gaps, the worst gap, and what the host did meanwhile.

    `places` are rows of Gaps, the largest part first; `parts` are their parts in ns.
    """

    total: int
    places: np.ndarray
    parts: np.ndarray
    worst: tuple[int, int] | None
    under: Said

    @property
    def gaps(self) -> int:
        """Return how many gaps have such a part."""
        return len(self.places)

    @property
    def window(self) -> tuple[int, int] | None:
        """Return the stretch to look at: the worst gap and a quarter of its length on both sides."""
        if self.worst is None:
            return None
        start, dur = self.worst
        return max(0, start - dur // 4), start + dur + dur // 4


def idle(
    analysis: Analysis, *causes: str, longest: int | None = None, among: np.ndarray | None = None
) -> Idle:
    """Return the idle time of these causes (columns of Gaps), inside step windows where there are steps.

    `longest` leaves out gaps above that length, `among` all but some.
    """
    gaps = analysis.gaps
    part = sum((getattr(gaps, cause) for cause in causes), np.zeros(len(gaps), np.int64))
    mask = part > 0 if among is None else (part > 0) & among
    if has_windows(analysis):
        # the base is the windows of these devices, so the idle time of others is no part of it
        windows = analysis.step_windows
        devices = set(
            windows.device[windows.window_start >= 0].tolist()
        )  # few; as a column it is as long as the steps
        mask &= (gaps.step >= 0) & np.isin(gaps.device, list(devices))
    if longest is not None:
        mask &= gaps.dur <= longest
    some = np.flatnonzero(mask)
    some = some[np.argsort(-part[some], kind="stable")]
    if not len(some):
        return Idle(0, some, part[some], None, "")
    worst = (int(gaps.start[some[0]]), int(gaps.dur[some[0]]))
    total = int(part[some].sum())
    return Idle(total, some, part[some], worst, _under(analysis, some, causes, total))


def _under(analysis: Analysis, some: np.ndarray, causes: tuple[str, ...], whole: int) -> Said:
    """Say what covers much of the time on the host, in its slices of these causes: operator, annotation or frame."""
    slices, weight = analysis.gap_slices, Counter[str]()
    asked = np.zeros(len(analysis.gaps), bool)
    asked[some[:_NAMED_GAPS]] = True
    own = np.flatnonzero(asked[slices.gap])
    columns = (slices.cause, slices.op, slices.annotation, slices.python, slices.dur)
    for cause, op, annotation, python, ns in zip(*(c[own].tolist() for c in columns), strict=True):
        if cause in causes and (label := op or annotation or python):
            weight[label] += ns
    if not weight:
        return ""
    label, ns = weight.most_common(1)[0]
    how = "most of it" if ns >= MOST * whole else "the largest share"
    if ns < MUCH * whole:
        return ""
    listed = analysis.operators.name == label
    return (f"{how} under ", Row(OPERATORS, label) if listed.any() else named(label))


def worth_saying(analysis: Analysis, at_stake: int) -> bool:
    """Say whether a stake is 1 % of the base or more, in a trace whose device records are complete."""
    base = base_ns(analysis)
    return analysis.utilisation_reliable and base > 0 and at_stake >= LOW * base


def of_base(analysis: Analysis, ns: int) -> str:
    """Return a time with its share of the base, which is named."""
    base = base_ns(analysis)
    return f"{duration(ns)} ({share(ns / base) if base else '?'} of the {base_word(analysis)})"


def idle_finding(analysis: Analysis, slug: str, found: Idle, words: tuple[str, str, str]) -> Finding | None:
    """Return the finding of an idle cause, None where it is not worth saying; words: cause, advice, confidence."""
    if not worth_saying(analysis, found.total):
        return None
    cause, advice, confidence = words
    lost = f"{of_base(analysis, found.total)} in {plural(found.gaps, 'gap')}"
    under = (", ", *found.under) if found.under else ()
    evidence: list[tuple[str, Said]] = [
        ("idle of this cause", of_base(analysis, found.total)),
        ("gaps", count(found.gaps)),
    ]
    if found.under:
        evidence.append(("where the host was", found.under))
    if found.worst:
        start, dur = found.worst
        evidence.append(("worst gap", (Row(GAPS, text=duration(dur), window=(start, start + dur)),)))
    return Finding(
        slug=slug,
        said=(f"The {device_word(analysis.trace)} idled {lost} while {cause}", *under, "."),
        evidence=tuple(evidence),
        advice=advice,
        confidence=confidence,
        at_stake=found.total,
        window=found.window,
    )
