"""One kernel name holds much of the kernel time, and that time counts."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.events import Kind
from traceview.findings.finding import Finding, Rule, base_ns
from traceview.findings.said import KERNELS, Row
from traceview.findings.stretches import longest_record
from traceview.units import count, duration, share

SLUG = "dominant-kernel"
LEAST_SHARE = 0.30  # of the summed kernel time
LEAST_OF_BASE = 0.10  # on a starving device a faster kernel changes nothing
ADVICE = (
    "This is where a faster kernel pays: look at it with Nsight Compute, at its shapes, precision and layout."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where one name has 30 % of the summed kernel time or more."""
    kernels = analysis.kernels
    if not len(kernels) or float(kernels.share[0]) < LEAST_SHARE:
        return None
    if kernels.name[0] in set(analysis.collectives.name.tolist()):  # exposed-communication speaks of these
        return None
    if int(kernels.sum[0]) < LEAST_OF_BASE * base_ns(analysis):
        return None
    name = Row(KERNELS, str(kernels.name[0]))
    held = f"{share(float(kernels.share[0]))} of the summed kernel time ({duration(int(kernels.sum[0]))})"
    said = ("One kernel, ", name, f", holds {held}.")
    evidence = (("kernel", (name,)), ("calls", count(int(kernels.calls[0]))))
    window = longest_record(analysis, Kind.KERNEL, str(kernels.name[0]).__eq__)
    return Finding(SLUG, said, evidence, ADVICE, "high", window=window)


RULE = Rule(SLUG, "One kernel dominates", check, of_idle=False, needs_records=False, describes=True)
