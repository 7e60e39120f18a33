"""How launches and device work belong together: latencies, delays, and what is missing.

A launch is a host call that enqueues kernels or a graph. Of all records of one launch only the first
has a latency, so a graph launch with a thousand kernels counts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traceview.analyses.grouping import by_size, compact, quantiles, spread, sums, texts
from traceview.analyses.results import Coverage, LaunchCalls, Launches, LaunchPairs
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind

TAIL_NS = 1_000_000


class _Calls(NamedTuple):
    """Hold the launch calls as columns, and how many device records and kernels each has."""

    row: np.ndarray
    start: np.ndarray
    dur: np.ndarray
    graph: np.ndarray
    records: np.ndarray
    kernels: np.ndarray
    place: np.ndarray  # of each row of the trace among the calls, -1


def launches(workspace: Workspace) -> Launches:
    """Return everything about launches."""
    trace = workspace.trace
    calls = _calls(workspace)
    pairs, negative, during = _pairs(workspace, calls)
    kernel_rows = workspace.usable[trace.slices.kind[workspace.usable] == Kind.KERNEL]
    linked = int((trace.slices.link[kernel_rows] >= 0).sum())
    present = calls.records > 0
    coverage, reason = _coverage(workspace, calls, present)
    graph = calls.graph & present
    with_delay, with_free = pairs.queue_delay >= 0, pairs.start_delay >= 0
    return Launches(
        calls=len(calls.row),
        cpu_ns=int(calls.dur.sum()),
        linked=linked,
        unlinked=len(kernel_rows) - linked,
        without_gpu=int((~present).sum()),
        without_reason=reason,
        negative=negative,
        started_during_call=during,
        graph_launches=int(calls.graph.sum()),
        graph_launches_with_kernels=int(graph.sum()),
        kernels_per_graph_launch=calls.kernels[graph],
        graph_kernel_share=_graph_share(workspace),
        latency=quantiles(pairs.latency),
        queue_delay=quantiles(pairs.queue_delay[with_delay]),
        start_delay=quantiles(pairs.start_delay[with_free]),
        by_call=_by_call(workspace, calls),
        pairs=pairs,
        coverage=coverage,
    )


def _calls(workspace: Workspace) -> _Calls:
    s = workspace.trace.slices
    row = np.flatnonzero(s.kind == Kind.LAUNCH)
    row = row[(s.flags[row] & Flag.NESTED_CALL) == 0]
    place = np.full(len(s), -1, np.int32)
    place[row] = np.arange(len(row), dtype=np.int32)
    link = s.link[workspace.usable]
    of_call = place[link[link >= 0]]
    kernel = (s.kind[workspace.usable] == Kind.KERNEL)[link >= 0]
    records = np.bincount(of_call[of_call >= 0], minlength=len(row))
    kernels = np.bincount(of_call[(of_call >= 0) & kernel], minlength=len(row))
    graph = (s.flags[row] & Flag.GRAPH) != 0
    return _Calls(row, s.start[row], s.dur[row], graph, records, kernels, place)


def _pairs(workspace: Workspace, calls: _Calls) -> tuple[LaunchPairs, int, int]:
    """Return the first record of each launch, and how many kernels start before, and how many during it."""
    work = workspace.work
    at = np.flatnonzero(work.link >= 0)
    of_call = calls.place[work.link[at]]
    at, of_call = at[of_call >= 0], of_call[of_call >= 0]
    early = work.start[at] < calls.start[of_call]
    negative = int((early & (work.kind[at] == Kind.KERNEL)).sum())
    first = np.full(len(calls.row), -1, np.int64)
    first[of_call[::-1]] = at[::-1]  # work is sorted by start: the earliest is written last
    call = np.flatnonzero(first >= 0)
    call = call[work.start[first[call]] >= calls.start[call]]
    record = first[call]
    began, start = calls.start[call], work.start[record]
    delay = start - began - calls.dur[call]
    during = delay < 0
    free = workspace.stream_free[record]
    start_delay = np.where(free < 0, -1, np.maximum(start - np.maximum(began, free), 0))
    pairs = LaunchPairs(
        work.row[record], calls.row[call], start - began, np.where(during, -1, delay), start_delay
    )
    return pairs, negative, int(during.sum())


def _by_call(workspace: Workspace, calls: _Calls) -> LaunchCalls:
    trace = workspace.trace
    used, group = compact(trace.slices.name[calls.row], len(trace.names))
    found = spread(group, calls.dur, len(used))
    names = texts(trace.names[n] for n in used.tolist())
    table = LaunchCalls(names, found.calls, found.sum, found.median, sums(group, calls.kernels, len(used)))
    return table.take(by_size(table.cpu_sum, names))


def _graph_share(workspace: Workspace) -> float | None:
    kernels = workspace.kernels
    whole = int(kernels.dur.sum())
    if not whole:
        return None
    inside = (workspace.trace.slices.flags[kernels.row] & Flag.GRAPH) != 0
    return int(kernels.dur[inside].sum()) / whole


def _coverage(workspace: Workspace, calls: _Calls, present: np.ndarray) -> tuple[Coverage, str]:
    missing = np.flatnonzero(~present)
    if not len(missing):
        return Coverage(len(calls.row), len(calls.row), 0, 0), ""
    captured = _under_capture(workspace, calls.row[missing])
    late = ~captured & (calls.start[missing] >= workspace.end_ns - TAIL_NS)
    coverage = Coverage(len(calls.row), int(present.sum()), int(captured.sum()), int(late.sum()))
    return coverage, _reason(workspace, coverage, len(missing))


def _under_capture(workspace: Workspace, rows: np.ndarray) -> np.ndarray:
    """Return which calls run between begin and end of a stream capture on their thread."""
    trace, s = workspace.trace, workspace.trace.slices
    found = np.zeros(len(rows), bool)
    calls = trace.rows_of(Kind.RUNTIME, Kind.LAUNCH)
    used, group = compact(s.name[calls], len(trace.names))
    begins = calls[np.array(["StreamBeginCapture" in trace.names[n] for n in used.tolist()], bool)[group]]
    ends = calls[np.array(["StreamEndCapture" in trace.names[n] for n in used.tolist()], bool)[group]]
    for track in np.unique(s.track[begins]).tolist():
        own = np.flatnonzero(s.track[rows] == track)
        begun = np.searchsorted(s.start[begins[s.track[begins] == track]], s.start[rows[own]], "right")
        ended = np.searchsorted(s.start[ends[s.track[ends] == track]], s.start[rows[own]], "right")
        found[own] = begun > ended
    return found


def _reason(workspace: Workspace, coverage: Coverage, missing: int) -> str:
    """Say why launches have no device record, as far as the trace shows."""
    trace = workspace.trace
    reasons = []
    if trace.cut:
        reasons.append("the file is cut, their records may stand behind the cut")
    if trace.account.dropped_device_events:
        reasons.append(
            f"{trace.account.dropped_device_events} device records could not be timed and were left out"
        )
    if coverage.capture:
        reasons.append(
            f"{coverage.capture} ran under stream capture, which records a graph and starts nothing"
        )
    if not len(workspace.usable) and not reasons:
        return (
            "nothing of the device was recorded: no permission for the profiler's counters, a second profiler, "
            "no GPU activity asked for, or no synchronisation before the profiler stopped"
        )
    if coverage.tail:
        reasons.append(f"{coverage.tail} came in the last millisecond, when the profiler stopped")
    if missing > coverage.capture + coverage.tail and not trace.cut:
        reasons.append("the profiler lost records")
    return "; ".join(reasons)
