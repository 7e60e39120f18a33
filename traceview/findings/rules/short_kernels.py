"""Much of the kernel time is in kernels so short that starting them counts."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.findings.said import KERNELS, Row, Said
from traceview.findings.stretches import densest
from traceview.units import count, duration, share

SLUG = "short-kernels"
SHORT_NS = 10_000
LONGEST_GAP_NS = 200_000
LEAST_SHARE = 0.20  # of the summed kernel time
ADVICE = "Fuse them (torch.compile, foreach or fused optimizers, fused norms and activations) or replay a CUDA graph."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where kernels under 10 us hold a fifth of the time and their starts cost idle time."""
    lengths = analysis.launch_behaviour.lengths
    short = (lengths.longest >= 0) & (lengths.longest <= SHORT_NS)
    whole, part = int(lengths.sum.sum()), int(lengths.sum[short].sum())
    # what was launched and not started for longer waited for something else
    cost = min(
        analysis.launch_behaviour.delay_cost,
        idle(analysis, "inside_launch", "in_flight", longest=LONGEST_GAP_NS).total,
    )
    if not whole or part < LEAST_SHARE * whole or not worth_saying(analysis, cost):
        return None
    number = int(np.where(short, lengths.kernels, 0).sum())
    sentence = (
        f"{count(number)} kernels under 10 µs hold {share(part / whole)} of the kernel time ({duration(part)}), and start "
        f"delays cost up to {of_base(analysis, cost)}."
    )
    evidence: list[tuple[str, Said]] = [
        ("short kernels", f"{count(number)}, {duration(part)}"),
        ("idle under start delays", duration(cost)),
    ]
    kernels = analysis.kernels
    brief = np.flatnonzero((kernels.median < SHORT_NS) & (kernels.sum > 0))  # by sum, the largest first
    if len(brief):
        top = int(brief[0])
        most = (Row(KERNELS, str(kernels.name[top])), f": {duration(int(kernels.sum[top]))}")
        evidence.append(("most of the time", most))
    return Finding(
        SLUG, sentence, tuple(evidence), ADVICE, "medium", cost, window=densest(analysis, SHORT_NS)
    )


RULE = Rule(SLUG, "Short kernels", check)
