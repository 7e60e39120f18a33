"""All answers about one trace, one field per analysis.

Apart from the tables in results.py, so that an analysis can import those, and others can use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from traceview.analyses.collectives import Collectives
from traceview.analyses.gap_slices import GapSlices
from traceview.analyses.gaps import GapCauses, GapLengths, Gaps, gap_causes, gap_lengths
from traceview.analyses.health import Health
from traceview.analyses.launch_behaviour import LaunchBehaviour
from traceview.analyses.per_step import PerStep
from traceview.analyses.phases import Phases
from traceview.analyses.results import (
    Categories,
    Copies,
    Coverage,
    GpuTime,
    Kernels,
    Launches,
    Operators,
    StepTimes,
    StreamKernels,
)
from traceview.analyses.step_windows import StepTime, StepWindows, step_time
from traceview.analyses.streams import Streams
from traceview.analyses.synchronisation import Syncs


@dataclass(frozen=True)
class Results:
    """Hold what ANALYSES return, one field each."""

    kernels: Kernels
    kernels_by_stream: StreamKernels
    copies: Copies
    launches: Launches
    gpu_time: GpuTime
    window_time: GpuTime
    operators: Operators
    categories: Categories
    steps: StepTimes
    step_windows: StepWindows
    per_step: PerStep
    gaps: Gaps
    gap_slices: GapSlices
    syncs: Syncs
    streams: Streams
    collectives: Collectives
    phases: Phases
    launch_behaviour: LaunchBehaviour
    health: Health

    @cached_property
    def step_time(self) -> StepTime:
        """Return how long a step takes."""
        return step_time(self.step_windows)

    @cached_property
    def gap_causes(self) -> GapCauses:
        """Return what the idle time of all devices went to."""
        return gap_causes(self.gaps)

    @cached_property
    def gap_lengths(self) -> GapLengths:
        """Return how many gaps have which length."""
        return gap_lengths(self.gaps)

    @property
    def in_windows(self) -> bool:
        """Say whether busy and exposed shares are of step windows, rather than of the devices' spans."""
        return bool(self.window_time.span.any())

    @property
    def base_time(self) -> GpuTime:
        """Return the split that busy and exposed shares are told of."""
        return self.window_time if self.in_windows else self.gpu_time

    @property
    def busy_share(self) -> float | None:
        """Return busy by base over all devices (0..1), None where it cannot be told."""
        base = int(self.base_time.span.sum())
        return int(self.base_time.busy.sum()) / base if self.utilisation_reliable and base else None

    @property
    def coverage(self) -> Coverage:
        """Return which launches have device records."""
        return self.launches.coverage

    @property
    def utilisation_reliable(self) -> bool:
        """Say whether there are device records, and enough of them for the launches seen."""
        return len(self.gpu_time) > 0 and self.coverage.reliable

    @property
    def utilisation(self) -> float | None:
        """Return busy by span over all devices (0..1), None where it cannot be told."""
        span = int(self.gpu_time.span.sum())
        return int(self.gpu_time.busy.sum()) / span if self.utilisation_reliable and span else None
