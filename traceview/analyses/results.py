"""What the analyses return: tables with units and meanings. All times are int64 nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.grouping import Quantiles
from traceview.tables import Table, column

NO_OPERATOR = "(no operator)"


@dataclass(frozen=True, eq=False)
class Kernels(Table):
    """Hold one row per kernel name, largest sum first."""

    name: np.ndarray = column("full kernel name", "text")
    category: np.ndarray = column("category by the rules of categories.rules", "text")
    calls: np.ndarray = column("device records of this name, each counted once", "count")
    untimed: np.ndarray = column(
        "those without a valid time: counted as calls, kept out of all times", "count"
    )
    sum: np.ndarray = column("added durations; kernels side by side count twice", "ns")
    mean: np.ndarray = column("sum by timed calls", "ns")
    median: np.ndarray = column("median of the single durations", "ns")
    p95: np.ndarray = column("95th percentile of the single durations, linear between neighbours", "ns")
    min: np.ndarray = column("shortest single duration", "ns")
    max: np.ndarray = column("longest single duration", "ns")
    share: np.ndarray = column("sum by the sum of all kernels (not by wall time)", "share")


@dataclass(frozen=True, eq=False)
class StreamKernels(Table):
    """Hold one row per kernel name, device and stream, largest sum first."""

    name: np.ndarray = column("full kernel name", "text")
    device: np.ndarray = column("device", "text")
    stream: np.ndarray = column("stream of the device", "text")
    calls: np.ndarray = column("timed device records", "count")
    sum: np.ndarray = column("added durations", "ns")
    mean: np.ndarray = column("sum by calls", "ns")
    median: np.ndarray = column("median of the single durations", "ns")
    p95: np.ndarray = column("95th percentile of the single durations", "ns")
    min: np.ndarray = column("shortest single duration", "ns")
    max: np.ndarray = column("longest single duration", "ns")
    share: np.ndarray = column("sum by the sum of all kernels", "share")


@dataclass(frozen=True, eq=False)
class Copies(Table):
    """Hold one row per name of device copies and fills, largest sum first."""

    name: np.ndarray = column("name of the record", "text")
    kind: np.ndarray = column("copy or fill", "text")
    direction: np.ndarray = column(
        "HtoD, DtoH, DtoD, PtoP or HtoH, empty where the name does not say", "text"
    )
    memory: np.ndarray = column("kinds of memory as the name has them, such as Pageable -> Device", "text")
    calls: np.ndarray = column("device records of this name, each counted once", "count")
    sum: np.ndarray = column("added durations", "ns")
    mean: np.ndarray = column("sum by timed calls", "ns")
    median: np.ndarray = column("median of the single durations", "ns")
    p95: np.ndarray = column("95th percentile of the single durations", "ns")
    min: np.ndarray = column("shortest single duration", "ns")
    max: np.ndarray = column("longest single duration", "ns")
    bytes: np.ndarray = column("bytes moved or set, -1 where no record says", "bytes")
    exposed: np.ndarray = column("added time under no kernel of the device", "ns")
    blocking: np.ndarray = column("records whose host call blocks until they are done", "count")
    bandwidth: np.ndarray = column(
        "bytes by the added time, nan where not known; a clue, not a verdict", "GB/s"
    )


@dataclass(frozen=True, eq=False)
class LaunchCalls(Table):
    """Hold one row per name of the host calls that enqueue kernels, largest CPU time first."""

    name: np.ndarray = column("name of the call", "text")
    calls: np.ndarray = column("calls, each once, whatever number of kernels it starts", "count")
    cpu_sum: np.ndarray = column("added time of the calls on the CPU", "ns")
    cpu_median: np.ndarray = column("median time of a call on the CPU", "ns")
    kernels: np.ndarray = column("kernels they started", "count")


@dataclass(frozen=True, eq=False)
class LaunchPairs(Table):
    """Hold one row per launch and its first device record, by start of the launch.

    Records that start before their launch began (clock skew) have no row.
    """

    kernel: np.ndarray = column("row of the device record in the trace", "id")
    launch: np.ndarray = column("row of the host call in the trace", "id")
    latency: np.ndarray = column("start of the record less start of the call", "ns")
    queue_delay: np.ndarray = column(
        "start of the record less end of the call, -1 while the call still ran", "ns"
    )
    start_delay: np.ndarray = column(
        "start of the record less the later of the start of the call and the end of the work before it on its "
        "stream, never below 0; -1 for the first record of a stream: what the launch itself cost",
        "ns",
    )


@dataclass(frozen=True)
class Coverage:
    """Say which launches have device records.

    `capture` and `tail` are launches without a record that cannot have one: those under stream
    capture, and those in the last millisecond of the trace. `expected` is all launches less these.
    """

    launches: int
    present: int
    capture: int
    tail: int

    @property
    def expected(self) -> int:
        """Return how many launches should have device records."""
        return self.launches - self.capture - self.tail

    @property
    def reliable(self) -> bool:
        """Say whether the device records are complete enough to speak of utilisation.

        At least 99 % of the launches that should have records have them, and at most 20 % are set aside.
        """
        aside = self.capture + self.tail
        return self.present * 100 >= self.expected * 99 and aside * 5 <= self.launches


@dataclass(frozen=True, eq=False)
class Launches:
    """Hold what is known of launches: host calls that enqueue kernels or graphs; times in ns.

    `linked` and `unlinked` count kernels; `without_gpu` launches that no device record names,
    `without_reason` says why as far as the trace shows; `negative` kernels that start before their
    launch began (clock skew), `started_during_call` records that start before it returned, which is
    normal. `kernels_per_graph_launch` has one entry per graph launch with device records, in order.
    """

    calls: int
    cpu_ns: int
    linked: int
    unlinked: int
    without_gpu: int
    without_reason: str
    negative: int
    started_during_call: int
    graph_launches: int
    graph_launches_with_kernels: int
    kernels_per_graph_launch: np.ndarray
    graph_kernel_share: float | None
    latency: Quantiles | None
    queue_delay: Quantiles | None
    start_delay: Quantiles | None
    by_call: LaunchCalls
    pairs: LaunchPairs
    coverage: Coverage


@dataclass(frozen=True, eq=False)
class GpuTime(Table):
    """Split the span of each device: compute + exposed collective, copy and fill + idle = span.

    Compute hides a collective, either hides a copy, all hide a fill.
    """

    device: np.ndarray = column("device, scoped by rank where the file has several", "text")
    span: np.ndarray = column("first start to last end of its work, on its own clock", "ns")
    busy: np.ndarray = column("union of kernels, copies and fills", "ns")
    compute: np.ndarray = column("union of kernels that are no collectives", "ns")
    exposed_collective: np.ndarray = column("collective kernels not hidden under compute", "ns")
    exposed_copy: np.ndarray = column("copies not hidden under kernels", "ns")
    exposed_fill: np.ndarray = column("fills not hidden under kernels or copies", "ns")
    idle: np.ndarray = column("span less busy", "ns")
    kernel_sum: np.ndarray = column("added durations of kernels", "ns")
    kernel_busy: np.ndarray = column("union of kernels", "ns")
    collective_busy: np.ndarray = column("union of collective kernels", "ns")
    first: np.ndarray = column("first start, from the trace's origin", "ns")
    last: np.ndarray = column("last end, from the trace's origin", "ns")


@dataclass(frozen=True, eq=False)
class Operators(Table):
    """Hold one row per name of host operators and annotations, as key_averages() has them.

    Largest own device time first, then own CPU time. Children are operators, annotations and runtime
    calls, not Python frames. Where device work has no operator, a last row "(no operator)" holds it, so
    that device_self adds up to all device work.
    """

    name: np.ndarray = column("name; the numbers of ProfilerStep#N are left out", "text")
    kind: np.ndarray = column("op, annotation, or range (a host slice of no known category)", "text")
    calls: np.ndarray = column("calls; an only child of its parent's name is the same call", "count")
    cpu_self: np.ndarray = column("host time less that of its children", "ns")
    cpu_total: np.ndarray = column("host time; within one of the same name it is not added again", "ns")
    device_self: np.ndarray = column("device work launched with it as the innermost operator, added", "ns")
    device_total: np.ndarray = column("device work launched inside it, added; same name counted once", "ns")


@dataclass(frozen=True, eq=False)
class Categories(Table):
    """Hold one row per category of device work that occurs, largest sum first."""

    category: np.ndarray = column("category of the work, by rules on kernel names", "text")
    calls: np.ndarray = column("timed device records", "count")
    sum: np.ndarray = column("added durations", "ns")
    share: np.ndarray = column("sum by the added durations of all device work", "share")


@dataclass(frozen=True, eq=False)
class StepTimes(Table):
    """Hold one row per annotated step, by start."""

    number: np.ndarray = column("number in its name", "id")
    start: np.ndarray = column("start on the host", "ns")
    wall: np.ndarray = column("wall time on the host", "ns")
    launches: np.ndarray = column("launches that began in it", "count")
    kernels: np.ndarray = column("added durations of the kernels launched in it", "ns")
    complete: np.ndarray = column("its launches have device records (99 % of them)", "bool")
    outlier: np.ndarray = column(
        "complete, with more than 1.5 times the kernel time of the others' median", "bool"
    )
