"""The tables beside the slices: flows, marks, counters, the allocator's records."""

from __future__ import annotations

import numpy as np

from traceview.events import Counters, Flows, Marks, Memory
from traceview.sources import linking
from traceview.sources.lanes import LaneTable
from traceview.sources.raw import Raw
from traceview.sources.schema import MEMORY_FIELDS
from traceview.sources.spellings import MEMORY_MARK
from traceview.sources.tracks import TrackTable


class SideTables:
    """Build the side tables of a trace from raw columns."""

    def __init__(self, raw: Raw, lanes: LaneTable, tracks: TrackTable, origin: int) -> None:
        self._raw, self._lanes, self._tracks, self._origin = raw, lanes, tracks, origin
        time, lane, name, row = raw.marks
        memory = raw.names.index(MEMORY_MARK) if MEMORY_MARK in raw.names else -1
        self._is_memory = name == memory
        self._marks = time, lane, name, row

    def flows(self) -> Flows:
        """Return the ends of flow arrows."""
        time, lane, ids, side = self._raw.flows
        lane = lane.astype(np.int64)
        track = self._tracks.of_lane[lane] if len(lane) else lane
        return Flows(time - self._origin, track, ids, side, self._lanes.category[lane])

    def marks(self) -> Marks:
        """Return the instants that are no memory records."""
        time, lane, name, _ = (a[~self._is_memory] for a in self._marks)
        track = self._tracks.of_lane[lane.astype(np.int64)]
        return Marks(time - self._origin, track, name)

    def counters(self) -> Counters:
        """Return the samples of counters."""
        time, _, name, series, value = self._raw.counters
        times = np.array(time, np.int64) - self._origin
        return Counters(
            times, np.array(name, np.int64), np.array(series, object), np.array(value, np.float64)
        )

    def memory(self) -> Memory:
        """Return the allocator's records."""
        time, lane, _, row = (a[self._is_memory] for a in self._marks)
        columns = [self._values(field, row) for field in MEMORY_FIELDS]
        track = self._tracks.of_lane[lane.astype(np.int64)]
        return Memory(time - self._origin, track, *columns)

    def _values(self, field: str, rows: np.ndarray) -> np.ndarray:
        values = np.full(len(rows), -1, np.int64)
        if field in self._raw.args and len(rows):
            at, found, _ = self._raw.args[field]
            order = np.argsort(at, kind="stable")
            place = np.minimum(np.searchsorted(at[order], rows), len(at) - 1)
            hit = at[order][place] == rows
            values[hit] = found[order][place[hit]]
        return values


def links_by_flow(
    raw: Raw, start: np.ndarray, track: np.ndarray, work: np.ndarray, lanes: LaneTable
) -> np.ndarray:
    """Return for each row the row that its flow arrow starts from: an end stands where a slice starts."""
    time, lane, ids, side = raw.flows
    threads: dict[tuple[int, int], int] = {}
    for row, key in enumerate(zip(track.tolist(), start.tolist(), strict=True)):
        threads.setdefault(key, row)
    track_of = _track_of_threads(raw, track, lanes)
    at = np.array(
        [
            threads.get((track_of.get(int(lanes.thread[i]), -1), t), -1)
            for i, t in zip(lane.tolist(), time.tolist(), strict=True)
        ],
        np.int64,
    )
    return linking.link_by_flow(ids, side, at, work, len(start))


def _track_of_threads(raw: Raw, track: np.ndarray, lanes: LaneTable) -> dict[int, int]:
    """Return the track on which the slices of each thread lie (a device lane's may be several: the first)."""
    found: dict[int, int] = {}
    if len(raw.lane) == len(track):
        distinct, first = np.unique(lanes.thread[raw.lane], return_index=True)
        found = dict(zip(distinct.tolist(), track[first].tolist(), strict=True))
    return found
