"""Findings: what holds the run up, worst first, each with evidence, stake and advice."""

from __future__ import annotations

import re

from traceview.findings import Finding, check
from traceview.findings.document import BOUNDS, at_stake, closing, mark_of, title_of
from traceview.findings.explain import explain
from traceview.report.context import Context
from traceview.report.view import FindingsView, FindingView, SectionView
from traceview.units import duration, plural

NOTHING = "No check found anything worth mending."


def build(context: Context) -> SectionView:
    """Show what the rules find, and fold away what they did not."""
    analysis = context.analysis
    found = check(analysis)
    window = max(analysis.trace.span_ns, 1)
    cards = tuple(_card(f, at_stake(f, analysis), window) for f in found.found)
    parts = [plural(len(found.passed), "check") + " passed"]
    if found.unanswered:
        parts.append(f"{len(found.unanswered):,} could not be made")
    view = FindingsView(cards, ", ".join(parts), tuple(closing(found)))
    staked = any(f.at_stake is not None for f in found.found)
    note = f"Worst first. {BOUNDS}" if staked else "" if cards else NOTHING
    return SectionView("findings", "Findings", note, (view,))


def _card(finding: Finding, stake: str, span: int) -> FindingView:
    window = finding.window
    if window is not None:
        window = (window[0], min(window[1], span))
    where = f"{duration(window[0])} to {duration(window[1])} from the trace's start" if window else ""
    return FindingView(
        slug=finding.slug,
        title=title_of(finding.slug),
        severity=finding.severity.word,
        mark=mark_of(finding),
        sentence=finding.sentence,
        stake=stake,
        evidence=finding.evidence,
        advice=finding.advice,
        confidence=finding.confidence,
        window=window,
        where=where,
        explanation=_paragraphs(explain(finding.slug)),
    )


def _paragraphs(text: str) -> tuple[tuple[str, str], ...]:
    """Return headings and paragraphs of one of our texts, by kind: heading, item or text."""
    found = []
    for block in re.split(r"\n\n+|\n(?=- )", text.strip())[1:]:
        plain = re.sub(r"[`*]", "", " ".join(block.split()))
        kind = "heading" if plain.startswith("## ") else "item" if plain.startswith("- ") else "text"
        found.append((kind, plain.removeprefix("## ").removeprefix("- ")))
    return tuple(found)
