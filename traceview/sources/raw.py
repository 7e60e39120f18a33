"""The columns of a document as collected, before any dialect has seen them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from traceview.sources.columns import merged, shift_odd
from traceview.sources.schema import ARGUMENTS, Form

UNNAMED = "(unnamed)"
Argument = tuple[np.ndarray, np.ndarray, list[str] | None]  # rows, values, texts or odd ids


class Lane(NamedTuple):
    """Hold what events of one row of a viewer have in common, as written."""

    ph: Any
    cat: Any
    pid: Any
    tid: Any

    @property
    def category(self) -> str:
        """Return cat as text, "" where it is missing."""
        return "" if self.cat is None else str(self.cat)


class Phase(IntEnum):
    """Group the phases of the Chrome trace format by what becomes of them."""

    SLICE = 0
    BEGIN = 1
    END = 2
    FLOW = 3
    MARK = 4
    COUNTER = 5
    META = 6
    EMPTY = 7  # {}: some writers end their list with it
    NONE = 8
    OTHER = 9


PHASES = {
    "X": Phase.SLICE,
    "B": Phase.BEGIN,
    "E": Phase.END,
    "s": Phase.FLOW,
    "t": Phase.FLOW,
    "f": Phase.FLOW,
    "i": Phase.MARK,
    "I": Phase.MARK,
    "R": Phase.MARK,
    "C": Phase.COUNTER,
    "M": Phase.META,
}


def phase_of(lane: Lane) -> Phase:
    """Return what becomes of the events of a lane."""
    return PHASES.get(lane.ph, Phase.OTHER)


@dataclass
class Raw:
    """Hold the columns of a file before any dialect has seen them; rows are in file order.

    `lane` and `name` are codes into `lanes` and `names`; `ts` and `dur` are ns. `dur` of a begin
    event is MISSING until it is paired, that of a mark stays so. The other kinds are tuples of
    columns: begins (row, place), ends (ts, lane, name, place), flows (ts, lane, id, side), marks (ts,
    lane, name, row), counters (ts, lane, name, series, value); `place` counts events of the file.
    """

    lanes: list[Lane]
    names: list[str]
    lane: np.ndarray
    name: np.ndarray
    ts: np.ndarray
    dur: np.ndarray
    begins: tuple[np.ndarray, ...]
    ends: tuple[np.ndarray, ...]
    flows: tuple[np.ndarray, ...]
    flow_ids: list[str]
    marks: tuple[np.ndarray, ...]
    counters: tuple[list[Any], ...]
    args: dict[str, Argument]
    labels: dict[str, dict[Any, str]]
    events_read: int
    events_seen: int  # by the batches: the scale of `place`
    used: int
    ignored: Counter[str]
    untimed_by_lane: Counter[int]
    negative_by_lane: Counter[int]

    def drop_rows(self) -> None:
        """Give the columns of the slices back to memory: a trace has its own copies."""
        self.lane = self.name = self.ts = self.dur = np.empty(0, np.int64)


def is_id(name: str) -> bool:
    """Return whether an argument holds opaque ids, so that its texts are odd ids."""
    return ARGUMENTS[name].form is Form.ID


def join(first: Raw, second: Raw) -> Raw:
    """Return the columns of a document of which two stretches were collected apart, in file order.

    Consumes both: each column is freed as soon as it is joined.
    """
    rows, seen = len(first.lane), first.events_seen
    lanes, lane_code = merged(first.lanes, second.lanes)
    names, name_code = merged(first.names, second.names)
    odd_flows, flow_ids = shift_odd(first.flow_ids, second.flow_ids, second.flows[2])
    begin_row, begin_place = second.begins
    end_time, end_lane, end_name, end_place = second.ends
    flow_time, flow_lane, _, flow_side = second.flows
    mark_time, mark_lane, mark_name, mark_row = second.marks
    time, lane, name, series, value = second.counters
    args = {
        k: _join_argument(first.args.pop(k, None), second.args.pop(k, None), rows, k)
        for k in dict.fromkeys([*first.args, *second.args])
    }
    return Raw(
        lanes=lanes,
        names=names,
        lane=_append(first, "lane", _recoded(lane_code, second.lane)),
        name=_append(first, "name", _recoded(name_code, second.name)),
        ts=_append(first, "ts", second.ts),
        dur=_append(first, "dur", second.dur),
        begins=_columns(first.begins, (begin_row + rows, begin_place + seen)),
        ends=_columns(
            first.ends,
            (end_time, _recoded(lane_code, end_lane), _recoded(name_code, end_name), end_place + seen),
        ),
        flows=_columns(first.flows, (flow_time, _recoded(lane_code, flow_lane), odd_flows, flow_side)),
        flow_ids=flow_ids,
        marks=_columns(
            first.marks,
            (mark_time, _recoded(lane_code, mark_lane), _recoded(name_code, mark_name), mark_row + rows),
        ),
        counters=(
            first.counters[0] + time,
            first.counters[1] + [int(lane_code[i]) for i in lane],
            first.counters[2] + [int(name_code[i]) for i in name],
            first.counters[3] + series,
            first.counters[4] + value,
        ),
        args=args,
        labels={k: {**first.labels[k], **second.labels[k]} for k in first.labels},
        events_read=first.events_read + second.events_read,
        events_seen=first.events_seen + second.events_seen,
        used=first.used + second.used,
        ignored=first.ignored + second.ignored,
        untimed_by_lane=first.untimed_by_lane + _relaned(lane_code, second.untimed_by_lane),
        negative_by_lane=first.negative_by_lane + _relaned(lane_code, second.negative_by_lane),
    )


def _recoded(table: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return table[codes] if len(codes) else codes


def _relaned(table: np.ndarray, counts: Counter[int]) -> Counter[int]:
    return Counter({int(table[lane]): n for lane, n in counts.items()})


def _append(first: Raw, column: str, more: np.ndarray) -> np.ndarray:
    joined = np.concatenate([getattr(first, column), more])
    setattr(first, column, joined[:0])
    return joined


def _columns(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate([a, b]) for a, b in zip(first, second, strict=True))


def _join_argument(first: Argument | None, second: Argument | None, rows: int, name: str) -> Argument:
    if second is None:
        return first or (np.empty(0, np.int64), np.empty(0, np.int64), None)
    second = (second[0] + np.int32(rows), second[1], second[2])
    if first is None:
        return second
    values, texts = second[1], first[2]
    if first[2] is not None and second[2] is not None:
        if is_id(name):
            values, texts = shift_odd(first[2], second[2], second[1])
        else:
            texts, codes = merged(first[2], second[2])
            values = _recoded(codes.astype(np.int64), second[1])
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], values]), texts
