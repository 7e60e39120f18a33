"""Where the time of each device went: compute, exposed collective, copy and fill, idle."""

from __future__ import annotations

import numpy as np

from traceview.analyses.grouping import sums, texts
from traceview.analyses.results import GpuTime
from traceview.analyses.windows import Spans, Windows
from traceview.analyses.workspace import Workspace
from traceview.events import Kind
from traceview.intervals import Intervals, amount_before, total, union


def gpu_time(workspace: Workspace) -> GpuTime:
    """Return the split of each device's span, which adds up to the nanosecond.

    A device whose records are all without time has zeros. Of chosen steps without device work it is empty.
    """
    if workspace.whole is not None and not len(workspace.usable):  # steps that launched nothing
        return time_within(workspace, Windows.nowhere(workspace).spans)
    work, count = workspace.work, len(workspace.devices)
    kernel = work.kind == Kind.KERNEL
    first, last = np.zeros(count, np.int64), np.full(count, np.iinfo(np.int64).min)
    first[work.device[::-1]] = work.start[::-1]  # work is sorted by start: the earliest is written last
    np.maximum.at(last, work.device, work.end)
    last = np.maximum(last, first)
    layers = [_busy(workspace, spans) for spans in workspace.layers]
    kernel_sum = sums(work.device[kernel], work.dur[kernel], count)
    return _table(texts(workspace.devices), (first, last, last - first), layers, kernel_sum)


def window_time(workspace: Workspace) -> GpuTime:
    """Return the same within the device windows of all steps, one row per device that has some."""
    return time_within(workspace, workspace.once(Windows.found).spans)


def time_within(workspace: Workspace, spans: Spans) -> GpuTime:
    """Return the split of the added windows of each device, work of other steps and of none included.

    `first` and `last` are the edges of its first and its last window.
    """
    used, place = np.unique(spans.device, return_inverse=True)
    count = len(used)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first, place, spans.start)
    np.maximum.at(last, place, spans.end)
    length = sums(place, spans.end - spans.start, count)
    layers = [sums(place, covered(workspace, layer, spans), count) for layer in workspace.layers]
    kernel_sum = _kernel_sum(workspace, spans)[used]
    return _table(texts(workspace.devices)[used], (first, last, length), layers, kernel_sum)


def covered(workspace: Workspace, layer: Intervals, spans: Spans) -> np.ndarray:
    """Return how much of each window a layer of the workspace covers, in ns."""
    shift = workspace.device_shift[spans.device]
    found: np.ndarray = amount_before(layer, spans.end + shift) - amount_before(layer, spans.start + shift)
    return found


def _kernel_sum(workspace: Workspace, spans: Spans) -> np.ndarray:
    """Return for each device the added durations of kernels as far as they lie in its windows."""
    shift = workspace.device_shift[spans.device]
    inside = union(spans.start + shift, spans.end + shift)
    kernel = workspace.work.kind == Kind.KERNEL
    start, end = (edge[kernel] for edge in workspace.apart)
    held = amount_before(inside, end) - amount_before(inside, start)
    return sums(workspace.work.device[kernel], held, len(workspace.devices))


def _table(
    device: np.ndarray,
    stretch: tuple[np.ndarray, np.ndarray, np.ndarray],
    layers: list[np.ndarray],
    kernel_sum: np.ndarray,
) -> GpuTime:
    """Return the table; `stretch` has first, last and length, `layers` the times of the workspace's layers."""
    (first, last, span), (compute, kernels, moving, busy, collective) = stretch, layers
    return GpuTime(
        device=device,
        span=span,
        busy=busy,
        compute=compute,
        exposed_collective=kernels - compute,
        exposed_copy=moving - kernels,
        exposed_fill=busy - moving,
        idle=span - busy,
        kernel_sum=kernel_sum,
        kernel_busy=kernels,
        collective_busy=collective,
        first=first,
        last=last,
    )


def _busy(workspace: Workspace, layer: Intervals) -> np.ndarray:
    """Return for each device how much of it a layer covers, in ns."""
    count = len(workspace.devices)
    if count == 1:
        return np.array([total(layer)], np.int64)
    return sums(_device_at(workspace, layer.start), layer.end - layer.start, count)


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
