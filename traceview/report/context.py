"""What every section is made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from traceview.analyses import Analysis
from traceview.events import Trace
from traceview.report.launch_cost import launch_cost
from traceview.report.names import NameBook
from traceview.report.view import ReportOptions


@dataclass(frozen=True)
class Context:
    """Hold the analysis, the reader's wishes, and the names collected so far."""

    analysis: Analysis
    options: ReportOptions
    names: NameBook

    @property
    def trace(self) -> Trace:
        """Return the trace that was analysed."""
        return self.analysis.trace

    @cached_property
    def cost(self) -> dict[str, float]:
        """Return ns of launching calls by kernel name."""
        return launch_cost(self.trace)


NO_GPU = (
    "This trace holds no GPU work. Record with ProfilerActivity.CUDA (also on AMD; XPU has its own) and let the "
    "profiled region end after torch.cuda.synchronize(), so that device records arrive in time."
)
"""Why the page has no GPU time, and how to record it."""

NO_KERNELS = "This trace holds no GPU work; “GPU time” above says how to record it."
"""The same for the sections that follow."""
