"""Findings: what holds the run up, worst first, each with evidence, stake and advice."""

from __future__ import annotations

import re

from traceview.findings import Finding, check
from traceview.findings.document import BOUNDS, at_stake, closing, mark_of, title_of
from traceview.findings.explain import explain
from traceview.findings.said import Row, written
from traceview.report.context import Context
from traceview.report.view import Cell, FindingsView, FindingView, Said, SectionView, TableView
from traceview.units import plural, stretch

NOTHING = "No check found anything worth mending."


def build(context: Context) -> SectionView:
    """Show what the rules find, and fold away what they did not."""
    analysis = context.analysis
    found = check(analysis)
    cards = tuple(_card(context, f) for f in found.found)
    parts = [plural(len(found.passed), "check") + " passed"]
    if found.unanswered:
        parts.append(f"{len(found.unanswered):,} could not be made")
    view = FindingsView(cards, ", ".join(parts), tuple(closing(found)))
    staked = any(f.at_stake is not None for f in found.found)
    note = f"By time at stake. {BOUNDS}" if staked else "" if cards else NOTHING
    return SectionView("findings", "Findings", note, (view,))


def _card(context: Context, finding: Finding) -> FindingView:
    window = finding.window
    where = f"{stretch(*window)} from the trace's start" if window else ""
    return FindingView(
        slug=finding.slug,
        title=title_of(finding.slug),
        severity=finding.severity.word,
        mark=mark_of(finding),
        sentence=written(finding.said, context.labels.stands_for),
        stake=at_stake(finding, context.analysis),
        evidence=tuple((label, _pieces(context, said)) for label, said in finding.evidence),
        advice=finding.advice,
        confidence=finding.confidence,
        window=window,
        where=where,
        explanation=_paragraphs(explain(finding.slug)),
    )


def _pieces(context: Context, said: str | tuple[str | Row, ...]) -> tuple[Said, ...]:
    """Return a text in pieces, of which those that name a row shown in a table lead to it."""
    pieces = []
    for part in (said,) if isinstance(said, str) else said:
        if isinstance(part, str):
            pieces.append(Said(part))
            continue
        section, table = context.tables.get(part.table, ("", None))
        place = None if table is None else _place(context, table, part)
        text = context.labels.stands_for(part)
        pieces.append(Said(text, f"{part.table}-{place}", section) if place is not None else Said(text))
    return tuple(pieces)


def _place(context: Context, table: TableView, row: Row) -> int | None:
    """Return where a table of the page has a row, None where it does not show it."""
    if table.columns[0].form == "name" and row.name:
        key: Cell = context.names.add(row.name)
    elif row.window is not None:
        key = row.window[0]
    else:
        return row.place if 0 <= row.place < len(table.rows) else None
    return next((i for i, cells in enumerate(table.rows) if cells[0] == key), None)


def _paragraphs(text: str) -> tuple[tuple[str, str], ...]:
    """Return headings and paragraphs of one of our texts, by kind: heading, item or text."""
    found = []
    for block in re.split(r"\n\n+|\n(?=- )", text.strip())[1:]:
        plain = re.sub(r"[`*]", "", " ".join(block.split()))
        kind = "heading" if plain.startswith("## ") else "item" if plain.startswith("- ") else "text"
        found.append((kind, plain.removeprefix("## ").removeprefix("- ")))
    return tuple(found)
