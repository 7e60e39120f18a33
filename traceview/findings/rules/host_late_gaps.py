"""The GPU waits because the host has not launched yet."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "host-late-gaps"
ADVICE = (
    "Take the Python out of the loop: torch.compile or CUDA graphs for what repeats, fewer and larger "
    "operators, no work between launches that could run ahead or on another thread."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where the host is late for 1 % of the time or more."""
    found = idle(analysis, "host_late")
    return idle_finding(
        analysis, SLUG, found, ("the host had not launched the next work yet", ADVICE, "high")
    )


RULE = Rule(SLUG, "Waiting for the CPU", check)
