"""Give every slice its track: a host thread, or a stream of a device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from traceview.events import Track
from traceview.sources.columns import id_text
from traceview.sources.decimals import MISSING
from traceview.sources.lanes import LaneTable
from traceview.sources.raw import Argument

_PATH = re.compile(r"^(?:~|/(?!host:|device:)|[A-Za-z]:\\)")
_OPTIONS = re.compile(r"\s-{1,2}\w.*$", re.DOTALL)


@dataclass(frozen=True)
class TrackTable:
    """Hold the tracks, the track of each row, and the host track of each lane (-1 for device lanes)."""

    tracks: tuple[Track, ...]
    track: np.ndarray
    of_lane: np.ndarray

    def without_rows(self) -> TrackTable:
        """Return the table without its column of rows, which can be long."""
        return TrackTable(self.tracks, self.track[:0].copy(), self.of_lane)


def make_tracks(lanes: LaneTable, lane: np.ndarray, args: dict[str, Argument]) -> TrackTable:
    """Return the tracks, devices first; a device record's arguments outweigh its pid and tid."""
    on_device = np.flatnonzero(lanes.on_device[lane])
    keys, inverse = _device_keys(lanes, lane, on_device, args)
    order = sorted(range(len(keys)), key=lambda i: _natural(keys[i]))
    rank = np.empty(len(keys), np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    tracks = [_stream(keys[i], lanes, n) for n, i in enumerate(order)]
    of_lane = np.full(len(lanes.facts), -1, np.int32)
    threads: dict[int, int] = {}
    for i, facts in enumerate(lanes.facts):
        if lanes.on_device[i]:
            continue
        thread = int(lanes.thread[i])
        if thread not in threads:
            threads[thread] = len(tracks)
            scope = int(lanes.scope[i])
            tracks.append(_thread(facts.pid, facts.tid, (facts.process, facts.thread), scope, len(tracks)))
        of_lane[i] = threads[thread]
    track = of_lane[lane]
    track[on_device] = rank[inverse]
    return TrackTable(tuple(tracks), track.astype(np.int32, copy=False), of_lane)


def _device_keys(
    lanes: LaneTable, lane: np.ndarray, rows: np.ndarray, args: dict[str, Argument]
) -> tuple[list[tuple[int, str, str]], np.ndarray]:
    """Return the distinct (scope, device, stream) and the index of each row's."""
    if not len(rows):
        return [], np.empty(0, np.int64)
    device, device_odd = _values(args.get("device"), rows)
    stream, stream_odd = _values(args.get("stream"), rows)
    devices, device_code = np.unique(device, return_inverse=True)
    streams, stream_code = np.unique(stream, return_inverse=True)
    combined = (lane[rows].astype(np.int64) * len(devices) + device_code) * len(streams) + stream_code
    distinct, inverse = np.unique(combined, return_inverse=True)
    index: dict[tuple[int, str, str], int] = {}
    codes = np.empty(len(distinct), np.int64)
    for i, code in enumerate(distinct.tolist()):
        rest, s = divmod(code, len(streams))
        at, d = divmod(rest, len(devices))
        own = lanes.classes[at]
        device_text = own.device or "" if devices[d] == MISSING else id_text(int(devices[d]), device_odd)
        stream_text = own.stream or "" if streams[s] == MISSING else id_text(int(streams[s]), stream_odd)
        key = (int(lanes.scope[at]), device_text, stream_text)
        codes[i] = index.setdefault(key, len(index))
    return list(index), codes[inverse]


def ids_of(argument: Argument, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which of the rows (as positions) carry an id argument, and their ids."""
    at, values, _ = argument
    if not len(at):
        return np.empty(0, np.int64), values
    place = np.minimum(np.searchsorted(at, rows), len(at) - 1)
    has = np.flatnonzero(at[place] == rows)
    return has, values[place[has]]


def _values(argument: Argument | None, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    found = np.full(len(rows), MISSING)
    if argument is None:
        return found, []
    has, ids = ids_of(argument, rows)
    found[has] = ids
    return found, argument[2] or []


def _natural(key: tuple[int, str, str]) -> tuple[object, ...]:
    scope, *texts = key
    return (scope, *((0, int(t), "") if t.isdecimal() and len(t) < 19 else (1, 0, t) for t in texts))


def _stream(key: tuple[int, str, str], lanes: LaneTable, order: int) -> Track:
    scope, device, stream = key
    rank = lanes.scopes[scope]
    whole = f"{rank}/{device}" if rank else device
    label = f"GPU {whole} · stream {stream}" if stream else f"GPU {whole}"
    return Track(label, f"GPU {whole}", f"stream {stream}", True, whole, stream, scope, order)


def _thread(pid: str, tid: str, named: tuple[str, str], scope: int, order: int) -> Track:
    process, thread = named
    process = _public(process.split()[0] if process.split() else "")
    thread = _public(thread)
    label = f"thread {tid}" if tid else "thread"
    if thread and thread != tid:
        label = f"{label} ({thread})"
    return Track(label, f"{process} {pid}".strip(), thread or tid, False, None, None, scope, order)


def _public(name: str) -> str:
    """Return a process or thread name without the command line and the path that it may be."""
    name = _OPTIONS.sub("", name)
    return PurePath(name.split()[0]).name if _PATH.match(name) else name
