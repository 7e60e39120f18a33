"""Where the time of each device went: compute, exposed collective, copy and fill, idle."""

from __future__ import annotations

import numpy as np

from traceview.analyses.grouping import texts
from traceview.analyses.results import GpuTime
from traceview.analyses.workspace import Work, Workspace
from traceview.events import Kind
from traceview.intervals import total, union

_FIGURES = 12  # columns of GpuTime beside the device


def gpu_time(workspace: Workspace) -> GpuTime:
    """Return the split of each device's span, which adds up to the nanosecond."""
    work, count = workspace.work, len(workspace.devices)
    rows = [_split(work if count == 1 else work.where(work.device == code)) for code in range(count)]
    figures = np.array(rows, np.int64).reshape(len(rows), _FIGURES).T
    return GpuTime(texts(workspace.devices), *figures)


def _split(work: Work) -> tuple[int, ...]:
    if not len(work.row):  # every record of this device is without time
        return (0,) * _FIGURES
    kernel, fill = work.kind == Kind.KERNEL, work.kind == Kind.FILL
    compute = _busy(work, kernel & ~work.collective)
    kernels = _busy(work, kernel)
    moving = _busy(work, ~fill)
    busy = _busy(work, np.ones(len(kernel), bool))
    first, last = int(work.start.min()), int(work.end.max())
    span = last - first
    parts = (compute, kernels - compute, moving - kernels, busy - moving, span - busy)
    collective = _busy(work, work.collective)
    return (span, busy, *parts, int(work.dur[kernel].sum()), kernels, collective, first, last)


def _busy(work: Work, mask: np.ndarray) -> int:
    if mask.all():
        return total(union(work.start, work.end))
    return total(union(work.start[mask], work.end[mask]))
