"""Several streams have work and take turns."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import of_base, worth_saying
from traceview.units import duration, safe, share

SLUG = "serial-streams"
LEAST_SHARE = 0.05  # of the device's busy time, that a stream must have
MOST_OVERLAP = 0.05  # of the smaller stream's busy time
ADVICE = (
    "Look for what orders them: the default stream, events waited for too early, kernels that fill the GPU."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where two busy streams of a device overlap for less than 5 % of the smaller."""
    streams = analysis.streams
    busy = {
        (d, s): int(b)
        for d, s, b in zip(streams.times.device, streams.times.stream, streams.times.busy, strict=True)
    }
    whole = dict(zip(analysis.gpu_time.device, analysis.gpu_time.busy.tolist(), strict=True))
    worst: tuple[int, str, str, str, float] | None = None
    for i in np.flatnonzero(streams.pairs.share < MOST_OVERLAP).tolist():
        device, left, right = (
            str(streams.pairs.device[i]),
            str(streams.pairs.left[i]),
            str(streams.pairs.right[i]),
        )
        smaller = busy[(device, right)]
        if smaller >= LEAST_SHARE * whole.get(device, 0) and (worst is None or smaller > worst[0]):
            worst = (smaller, device, left, right, float(streams.pairs.share[i]))
    if worst is None or not worth_saying(analysis, worst[0]):
        return None
    smaller, device, left, right, overlap = worst
    sentence = (
        f"Streams {safe(left)} and {safe(right)} of GPU {safe(device)} both have work and overlap for {share(overlap)} of "
        f"the smaller: side by side up to {of_base(analysis, smaller)} could be hidden."
    )
    evidence = (("busy of the smaller", duration(smaller)), ("overlap", share(overlap)))
    return Finding(SLUG, sentence, evidence, ADVICE, "low", smaller)


RULE = Rule(SLUG, "Streams that take turns", check)
