"""Copies from or to pageable host memory that nothing hides."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.events import Kind
from traceview.findings.finding import Finding, Rule, has_windows
from traceview.findings.idle import of_base, worth_saying
from traceview.findings.said import COPIES, Row
from traceview.findings.stretches import longest_record
from traceview.units import count, data_size, duration, plural

SLUG = "pageable-copies"
ADVICE = "Pin the host memory (pin_memory=True, tensor.pin_memory()) and copy with non_blocking=True."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where exposed pageable copies take 1 % of the time or more."""
    copies = analysis.copies
    own = np.flatnonzero(np.array(["pageable" in str(m).lower() for m in copies.memory], bool))
    exposed = int(copies.exposed[own].sum())
    if has_windows(analysis):
        exposed = min(exposed, int(analysis.step_windows.exposed_copy.sum()))
    if not len(own) or not worth_saying(analysis, exposed):
        return None
    calls, size = int(copies.calls[own].sum()), int(np.maximum(copies.bytes[own], 0).sum())
    sentence = (
        f"{plural(calls, 'copy', 'copies')} between the {device_word(analysis.trace)} and pageable memory ({data_size(size)}) ran under no "
        f"kernel for {of_base(analysis, exposed)}."
    )
    largest = int(own[np.argmax(copies.exposed[own])])
    most = (Row(COPIES, str(copies.name[largest])), f": {duration(int(copies.exposed[largest]))}")
    evidence = (("calls", count(calls)), ("data", data_size(size)), ("most exposed", most))
    names = {str(n) for n in copies.name[own]}
    window = longest_record(analysis, Kind.COPY, names.__contains__)
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", exposed, window=window)


RULE = Rule(SLUG, "Copies from pageable memory", check, of_idle=False)
