"""The GPU waits while the host allocates memory or loads code."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "allocation-stalls"
ADVICE = (
    "Warm up before profiling: first calls allocate and load modules. If it stays, keep memory between "
    "iterations (caching allocator, expandable_segments, fixed shapes) and load lazily loaded modules ahead."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where allocation and loading keep the device idle for 1 % of the time or more."""
    found = idle(analysis, "allocation")
    return idle_finding(
        analysis, SLUG, found, ("the host allocated or freed memory or loaded code", ADVICE, "high")
    )


RULE = Rule(SLUG, "Waiting for allocation and loading", check)
