"""One kernel name holds much of the kernel time."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.units import count, duration, safe, share, short_name

SLUG = "dominant-kernel"
LEAST_SHARE = 0.30
ADVICE = (
    "This is where a faster kernel pays: look at it with Nsight Compute, at its shapes, precision and layout."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where one name has 30 % of the summed kernel time or more."""
    kernels = analysis.kernels
    if not len(kernels) or float(kernels.share[0]) < LEAST_SHARE:
        return None
    name = safe(short_name(str(kernels.name[0])))
    sentence = f"One kernel, {name}, holds {share(float(kernels.share[0]))} of the summed kernel time ({duration(int(kernels.sum[0]))})."
    evidence = (("kernel", safe(str(kernels.name[0]))), ("calls", count(int(kernels.calls[0]))))
    return Finding(SLUG, sentence, evidence, ADVICE, "high")


RULE = Rule(SLUG, "One kernel dominates", check)
