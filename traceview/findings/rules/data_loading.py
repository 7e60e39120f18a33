"""The GPU waits for the data loader."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding

SLUG = "data-loading"
ADVICE = (
    "Load ahead: DataLoader(num_workers > 0, pin_memory=True, persistent_workers=True, prefetch_factor), "
    "cheaper decoding and augmentation, or batches prepared on the device."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where data loading keeps the device idle for 1 % of the time or more."""
    found = idle(analysis, "data_loading")
    return idle_finding(analysis, SLUG, found, ("a data loader had the host", ADVICE, "high"))


RULE = Rule(SLUG, "Waiting for data", check)
