"""How the host feeds the device: launches per step, queue depth, what launching costs, kernel lengths."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from traceview.analyses.grouping import texts
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
    track = work.track[order]
    edges = np.flatnonzero(np.diff(track, prepend=-1))
    columns: list[tuple[str, str, np.ndarray, np.ndarray]] = []
    for first, last in pairwise([*edges.tolist(), len(order)]):
        own = order[first:last]
        launched = np.minimum(trace.slices.start[work.link[own]], work.start[own])
        at, depth = _steps(launched, work.start[own])
        where = trace.tracks[int(track[first])]
        columns.append((where.device or "", where.stream or "", *_thinned(at, depth)))
    counts = [len(at) for _, _, at, _ in columns]
    empty = np.empty(0, np.int64)
    return QueueDepth(
        texts(d for (d, *_), n in zip(columns, counts, strict=True) for _ in range(n)),
        texts(s for (_, s, *_), n in zip(columns, counts, strict=True) for _ in range(n)),
        np.concatenate([empty, *(at for *_, at, _ in columns)]),
        np.concatenate([empty, *(depth for *_, depth in columns)]),
    )


def _steps(launched: np.ndarray, begun: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the times at which the depth changes, and the depth from each on."""
    at = np.concatenate((launched, begun))
    step = np.repeat(np.array([1, -1]), len(launched))
    order = np.argsort(at, kind="stable")
    at, depth = at[order], np.cumsum(step[order])
    last = np.append(at[1:] != at[:-1], True)
    return at[last], depth[last]


def _thinned(at: np.ndarray, depth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(at) <= DEPTH_POINTS:
        return at, depth
    begin = np.arange(DEPTH_POINTS) * len(at) // DEPTH_POINTS
    return at[begin], np.maximum.reduceat(depth, begin)
