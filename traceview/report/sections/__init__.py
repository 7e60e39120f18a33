"""The sections of the page, in their order: one file, one section, one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from traceview.report.context import Context
from traceview.report.sections import (
    categories,
    collectives,
    copies,
    findings,
    gaps,
    gpu_time,
    health,
    kernels,
    launch_behaviour,
    launches,
    method,
    operators,
    phases,
    steps,
    streams,
    synchronisation,
)
from traceview.report.view import SectionView


class Section(NamedTuple):
    """Name a section and say how its view is made; one without a builder is the timeline, made last."""

    id: str
    title: str
    build: Callable[[Context], SectionView] | None


FINDINGS = "findings"
SECTIONS: tuple[Section, ...] = (
    Section(FINDINGS, "Findings", findings.build),
    Section("steps", "Steps", steps.build),
    Section("gpu-time", "GPU time", gpu_time.build),
    Section("timeline", "Timeline", None),
    Section("kernels", "Kernels", kernels.build),
    Section("categories", "Categories", categories.build),
    Section("operators", "Operators", operators.build),
    Section("collectives", "Collectives", collectives.build),
    Section("copies", "Copies", copies.build),
    Section("launches", "Launches", launches.build),
    Section("launch-behaviour", "Launch behaviour", launch_behaviour.build),
    Section("gaps", "Idle gaps", gaps.build),
    Section("synchronisation", "Synchronisation", synchronisation.build),
    Section("streams", "Streams", streams.build),
    Section("phases", "Phases", phases.build),
    Section("health", "Trace health", health.build),
    Section("method", "Method", method.build),
)
