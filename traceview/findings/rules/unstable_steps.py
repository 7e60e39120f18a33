"""Step times vary so much that a median tells little."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.units import duration, share

SLUG = "unstable-steps"
MOST_SPREAD = 0.10  # p75 - p25 by the median
FEWEST = 4
ADVICE = "Fix inputs, watch clocks and temperature, warm up longer, and profile on a quiet machine."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where the middle half of the steps spreads over more than 10 % of the median."""
    time = analysis.step_time
    if time.count < FEWEST or not time.median_ns or time.spread_ns is None:
        return None
    spread = time.spread_ns / time.median_ns
    if spread <= MOST_SPREAD:
        return None
    above = int(sum(max(0, int(s) - int(time.median_ns)) for s in time.samples))
    sentence = (
        f"The middle half of {time.count} steps spreads over {duration(time.spread_ns)}, {share(spread)} of the median "
        f"({duration(time.median_ns)}, {time.basis})."
    )
    evidence = (("p25 to p75", duration(time.spread_ns)), ("p95", duration(time.p95_ns or 0)))
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", above)


RULE = Rule(SLUG, "Unstable steps", check, of_idle=False, needs_records=False)
