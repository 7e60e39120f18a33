"""Many short gaps between short kernels: the device waits for one launch after another."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.events import Flag, Kind
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.findings.said import Said
from traceview.units import count, duration, plural, share

SLUG = "launch-bound"
LONGEST_GAP_NS = 200_000
FEWEST_KERNELS = 100
SHORT_KERNEL_NS = 20_000
ADVICE = (
    "Launch less: CUDA graphs (torch.compile(mode='reduce-overhead'), torch.cuda.graph), fusion with "
    "torch.compile, larger batches, fused optimizers."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where short kernels are apart by short gaps that add up."""
    trace = analysis.trace
    kernels = trace.rows_of(Kind.KERNEL)
    kernels = kernels[(trace.slices.flags[kernels] & (Flag.UNTIMED | Flag.DUPLICATE)) == 0]
    if len(kernels) < FEWEST_KERNELS:
        return None
    median = float(np.median(trace.slices.dur[kernels]))
    found = idle(analysis, "host_late", "inside_launch", "in_flight", longest=LONGEST_GAP_NS)
    if median > SHORT_KERNEL_NS or not worth_saying(analysis, found.total):
        return None
    shorter = analysis.launch_behaviour.shorter_share
    evidence: list[tuple[str, Said]] = [
        ("idle in gaps up to 200 µs", of_base(analysis, found.total)),
        ("gaps", count(found.gaps)),
        ("median kernel", duration(median)),
    ]
    if shorter is not None:
        evidence.append(("kernels shorter than their launch call", share(shorter)))
    sentence = (
        f"The {device_word(trace)} waits for one launch after another: {of_base(analysis, found.total)} in {plural(found.gaps, 'gap')} of "
        f"up to 200 µs between {count(len(kernels))} kernels of {duration(median)} (median)."
    )
    return Finding(SLUG, sentence, tuple(evidence), ADVICE, "medium", found.total, window=found.window)


RULE = Rule(SLUG, "Launch-bound", check)
