"""The GPU was idle before work whose launch is not in the trace."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "unexplained-idle"
ADVICE = (
    "Record the host beside the device (ProfilerActivity.CPU), and start the profiler before the work is launched: "
    "without the launch of the work that ends a gap nobody can tell what it waited for."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where idle time of unknown cause takes 1 % of the time or more."""
    found = idle(analysis, "unknown")._replace(under="")
    words = ("the launch of the next work is not in the trace", ADVICE, "low")
    return idle_finding(analysis, SLUG, found, words)


RULE = Rule(SLUG, "Idle for an unknown reason", check)
