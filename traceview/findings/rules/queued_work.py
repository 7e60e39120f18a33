"""Work that was launched and did not start, while the device shows nothing else."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "queued-work"
ADVICE = (
    "The records do not show what it waited for: a recorded stream wait is named per gap; else look for another stream, "
    "another process or device (peers of a collective), or device work that the profiler did not record."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where launched work starts over 100 us late for 1 % of the time or more."""
    found = idle(analysis, "queued")
    words = ("work was launched and did not start for over 100 µs", ADVICE, "low")
    return idle_finding(analysis, SLUG, found, words)


RULE = Rule(SLUG, "Launched, and not started", check)
