"""How the streams of a device share its time: what runs side by side, and what only takes turns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from traceview.analyses.axes import shifts
from traceview.analyses.grouping import combined, compact, sums, texts
from traceview.analyses.workspace import Workspace
from traceview.intervals import Intervals, amount_before, union
from traceview.tables import Table, column

PAIRED = 16  # streams of a device, by busy time, of which pairs are compared
_AT_ONCE = 1 << 21  # intervals of pairs, so that memory stays small


@dataclass(frozen=True, eq=False)
class StreamTimes(Table):
    """Hold one row per stream, by device and busy time."""

    device: np.ndarray = column("device", "text")
    stream: np.ndarray = column("stream", "text")
    records: np.ndarray = column("timed device records", "count")
    busy: np.ndarray = column("union of its records", "ns")
    sum: np.ndarray = column("added durations", "ns")
    own_overlap: np.ndarray = column("sum minus busy: records of this one stream side by side", "ns")
    alone: np.ndarray = column("time in which no other stream of the device works", "ns")


@dataclass(frozen=True, eq=False)
class Concurrency(Table):
    """Hold for each device how long how many streams work at once; all rows of a device add up to its busy time."""

    device: np.ndarray = column("device", "text")
    streams: np.ndarray = column("streams at work at once, from 1", "count")
    time: np.ndarray = column("for how long", "ns")


@dataclass(frozen=True, eq=False)
class StreamPairs(Table):
    """Hold the pairs of streams of a device, largest overlap first; pairs that never overlap are rows too."""

    device: np.ndarray = column("device", "text")
    left: np.ndarray = column("stream with more busy time", "text")
    right: np.ndarray = column("stream with less busy time", "text")
    overlap: np.ndarray = column("time in which both work", "ns")
    share: np.ndarray = column("overlap by the busy time of the right stream", "share")


@dataclass(frozen=True)
class Streams:
    """Hold what the streams of all devices did."""

    times: StreamTimes
    concurrency: Concurrency
    pairs: StreamPairs


class _Unions(NamedTuple):
    """Hold the streams with timed work, by track, and the unions of their records, by stream, then time; in ns.

    `shift` leads from the trace's times to an axis where each stream has a stretch of its own.
    """

    track: np.ndarray
    device: np.ndarray  # of each stream, as a code
    records: np.ndarray
    added: np.ndarray
    busy: np.ndarray
    shift: np.ndarray
    stream: np.ndarray  # of each interval
    spans: Intervals  # on the axis of the streams


def streams(workspace: Workspace) -> Streams:
    """Return stream times, concurrency and overlapping pairs of every device."""
    found = _unions(workspace)
    names = [workspace.trace.tracks[t].stream or "" for t in found.track.tolist()]
    concurrency, alone = _sweep(workspace, found)
    devices = texts(workspace.devices)
    rows = list(zip(found.device.tolist(), (-found.busy).tolist(), names, strict=True))
    order = np.array(sorted(range(len(rows)), key=rows.__getitem__), np.int64)
    times = StreamTimes(
        device=devices[found.device],
        stream=texts(names),
        records=found.records,
        busy=found.busy,
        sum=found.added,
        own_overlap=found.added - found.busy,
        alone=alone,
    )
    return Streams(times.take(order), concurrency, _pairs(workspace, found, texts(names)))


def _unions(workspace: Workspace) -> _Unions:
    work = workspace.work
    track, stream = compact(work.track, len(workspace.trace.tracks))
    count = len(track)
    shift = shifts(stream, work.start, work.end, count)
    order = workspace.by_stream
    moved = shift[stream[order]]
    spans = union(work.start[order] + moved, work.end[order] + moved)
    first = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(first, stream, work.start)
    of_span = np.searchsorted(first + shift, spans.start, "right") - 1
    return _Unions(
        track=track,
        device=workspace.device_of_track[track].astype(np.int64),
        records=np.bincount(stream, minlength=count).astype(np.int64),
        added=sums(stream, work.dur, count),
        busy=sums(of_span, spans.end - spans.start, count),
        shift=shift,
        stream=of_span,
        spans=spans,
    )


def _sweep(workspace: Workspace, found: _Unions) -> tuple[Concurrency, np.ndarray]:
    """Return for how long how many streams of each device work at once, and how long each stream works alone."""
    count = len(found.track)
    start, end = (time - found.shift[found.stream] for time in found.spans)
    of_span = found.device[found.stream]
    # one axis for all devices: at the end of each no stream of it works any more
    moved = shifts(of_span, start, end, len(workspace.devices))[of_span]
    at = np.concatenate((start + moved, end + moved))
    order = np.argsort(at, kind="stable")
    step = np.repeat(np.array([1, -1]), len(start))[order]
    stream = np.concatenate((found.stream, found.stream))[order]
    at, active = at[order], np.cumsum(step)
    length = np.diff(at, append=at[-1:])
    # while one stream is at work, the sum of the active numbers is that stream's number
    number = np.cumsum(step * stream)
    single = active == 1
    alone = sums(number[single], length[single], count)
    some = (active > 0) & (length > 0)
    device, level, group = combined(found.device[stream[some]], active[some], count + 1)
    time = sums(group, length[some], len(device))
    return Concurrency(texts(workspace.devices)[device], level, time), alone


def _pairs(workspace: Workspace, found: _Unions, names: np.ndarray) -> StreamPairs:
    """Return the pairs of the busiest streams of each device."""
    order = np.lexsort((-found.busy, found.device))
    edges = np.flatnonzero(np.diff(found.device[order], prepend=-1, append=-1))
    both = [
        pair
        for first, last in pairwise(edges.tolist())
        for pair in combinations(order[first:last][:PAIRED].tolist(), 2)
    ]
    left, right = np.array(both, np.int64).reshape(-1, 2).T
    overlap = _overlaps(found, left, right)
    less = found.busy[right]
    share = np.divide(overlap, less, out=np.zeros(len(less)), where=less > 0)
    devices = texts(workspace.devices)[found.device[left]]
    table = StreamPairs(devices, names[left], names[right], overlap, share)
    rows = list(zip((-overlap).tolist(), devices.tolist(), names[left].tolist(), strict=True))
    return table.take(np.array(sorted(range(len(rows)), key=rows.__getitem__), np.int64))


def _overlaps(found: _Unions, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the time in which both streams of each pair work."""
    count = np.bincount(found.stream, minlength=len(found.track))
    begun = np.cumsum(count) - count
    fewer, more = np.where(count[left] < count[right], (left, right), (right, left))
    overlap = np.zeros(len(left), np.int64)
    if not len(found.stream) or not len(left):
        return overlap
    # of streams without intervals these mean nothing, and none asks for them
    low = found.spans.start[np.minimum(begun, len(found.stream) - 1)]
    high = found.spans.end[begun + count - 1]
    chunk = np.cumsum(count[fewer]) // _AT_ONCE
    for some in np.split(np.arange(len(left)), np.flatnonzero(np.diff(chunk)) + 1):
        size = count[fewer[some]]
        pair = np.repeat(np.arange(len(some)), size)
        place = np.arange(len(pair)) - (np.cumsum(size) - size)[pair] + begun[fewer[some]][pair]
        other = more[some][pair]
        move = found.shift[other] - found.shift[fewer[some]][pair]
        start, end = (np.clip(edge[place] + move, low[other], high[other]) for edge in found.spans)
        covered = amount_before(found.spans, end) - amount_before(found.spans, start)
        overlap[some] = sums(pair, covered, len(some))
    return overlap
