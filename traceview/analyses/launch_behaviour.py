"""How the host feeds the device: launches per step, queue depth, what launching costs, kernel lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.axes import shifts
from traceview.analyses.grouping import compact, texts
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind
from traceview.intervals import amount_before, gaps, union
from traceview.tables import Table, column

DEPTH_POINTS = 2_000  # of a stream's queue depth, at most
EDGES_NS = (0, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 10_000_000)


@dataclass(frozen=True, eq=False)
class KernelLengths(Table):
    """Hold the histogram of kernel durations; a bar counts from `shortest` up to below `longest` (-1: no end)."""

    shortest: np.ndarray = column("shortest duration of the bar", "ns")
    longest: np.ndarray = column("durations of the bar are below it, -1: no end", "ns")
    kernels: np.ndarray = column("kernels", "count")
    sum: np.ndarray = column("their added durations", "ns")


@dataclass(frozen=True, eq=False)
class QueueDepth(Table):
    """Hold how many records were launched and not begun, by stream; a point holds until the next of its stream.

    A long trace is thinned to the deepest point of each of at most 2,000 stretches.
    """

    device: np.ndarray = column("device", "text")
    stream: np.ndarray = column("stream", "text")
    time: np.ndarray = column("from when", "ns")
    depth: np.ndarray = column("records launched (their call has begun) and not begun on the device", "count")


@dataclass(frozen=True)
class LaunchBehaviour:
    """Hold how launching went; times in ns, shares of linked kernels.

    `delay_cost` is the union of all start delays cut to the time in which the device idles: what
    launching itself may have cost, an upper bound. `shorter_than_launch` counts kernels that run
    shorter than the call that launched them, graph launches apart.
    """

    delay_cost: int
    shorter_than_launch: int
    shorter_share: float | None
    graph_launches: int
    graph_kernels: int
    without_operator: int
    lengths: KernelLengths
    depth: QueueDepth


def launch_behaviour(workspace: Workspace) -> LaunchBehaviour:
    """Return how launching went."""
    trace, work = workspace.trace, workspace.work
    kernel = np.flatnonzero((work.kind == Kind.KERNEL) & (work.link >= 0))
    graph = (trace.slices.flags[work.link[kernel]] & Flag.GRAPH) != 0
    single = kernel[~graph]
    shorter = int((work.dur[single] < trace.slices.dur[work.link[single]]).sum())
    launching = np.unique(work.link[kernel[graph]])
    lost = int((workspace.op_of_work[kernel] < 0).sum())
    return LaunchBehaviour(
        delay_cost=_delay_cost(workspace),
        shorter_than_launch=shorter,
        shorter_share=shorter / len(single) if len(single) else None,
        graph_launches=len(launching),
        graph_kernels=int(graph.sum()),
        without_operator=lost,
        lengths=_lengths(workspace.kernels.dur),
        depth=_depth(workspace),
    )


def _delay_cost(workspace: Workspace) -> int:
    """Return the idle time under any start delay: from max(launch, stream free) to the record's start."""
    work, trace = workspace.work, workspace.trace
    some = np.flatnonzero((work.link >= 0) & (workspace.stream_free >= 0))
    begin = np.maximum(trace.slices.start[work.link[some]], workspace.stream_free[some])
    start, end = workspace.apart
    waits = union(begin + (start - work.start)[some], start[some])
    idle = gaps(union(start, end))  # and what lies between two devices, where nothing waits
    return int((amount_before(idle, waits.end) - amount_before(idle, waits.start)).sum())


def _lengths(dur: np.ndarray) -> KernelLengths:
    edges = np.array(EDGES_NS, np.int64)
    bar = np.searchsorted(edges, dur, "right") - 1
    added = np.zeros(len(edges), np.int64)
    np.add.at(added, bar, dur)
    return KernelLengths(edges, np.append(edges[1:], -1), np.bincount(bar, minlength=len(edges)), added)


def _depth(workspace: Workspace) -> QueueDepth:
    work, trace = workspace.work, workspace.trace
    order = workspace.by_stream
    order = order[work.link[order] >= 0]
    used, stream = compact(work.track[order], len(trace.tracks))
    begun = work.start[order]
    launched = np.minimum(trace.slices.start[work.link[order]], begun)
    shift = shifts(stream, launched, begun, len(used))  # one axis for all streams: each is empty at its end
    at = np.concatenate((launched, begun)) + np.tile(shift[stream], 2)
    by_time = np.argsort(at, kind="stable")
    depth = np.cumsum(np.repeat(np.array([1, -1]), len(order))[by_time])
    at, stream = at[by_time], np.tile(stream, 2)[by_time]
    last = np.flatnonzero(np.append(at[1:] != at[:-1], True)) if len(at) else np.empty(0, np.int64)
    at, stream, depth = at[last], stream[last], depth[last]
    kept = _thinned(stream, len(used))
    at, stream = at[kept], stream[kept]
    depth = np.maximum.reduceat(depth, kept) if len(kept) else depth
    tracks = [trace.tracks[t] for t in used.tolist()]
    devices, streams = texts(t.device or "" for t in tracks), texts(t.stream or "" for t in tracks)
    return QueueDepth(devices[stream], streams[stream], at - shift[stream], depth)


def _thinned(stream: np.ndarray, streams: int) -> np.ndarray:
    """Return the points that are kept: of a stream with too many, where its stretches begin."""
    count = np.bincount(stream, minlength=streams)
    kept = np.arange(len(stream))
    many = np.flatnonzero(count > DEPTH_POINTS)
    if not len(many):
        return kept
    first = np.cumsum(count) - count
    begins = [first[s] + np.arange(DEPTH_POINTS) * count[s] // DEPTH_POINTS for s in many.tolist()]
    few = kept[(count <= DEPTH_POINTS)[stream]]
    return np.sort(np.concatenate((few, *begins)))
