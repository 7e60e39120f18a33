"""Findings as JSON for scripts, as text for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from traceview import __version__
from traceview.analyses import Analysis
from traceview.findings import RULES, Finding, Findings
from traceview.findings.finding import base_word
from traceview.findings.said import PAIRS, WAITS, Naming, Said, rows_of, short, written
from traceview.units import duration, plural, safe, share, stretch

SCHEMA = "traceview.findings/1"
WIDTH = 100
BOUNDS = "Times at stake are upper bounds; they overlap and do not add up."
_MARKS = {"high": "▲", "medium": "◆", "low": "●", "note": "○"}
_JSON_TABLES = {WAITS: "synchronisation", PAIRS: "streams.pairs"}
_TITLES = {rule.slug: rule.title for rule in RULES}


def findings_document(found: Findings, chosen: str = "") -> dict[str, Any]:
    """Return the JSON document; times in µs, windows from the trace's first event, unknown is None."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "chosen": chosen or None,
        "findings": finding_records(found),
        "checked": list(found.checked),
        "unanswered": list(found.unanswered),
    }


def finding_records(found: Findings) -> list[dict[str, Any]]:
    """Return the findings as JSON has them, worst first."""
    return [
        {
            "slug": f.slug,
            "title": title_of(f.slug),
            "severity": f.severity.word,
            "sentence": f.sentence,
            "time_at_stake_us": None if f.at_stake is None else f.at_stake / 1000,
            "share_at_stake": f.share,
            "evidence": [_evidence(label, said) for label, said in f.evidence],
            "window_us": None if f.window is None else [ns / 1000 for ns in f.window],
            "advice": f.advice,
            "confidence": f.confidence,
            "documentation": f"traceview explain {f.slug}",
        }
        for f in found.found
    ]


def _evidence(label: str, said: Said) -> dict[str, Any]:
    """Return a piece of evidence, with the row that it points to: its table in the summary, name and window."""
    row = next(iter(rows_of(said)), None)
    window = None if row is None or row.window is None else [ns / 1000 for ns in row.window]
    return {
        "label": label,
        "text": written(said),
        "table": None if row is None else _JSON_TABLES.get(row.table, row.table),
        "name": None if row is None else row.name or None,
        "window_us": window,
    }


def title_of(slug: str) -> str:
    """Return the title of a rule."""
    return _TITLES[slug]


def mark_of(finding: Finding) -> str:
    """Return the shape of a severity: told apart without colour."""
    return _MARKS[finding.severity.word]


def at_stake(finding: Finding, analysis: Analysis) -> str:
    """Say how much time is at stake, at most, and of what; empty for a finding that only describes."""
    if finding.at_stake is None:
        return ""
    part = "" if finding.share is None else f" ({share(finding.share)} of the {base_word(analysis)})"
    return f"up to {duration(finding.at_stake)}{part}"


def findings_text(found: Findings, analysis: Analysis, title: str, naming: Naming = short) -> str:
    """Return the terminal's answer: findings worst first, then what was checked."""
    lines = [safe(title), ""]
    for f in found.found:
        head = [f"{mark_of(f)} {f.severity.word}", f.slug, at_stake(f, analysis)]
        lines.append("  ".join(h for h in head if h))
        lines += _wrapped(written(f.said, naming))
        if f.evidence:
            texts = (f"{label} {written(said, naming)}" for label, said in f.evidence)
            lines += _wrapped(f"Evidence: {' · '.join(texts)}")
        if f.window:
            lines += _wrapped(f"Look at: {stretch(*f.window)} of the timeline")
        lines += _wrapped(f"What to do: {f.advice}")
        lines += [*_wrapped(f"Confidence {f.confidence}; more: traceview explain {f.slug}"), ""]
    if any(f.at_stake is not None for f in found.found):
        lines += [BOUNDS, ""]
    lines += [line for text in closing(found) for line in textwrap.wrap(text, WIDTH, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def top_lines(found: Findings, most: int, naming: Naming = short) -> list[str]:
    """Return one line per finding, the worst first, of those with time at stake above a note."""
    return [
        f"{mark_of(f)} {f.severity.word}: {written(f.said, naming)} [{f.slug}]"
        for f in found.found
        if f.at_stake is not None and f.severity.word != "note"
    ][:most]


def closing(found: Findings) -> list[str]:
    """Say how many checks passed, and which could not be made."""
    texts = []
    if found.passed:
        texts.append(f"{plural(len(found.passed), 'check')} found nothing: {', '.join(found.passed)}.")
    if found.unanswered:
        texts.append(
            f"{plural(len(found.unanswered), 'check')} could not be made, device records are missing: "
            f"{', '.join(found.unanswered)}."
        )
    return texts


def findings_markdown(found: Findings, analysis: Analysis, title: str, naming: Naming = short) -> str:
    """Return Markdown for a comment: nothing that a trace names can become a link, a mention or HTML."""
    lines = [f"### Findings: {escaped(title)}", ""]
    if found.found:
        lines += ["| severity | finding | time at stake | what to do |", "|---|---|---|---|"]
    for f in found.found:
        cells = (
            f"{mark_of(f)} {f.severity.word}",
            f"`{f.slug}` {escaped(written(f.said, naming))}",
            escaped(at_stake(f, analysis)) or "–",
            escaped(f.advice),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if found.found:
        lines += ["", BOUNDS, ""]
    return "\n".join([*lines, *closing(found)]) + "\n"


_SPECIAL = re.compile(r"[&<>@#\[\]`*_|~\\:{}$]|(?<=www)\.|(?<=GH)-", re.IGNORECASE)
_CALLING = (
    "@#-"  # where they are shown, GitHub looks for mentions and references: a break without width prevents it
)


def escaped(text: str) -> str:
    """Return a text in which nothing is Markdown, HTML, a link, a mention or a reference."""
    return _SPECIAL.sub(lambda m: f"&#{ord(m[0])};" + ("&#8203;" if m[0] in _CALLING else ""), safe(text))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
    )
