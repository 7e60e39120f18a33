"""Waits of the host that left the device without work, as two rules ask for them."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.findings.finding import Finding
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.findings.said import WAITS, Row, named
from traceview.units import count, plural


def blocked_finding(
    analysis: Analysis, slug: str, own: np.ndarray, words: tuple[str, str, str], advice: str
) -> Finding | None:
    """Return the finding of some waits (rows of `syncs`), None where they cost less than 1 % of the time.

    `words` are the noun, its plural, and what the waits did. The stake is their damage, at most the
    idle time in which the host was late or waited.
    """
    syncs = analysis.syncs
    damage = min(int(syncs.damage[own].sum()), idle(analysis, "host_late", "synchronisation").total)
    if not len(own) or not worth_saying(analysis, damage):
        return None
    worst = int(own[np.argmax(syncs.damage[own])])
    where = str(syncs.op[worst]) or str(syncs.annotation[worst])
    under = f" under {named(where)}" if where else ""
    place = int((~syncs.final[:worst]).sum())  # the page leaves out the profiler's own
    costly = (Row(WAITS, str(syncs.name[worst]), place=place), under)
    calls = int(syncs.calls[own].sum())
    one, many, did = words
    said = (
        f"{plural(calls, one, many)} {did}, most costly ",
        *costly,
        f", and left the {device_word(analysis.trace)} without work for up to {of_base(analysis, damage)}.",
    )
    evidence = (("calls", count(calls)), ("most costly", costly))
    return Finding(slug, said, evidence, advice, "medium", damage)
