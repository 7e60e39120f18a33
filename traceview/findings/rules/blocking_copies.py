"""Copies that block the host, and leave the device without work after them."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, named, of_base, worth_saying
from traceview.units import count, plural

SLUG = "blocking-copies"
ADVICE = (
    "Copy from pinned memory with non_blocking=True, move results once at the end, keep inputs on the device."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where blocking copies cost 1 % of the time or more."""
    syncs = analysis.syncs
    own = np.flatnonzero(~syncs.final & (syncs.kind == "blocking copy") & (syncs.damage > 0))
    damage = min(int(syncs.damage[own].sum()), idle(analysis, "host_late", "synchronisation").total)
    if not len(own) or not worth_saying(analysis, damage):
        return None
    worst = int(own[np.argmax(syncs.damage[own])])
    where = str(syncs.op[worst]) or str(syncs.annotation[worst])
    under = f" under {named(where)}" if where else ""
    calls = int(syncs.calls[own].sum())
    sentence = (
        f"{plural(calls, 'copy', 'copies')} blocked the host, most costly {named(str(syncs.name[worst]))}{under}, and "
        f"left the {device_word(analysis.trace)} without work for up to {of_base(analysis, damage)}."
    )
    evidence = (("calls", count(calls)), ("most costly", f"{named(str(syncs.name[worst]))}{under}"))
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", damage)


RULE = Rule(SLUG, "Blocking copies", check)
