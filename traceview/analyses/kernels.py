"""Which kernels cost how much: per name, and per name, device and stream."""

from __future__ import annotations

import numpy as np

from traceview.analyses.grouping import by_size, combined, compact, spread, sums, texts
from traceview.analyses.results import Kernels, StreamKernels
from traceview.analyses.rules import COLLECTIVE
from traceview.analyses.workspace import Workspace
from traceview.events import Kind


def kernels(workspace: Workspace) -> Kernels:
    """Return the kernels by name, always from single durations."""
    trace, timed = workspace.trace, workspace.kernels
    rows = workspace.usable[trace.slices.kind[workspace.usable] == Kind.KERNEL]
    used, group = compact(trace.slices.name[rows], len(trace.names))
    place = np.zeros(len(trace.names), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    timed_group = place[timed.name]
    found = spread(timed_group, timed.dur, len(used))
    calls = np.bincount(group, minlength=len(used)) if len(used) else np.zeros(0, np.int64)
    names = texts(trace.names[n] for n in used.tolist())
    category = _categories(workspace, timed_group, used)
    whole = int(found.sum.sum())
    columns = (found.sum, found.mean, found.median, found.p95, found.min, found.max)
    table = Kernels(names, category, calls, calls - found.calls, *columns, found.sum / max(whole, 1))
    return table.take(by_size(table.sum, names))


def kernels_by_stream(workspace: Workspace) -> StreamKernels:
    """Return the timed kernels by name, device and stream."""
    trace, timed = workspace.trace, workspace.kernels
    name, track, group = combined(timed.name, timed.track, len(trace.tracks))
    found = spread(group, timed.dur, len(name))
    names = texts(trace.names[n] for n in name.tolist())
    tracks = track.tolist()
    devices = texts(workspace.devices[workspace.device_of_track[t]] for t in tracks)
    streams = texts(trace.tracks[t].stream or "" for t in tracks)
    whole = int(found.sum.sum())
    table = StreamKernels(names, devices, streams, *found, found.sum / max(whole, 1))
    return table.take(by_size(table.sum, names))


def clipped_sums(workspace: Workspace) -> dict[str, int]:
    """Return the sum per kernel name with broken records ended where the next kernel starts."""
    work = workspace.work
    kernel = work.kind == Kind.KERNEL
    used, group = compact(work.name[kernel], len(workspace.trace.names))
    added = sums(group, (workspace.clipped_end - work.start)[kernel], len(used))
    return {workspace.trace.names[n]: total for n, total in zip(used.tolist(), added.tolist(), strict=True)}


def _categories(workspace: Workspace, group: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return one category per name: collective where any of its records is one."""
    listed = workspace.rules.categories
    column = texts(listed[c] for c in workspace.category_of_name[used].tolist())
    column[np.unique(group[workspace.kernels.collective])] = COLLECTIVE
    return column
