"""What the host does while a device waits: allocating, loading data, synchronising, or serving the profiler.

The spellings are data: host_states.rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from traceview.analyses.grouping import compact
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind, Trace
from traceview.intervals import Intervals, union

PROFILER, ALLOCATION, LOADING, SYNC = "profiler overhead", "allocation or loading", "data loading", "sync"
STATES = (PROFILER, ALLOCATION, LOADING, SYNC)
"""The states in their order: of several at one time the first counts."""

DEVICE, STREAM, EVENT, BLOCKING, ITEM = "device", "stream", "event", "blocking copy", "item"
SYNC_KINDS = (DEVICE, STREAM, EVENT, BLOCKING, ITEM)
_SYNC_STATES = {
    "device synchronise": DEVICE,
    "stream synchronise": STREAM,
    "event synchronise": EVENT,
    "blocking copy": BLOCKING,
}
STREAM_WAIT = "stream wait"
_KINDS: dict[str, tuple[Kind, ...]] = {
    "call": (Kind.RUNTIME, Kind.LAUNCH),
    "overhead": (Kind.OVERHEAD,),
    "record": (Kind.SYNC_RECORD,),
    "range": (Kind.OP,),
    "annotation": (Kind.ANNOTATION, Kind.OTHER),
    "frame": (Kind.PYTHON,),
}
_PAGEABLE = re.compile(r"pageable", re.IGNORECASE)
_SHIPPED = Path(__file__).with_name("host_states.rules")


@dataclass(frozen=True, eq=False)
class HostStates:
    """Hold the rows of the trace in each state, by start, and of the waits their kind (code into SYNC_KINDS).

    `waits` are rows of the device's own records of stream waits. A row is in one state only.
    """

    rows: dict[str, np.ndarray]
    sync_kind: np.ndarray
    waits: np.ndarray

    @classmethod
    def found(cls, workspace: Workspace) -> HostStates:
        """Return the rows of each state; a device's record of a wait counts where no host call covers it."""
        trace = workspace.trace
        named = {where: _named(trace, where) for where in _KINDS if where != "frame"}
        ranges = _merged(named["range"][LOADING], named["annotation"][LOADING])
        calls = {**named["call"], BLOCKING: _blocking_copies(workspace, named["call"][BLOCKING])}
        rows = {
            PROFILER: named["overhead"][PROFILER],
            ALLOCATION: _merged(named["overhead"][ALLOCATION], named["call"][ALLOCATION]),
            # Python frames around such a range would only add their own overhead to it
            LOADING: ranges if len(ranges) else _named(trace, "frame")[LOADING],
        }
        none = np.empty(0, np.int64)
        waiting = {kind: calls.get(state, none) for state, kind in _SYNC_STATES.items()}
        records = {kind: named["record"][state] for state, kind in _SYNC_STATES.items()}
        sync, kind = _waits(trace, waiting, records)
        return cls({**rows, SYNC: sync}, kind, named["record"][STREAM_WAIT])

    def spans(self, workspace: Workspace) -> dict[str, Intervals]:
        """Return the time that each state covers, on the axis where each rank has a stretch of its own."""
        found, s = {}, workspace.trace.slices
        for state in STATES:
            rows = self.rows[state]
            start = s.start[rows] + workspace.scope_shift[workspace.scope_of_track[s.track[rows]]]
            found[state] = union(start, start + s.dur[rows])
        return found


def spans(trace: Trace, rows: np.ndarray) -> Intervals:
    """Return the time that rows cover."""
    start = trace.slices.start[rows]
    return union(start, start + trace.slices.dur[rows])


@cache
def _rules() -> dict[str, tuple[tuple[str, re.Pattern[str]], ...]]:
    """Return the rules by what they look at, in their order."""
    rules: dict[str, list[tuple[str, re.Pattern[str]]]] = {where: [] for where in _KINDS}
    for line in _SHIPPED.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, pattern = line.partition(" = ")
            where, _, state = head.partition(": ")
            rules[where].append((state, re.compile(pattern)))
    rules["annotation"] = [*rules["range"], *rules["annotation"]]
    rules["frame"] = rules["range"]
    return {where: tuple(listed) for where, listed in rules.items()}


class _Rows(dict[str, np.ndarray]):
    def __missing__(self, state: str) -> np.ndarray:
        return np.empty(0, np.int64)


def _named(trace: Trace, where: str) -> _Rows:
    """Return the rows of each state among those that the rules of one kind look at."""
    rules = _rules()[where]
    rows = trace.rows_of(*_KINDS[where])
    used, group = compact(trace.slices.name[rows], len(trace.names))
    states = [next((s for s, p in rules if p.search(trace.names[n])), "") for n in used.tolist()]
    code = {state: i for i, state in enumerate(dict.fromkeys(["", *states]))}
    if len(code) == 1:
        return _Rows()
    of_row = np.array([code[s] for s in states], np.int16)[group]
    return _Rows({state: rows[of_row == i] for state, i in code.items() if state})


def _blocking_copies(workspace: Workspace, by_name: np.ndarray) -> np.ndarray:
    """Return the calls that copy from or to pageable memory, or block by their name."""
    trace, s = workspace.trace, workspace.trace.slices
    copies = workspace.usable[s.kind[workspace.usable] == Kind.COPY]
    copies = copies[s.link[copies] >= 0]
    used, group = compact(s.name[copies], len(trace.names))
    pageable = np.array([_PAGEABLE.search(trace.names[n]) is not None for n in used.tolist()], bool)
    by_record = np.unique(s.link[copies[pageable[group]]]) if len(used) else copies
    return np.union1d(by_name, by_record)


def _waits(
    trace: Trace, calls: dict[str, np.ndarray], records: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of waits in order, and their kinds; a driver call inside another call is part of it."""
    rows, kinds = _with_kinds(calls)
    kept = (trace.slices.flags[rows] & Flag.NESTED_CALL) == 0
    rows, kinds = rows[kept], kinds[kept]
    more, more_kinds = _with_kinds(records)
    start = trace.slices.start[more]
    known = spans(trace, rows)
    inside = np.searchsorted(known.start, start + trace.slices.dur[more], "left") > np.searchsorted(
        known.end, start, "right"
    )
    rows, kinds = np.concatenate((rows, more[~inside])), np.concatenate((kinds, more_kinds[~inside]))
    order = np.argsort(rows, kind="stable")
    return rows[order], kinds[order]


def _with_kinds(rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.int8)
    kinds = [np.full(len(r), SYNC_KINDS.index(kind), np.int8) for kind, r in rows.items()]
    together, first = np.unique(np.concatenate(list(rows.values())).astype(np.int64), return_index=True)
    return together, np.concatenate(kinds)[first]


def _merged(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.union1d(left, right) if len(left) and len(right) else (left if len(left) else right)
