"""Too many launches lack device records to speak of utilisation."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.units import count, plural

SLUG = "coverage-unreliable"
ADVICE = "Capture again: fewer steps, larger profiler buffers, no second profiler, a synchronise before the profiler stops."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where utilisation is not reliable although there are launches."""
    if analysis.utilisation_reliable or not analysis.launches.calls:
        return None
    coverage = analysis.coverage
    reason = analysis.launches.without_reason
    aside = coverage.capture + coverage.tail
    if aside * 5 > coverage.launches:
        said = (
            f"{count(aside)} of {plural(coverage.launches, 'launch', 'launches')} were made under stream capture or in "
            "the last millisecond and cannot have device records"
        )
    else:
        said = f"{count(coverage.present)} of {count(coverage.expected)} launches that should have device records have them"
    why = f" ({reason})" if reason else ""
    sentence = f"{said}{why}: busy, idle and gap figures cannot be trusted."
    evidence = (
        ("launches", count(coverage.launches)),
        ("under stream capture", count(coverage.capture)),
        ("in the last millisecond", count(coverage.tail)),
    )
    return Finding(SLUG, sentence, evidence, ADVICE, "high")


RULE = Rule(SLUG, "Device records are incomplete", check, of_idle=False, needs_records=False, describes=True)
