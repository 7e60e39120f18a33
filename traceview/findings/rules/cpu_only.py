"""The trace has no device side."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.analyses.health import HOW_TO_RECORD
from traceview.findings.finding import Finding, Rule

SLUG = "cpu-only"


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where there is neither device work nor a launch."""
    if not analysis.health.cpu_only:
        return None
    sentence = "This trace has no device work and no launch: it tells about the host only."
    return Finding(SLUG, sentence, (), f"With PyTorch {HOW_TO_RECORD['device']}.", "high")


RULE = Rule(SLUG, "Only the host was recorded", check, of_idle=False, needs_records=False, describes=True)
