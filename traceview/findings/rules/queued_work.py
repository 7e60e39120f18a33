"""Work that was launched and did not start, while the device shows nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, idle_finding
from traceview.units import duration

SLUG = "queued-work"
ADVICE = (
    "The records do not show what it waited for: a recorded stream wait is named per gap; else look for another stream, "
    "another process or device (peers of a collective), or device work that the profiler did not record."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where launched work starts over 100 us late for 1 % of the time or more."""
    found = idle(analysis, "queued")._replace(under="")  # the host had launched: where it was is no cause
    words = ("work was launched and did not start for over 100 µs", ADVICE, "low")
    finding = idle_finding(analysis, SLUG, found, words)
    if finding is None:
        return None
    waits = np.array([w != "" for w in analysis.gaps.wait[found.places].tolist()], bool)
    named = int(found.parts[waits].sum())
    return replace(finding, evidence=(*finding.evidence, ("behind a recorded stream wait", duration(named))))


RULE = Rule(SLUG, "Launched, and not started", check)
