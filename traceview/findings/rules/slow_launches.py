"""Launch calls that take so long that the device waits for them to return."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "slow-launches"
SLOW_CALL_NS = 50_000  # of a gap inside the call; a usual launch takes 5 to 20 us
ADVICE = (
    "Warm up before profiling: the first use of a kernel loads its module (CUDA_MODULE_LOADING=EAGER moves that to "
    "the start). If it stays, look for a full launch queue or copies from pageable memory staged inside the call."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where the device idles inside long launch calls for 1 % of the time or more."""
    found = idle(analysis, "inside_launch", among=analysis.gaps.inside_launch >= SLOW_CALL_NS)
    words = ("a launch call took over 50 µs (first use, module load, full queue)", ADVICE, "high")
    return idle_finding(analysis, SLUG, found, words)


RULE = Rule(SLUG, "Launch calls that take long", check)
