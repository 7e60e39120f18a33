"""Copies that block the host, and leave the device without work after them."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.blocked import blocked_finding
from traceview.findings.finding import Finding, Rule

SLUG = "blocking-copies"
ADVICE = (
    "Copy from pinned memory with non_blocking=True, move results once at the end, keep inputs on the device."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where blocking copies cost 1 % of the time or more."""
    syncs = analysis.syncs
    own = np.flatnonzero(~syncs.final & (syncs.kind == "blocking copy") & (syncs.damage > 0))
    return blocked_finding(analysis, SLUG, own, ("copy", "copies", "blocked the host"), ADVICE)


RULE = Rule(SLUG, "Blocking copies", check)
