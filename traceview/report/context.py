"""What every section is made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from traceview.analyses import Analysis
from traceview.events import Trace
from traceview.report.labels import Labels
from traceview.report.launch_cost import launch_cost
from traceview.report.names import NameBook
from traceview.report.view import ReportOptions, TableView
from traceview.report.wording import begin, device_word, recorded_none


@dataclass(frozen=True)
class Context:
    """Hold the analysis, the reader's wishes, and what was collected so far: names, and tables with their section."""

    analysis: Analysis
    options: ReportOptions
    names: NameBook
    labels: Labels
    tables: dict[str, tuple[str, TableView]] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        """Return the trace that was analysed."""
        return self.analysis.trace

    @cached_property
    def device(self) -> str:
        """Return what the device is called: "GPU", or "device" for another accelerator."""
        return device_word(self.trace)

    @property
    def of_xla(self) -> bool:
        """Say whether JAX or TensorFlow 2 wrote the trace, to which the advice for PyTorch says nothing."""
        return "XLA" in self.trace.meta.dialect.upper()

    @cached_property
    def cost(self) -> dict[str, float]:
        """Return ns of launching calls by kernel name."""
        return launch_cost(self.trace)


def no_device(analysis: Analysis) -> str:
    """Say why the page has no device time, and how to record it."""
    if found := recorded_none(analysis):
        reason = analysis.launches.without_reason
        return f"{found}." + (f" {begin(reason)}." if reason else "")
    if analysis.chosen:
        return "The chosen steps launched no GPU work; others of this trace may have: choose them, or all."
    return (
        "This trace holds no GPU work. Record with ProfilerActivity.CUDA (also on AMD; XPU has its own) and let "
        "the profiled region end after torch.cuda.synchronize(), so that device records arrive in time."
    )


NO_KERNELS = (
    "No device records in this trace: record the device's activity beside the host's, as told above under the time of "
    "the device."
)
"""The same for the other sections."""
