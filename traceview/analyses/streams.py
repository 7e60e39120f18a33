"""How the streams of a device share its time: what runs side by side, and what only takes turns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from traceview.analyses.grouping import texts
from traceview.analyses.workspace import Workspace
from traceview.intervals import Intervals, intersect, total, union
from traceview.tables import Table, column

PAIRED = 16  # streams of a device, by busy time, of which pairs are compared


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


def streams(workspace: Workspace) -> Streams:
    """Return stream times, concurrency and overlapping pairs of every device."""
    times: list[tuple[Any, ...]] = []
    levels: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    for code, device in enumerate(workspace.devices):
        found = _of_device(workspace, code)
        if not found:  # every record of this device is without time
            continue
        unions = {track: busy for track, (_, _, busy) in found.items()}
        alone, time_at = _sweep(list(unions.values()))
        levels += [(device, k, t) for k, t in enumerate(time_at.tolist()) if k and t]
        rows = []
        for (track, (records, added, busy)), own in zip(found.items(), alone.tolist(), strict=True):
            stream = workspace.trace.tracks[track].stream or ""
            rows.append((device, stream, records, total(busy), added, added - total(busy), own))
        times += sorted(rows, key=lambda r: (-r[3], r[1]))
        pairs += _pairs(workspace, device, unions)
    pairs.sort(key=lambda r: (-r[3], r[0], r[1]))
    return Streams(
        StreamTimes(*_columns(times, 7)), Concurrency(*_columns(levels, 3)), StreamPairs(*_columns(pairs, 5))
    )


def _of_device(workspace: Workspace, device: int) -> dict[int, tuple[int, int, Intervals]]:
    """Return records, added durations and union of each stream, by its track."""
    work, order = workspace.work, workspace.by_stream
    order = order[work.device[order] == device]
    track = work.track[order]
    edges = np.flatnonzero(np.diff(track, prepend=-1))
    found = {}
    for first, last in pairwise([*edges.tolist(), len(order)]):
        own = order[first:last]
        found[int(track[first])] = (len(own), int(work.dur[own].sum()), union(work.start[own], work.end[own]))
    return found


def _sweep(unions: list[Intervals]) -> tuple[np.ndarray, np.ndarray]:
    """Return the time each works alone, and the time in which k of them work (index k)."""
    count = len(unions)
    at = np.concatenate([np.concatenate((u.start, u.end)) for u in unions])
    step = np.concatenate([np.repeat([1, -1], len(u.start)) for u in unions])
    which = np.concatenate([np.full(2 * len(u.start), i) for i, u in enumerate(unions)])
    order = np.argsort(at, kind="stable")
    at, active = at[order], np.cumsum(step[order])
    length = np.diff(at, append=at[-1:])
    time_at = np.bincount(active, length, count + 1).astype(np.int64)
    # while one stream is at work, the sum of the active numbers is that stream's number
    number = np.cumsum((step * which)[order])
    single = active == 1
    alone = np.bincount(number[single], length[single], count).astype(np.int64)
    return alone, time_at


def _pairs(workspace: Workspace, device: str, unions: dict[int, Intervals]) -> list[tuple[Any, ...]]:
    busiest = sorted(unions, key=lambda t: -total(unions[t]))[:PAIRED]
    name = {t: workspace.trace.tracks[t].stream or "" for t in busiest}
    rows: list[tuple[Any, ...]] = []
    for left, right in combinations(busiest, 2):
        both, less = total(intersect(unions[left], unions[right])), total(unions[right])
        rows.append((device, name[left], name[right], both, both / less if less else 0.0))
    return rows


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[np.ndarray]:
    columns = list(zip(*rows, strict=True)) if rows else [()] * width
    return [
        texts(c)
        if c and isinstance(c[0], str)
        else np.array(c, np.float64 if c and isinstance(c[0], float) else np.int64)
        for c in columns
    ]
