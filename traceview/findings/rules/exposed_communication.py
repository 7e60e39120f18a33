"""Communication that no computation hides."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import of_base, worth_saying
from traceview.findings.said import COLLECTIVES, Row
from traceview.findings.stretches import longest_exposed
from traceview.units import duration, share

SLUG = "exposed-communication"
ADVICE = (
    "Overlap it: bucket and start collectives earlier (DDP bucket size, FSDP prefetch), a stream of its own, larger "
    "messages. With the trace of one rank the time includes waiting: compare ranks before blaming the network."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where exposed communication takes 1 % of the time or more."""
    windows = analysis.step_windows
    known = windows.window_start >= 0
    table = windows.exposed_collective[known] if known.any() else analysis.gpu_time.exposed_collective
    exposed = int(table.sum())
    if not worth_saying(analysis, exposed) or not len(analysis.collectives):
        return None
    collectives = analysis.collectives
    whole = int(collectives.sum.sum())
    hidden = 1 - int(collectives.exposed.sum()) / whole if whole else 0.0
    top = Row(COLLECTIVES, str(collectives.name[0]))
    sentence = (
        f"Communication ran under no compute for {of_base(analysis, exposed)}; compute hides {share(hidden)} of "
        f"{duration(whole)} in all."
    )
    evidence = (("largest", (top, f": {duration(int(collectives.sum[0]))}")), ("hidden", share(hidden)))
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", exposed, window=longest_exposed(analysis))


RULE = Rule(SLUG, "Exposed communication", check, of_idle=False)
