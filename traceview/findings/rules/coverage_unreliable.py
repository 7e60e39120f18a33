"""Too many launches lack device records to speak of utilisation."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.units import count

SLUG = "coverage-unreliable"
ADVICE = "Capture again: fewer steps, larger profiler buffers, no second profiler, a synchronise before the profiler stops."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where utilisation is not reliable although there are launches."""
    if analysis.utilisation_reliable or not analysis.launches.calls:
        return None
    coverage = analysis.coverage
    reason = analysis.launches.without_reason
    sentence = (
        f"{count(coverage.present)} of {count(coverage.expected)} launches that should have device records have them"
        f"{f' ({reason})' if reason else ''}: busy, idle and gap figures cannot be trusted."
    )
    evidence = (
        ("launches", count(coverage.launches)),
        ("under stream capture", count(coverage.capture)),
        ("in the last millisecond", count(coverage.tail)),
    )
    return Finding(SLUG, sentence, evidence, ADVICE, "high")


RULE = Rule(SLUG, "Device records are incomplete", check)
