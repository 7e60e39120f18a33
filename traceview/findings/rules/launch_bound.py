"""Many short gaps between short kernels: the cost of launching sets the pace."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.events import Kind
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.units import count, duration, share

SLUG = "launch-bound"
LONGEST_GAP_NS = 200_000
FEWEST_KERNELS = 100
SHORT_KERNEL_NS = 20_000
LEAST_IDLE = 0.15
ADVICE = (
    "Launch less: CUDA graphs (torch.compile(mode='reduce-overhead'), torch.cuda.graph), fusion with "
    "torch.compile, larger batches, fused optimizers."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where short kernels are apart by short gaps that add up."""
    trace = analysis.trace
    kernels = trace.rows_of(Kind.KERNEL)
    if len(kernels) < FEWEST_KERNELS:
        return None
    median = float(np.median(trace.slices.dur[kernels]))
    found = idle(
        analysis,
        "host_late",
        "inside_launch",
        "in_flight",
        "turnaround",
        "inside_graph",
        longest=LONGEST_GAP_NS,
    )
    span = int(analysis.gpu_time.span.sum())
    idle_share = int(analysis.gpu_time.idle.sum()) / span if span else 0.0
    if median > SHORT_KERNEL_NS or idle_share < LEAST_IDLE or not worth_saying(analysis, found.total):
        return None
    shorter = analysis.launch_behaviour.shorter_share
    evidence = [
        ("idle in gaps up to 200 µs", of_base(analysis, found.total)),
        ("gaps", count(found.gaps)),
        ("median kernel", duration(median)),
    ]
    if shorter is not None:
        evidence.append(("kernels shorter than their launch call", share(shorter)))
    sentence = (
        f"Launching sets the pace: {count(len(kernels))} kernels of {duration(median)} (median), and "
        f"{of_base(analysis, found.total)} in {count(found.gaps)} gaps of up to 200 µs between them."
    )
    return Finding(SLUG, sentence, tuple(evidence), ADVICE, "medium", found.total, window=found.window)


RULE = Rule(SLUG, "Launch-bound", check)
