"""Where the time of each device went: compute, exposed collective, copy and fill, idle."""

from __future__ import annotations

import numpy as np

from traceview.analyses.grouping import sums, texts
from traceview.analyses.results import GpuTime
from traceview.analyses.workspace import Workspace
from traceview.events import Kind
from traceview.intervals import union


def gpu_time(workspace: Workspace) -> GpuTime:
    """Return the split of each device's span, which adds up to the nanosecond.

    A device whose records are all without time has zeros.
    """
    work, count = workspace.work, len(workspace.devices)
    kernel, fill = work.kind == Kind.KERNEL, work.kind == Kind.FILL
    compute, kernels, moving, busy, collective = (
        _busy(workspace, mask)
        for mask in (workspace.compute, kernel, ~fill, np.ones(len(kernel), bool), work.collective)
    )
    first, last = np.zeros(count, np.int64), np.full(count, np.iinfo(np.int64).min)
    first[work.device[::-1]] = work.start[::-1]  # work is sorted by start: the earliest is written last
    np.maximum.at(last, work.device, work.end)
    last = np.maximum(last, first)
    span = last - first
    return GpuTime(
        device=texts(workspace.devices),
        span=span,
        busy=busy,
        compute=compute,
        exposed_collective=kernels - compute,
        exposed_copy=moving - kernels,
        exposed_fill=busy - moving,
        idle=span - busy,
        kernel_sum=sums(work.device[kernel], work.dur[kernel], count),
        kernel_busy=kernels,
        collective_busy=collective,
        first=first,
        last=last,
    )


def _busy(workspace: Workspace, mask: np.ndarray) -> np.ndarray:
    """Return for each device the length of the union of its records of a mask."""
    start, end = workspace.apart
    count = len(workspace.devices)
    if not mask.any():
        return np.zeros(count, np.int64)
    busy = union(start, end) if mask.all() else union(start[mask], end[mask])
    return sums(_device_at(workspace, busy.start), busy.end - busy.start, count)


def _device_at(workspace: Workspace, times: np.ndarray) -> np.ndarray:
    """Return the device in whose stretch of the common axis times lie."""
    work, count = workspace.work, len(workspace.devices)
    if count < 2:
        return np.zeros(len(times), np.int64)
    low = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(low, work.device, workspace.apart[0])
    order = np.argsort(low, kind="stable")
    device: np.ndarray = order[np.searchsorted(low[order], times, "right") - 1]
    return device
