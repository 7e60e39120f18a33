"""The host waits for the device inside steps, and the device then waits for the host."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.blocked import blocked_finding
from traceview.findings.finding import Finding, Rule

SLUG = "sync-in-loop"
ADVICE = (
    "Keep values on the device: no .item(), .cpu(), print or Python branch on a tensor inside the loop; log every "
    "n-th step, copy with non_blocking=True from pinned memory, and read the value one step later."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where synchronisations cost 1 % of the time or more."""
    syncs = analysis.syncs
    own = np.flatnonzero(~syncs.final & (syncs.kind != "blocking copy") & (syncs.damage > 0))
    if len(analysis.step_windows):
        own = own[syncs.inside_steps[own] > 0]
    return blocked_finding(analysis, SLUG, own, ("synchronisation", "", "ran inside the loop"), ADVICE)


RULE = Rule(SLUG, "Synchronisation inside the loop", check)
