"""The host waits for the device inside steps, and the device then waits for the host."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, named, of_base, worth_saying
from traceview.units import count, plural

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
    damage = min(int(syncs.damage[own].sum()), idle(analysis, "host_late", "synchronisation").total)
    if not len(own) or not worth_saying(analysis, damage):
        return None
    worst = int(own[np.argmax(syncs.damage[own])])
    where = str(syncs.op[worst]) or str(syncs.annotation[worst])
    under = f" under {named(where)}" if where else ""
    calls = int(syncs.calls[own].sum())
    sentence = (
        f"{plural(calls, 'synchronisation')} inside the loop, most costly {named(str(syncs.name[worst]))}{under}, left "
        f"the {device_word(analysis.trace)} without work for up to {of_base(analysis, damage)}."
    )
    evidence = (("calls", count(calls)), ("most costly", f"{named(str(syncs.name[worst]))}{under}"))
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", damage)


RULE = Rule(SLUG, "Synchronisation inside the loop", check)
