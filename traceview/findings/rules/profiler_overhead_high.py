"""The profiler itself holds up the device."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "profiler-overhead-high"
ADVICE = (
    "Profile fewer steps, with stacks and memory off, and compare only runs with equal profiler switches."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where the profiler keeps the device idle for 1 % of the time or more."""
    found = idle(analysis, "profiler_overhead")
    return idle_finding(analysis, SLUG, found, ("the profiler had the host", ADVICE, "high"))


RULE = Rule(SLUG, "The profiler is part of the picture", check)
