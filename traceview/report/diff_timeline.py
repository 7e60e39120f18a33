"""The timeline of a comparison: the lanes of both sides in one canvas, one pair of moments one under the other.

Each side keeps the times of its own trace, from its first slice on. The page shifts the sides so that the
moments of the chosen pair are at the same place (templates/js/timeline-sides.js), and again for another pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.events import Kind
from traceview.report import palette
from traceview.report.clock import Clock, clock_of
from traceview.report.codec import pack
from traceview.report.details import details
from traceview.report.diff_pairs import Pair
from traceview.report.focus import exact_of, settle
from traceview.report.lanes import Drawn, draw
from traceview.report.lines import with_queues
from traceview.report.lod import Items, join
from traceview.report.names import NameBook
from traceview.report.origins import origins, stepped, unstepped
from traceview.report.timeline import (
    CLASSES,
    begin_of,
    classes_of,
    encode,
    entries,
    note_of,
    share_budget,
    step_columns,
)
from traceview.report.view import Lane, Legend, TimelineView, Window

SIDES = ("base", "new")
_DEVICE_WORK = (Kind.KERNEL, Kind.COPY, Kind.FILL)
_OTHER = palette.TOKEN_OF_CATEGORY["other"]
_OF_RECORD = ("origin", "latency", "call", "delay", "launched")
_OF_CALLER = ("origin_call", "origin_op", "origin_thread", "origin_lane")
_KINDS = ((False, ""), (False, "marks"), (True, "annotations"), (True, ""), (True, "Python"))
"""Kinds of lanes from the top: whether they are the host's, and what their label ends in."""
Columns = dict[str, npt.NDArray[Any]]


class _Run:
    """Hold the rows of one side."""

    def __init__(self, analysis: Analysis, wished: tuple[Window, ...]) -> None:
        self.analysis, self.trace, self.wished = analysis, analysis.trace, wished
        self.drawn: Drawn = draw(self.trace)
        self.legend = palette.classes(analysis)

    @property
    def zero(self) -> int:
        """Return the time of the first slice, drawn or not."""
        return begin_of(self.trace)


@dataclass(frozen=True)
class _Part:
    """Hold one side within its budget: items, lanes with those of queues, and columns beside those of items."""

    run: _Run
    windows: tuple[Window, ...]
    items: Items
    classes: npt.NDArray[np.uint8]
    lanes: tuple[Lane, ...]
    columns: Columns


class PairedTimeline:
    """Hold the rows of both sides, so that they can be encoded again within a smaller budget."""

    def __init__(self, base: Analysis, new: Analysis, pairs: Sequence[Pair]) -> None:
        wished = zip(*(p.windows() for p in pairs), strict=True)
        self.runs = [_Run(a, windows) for a, windows in zip((base, new), wished, strict=True)]
        self.pairs = pairs
        self.legend = _legend([run.legend for run in self.runs])

    def view(self, names: NameBook, budget: int) -> TimelineView | None:
        """Reduce both sides to the budget and encode them; None where a side has nothing to draw."""
        if not all(run.drawn.slices for run in self.runs):
            return None
        clock = clock_of(0, max(run.trace.span_ns for run in self.runs))
        shares = _shares([run.drawn.slices for run in self.runs], budget)
        parts = [self._part(run, share, names, clock) for run, share in zip(self.runs, shares, strict=True)]
        order = _paired([part.lanes for part in parts])
        items, place = _merged(parts, order)
        codes, texts = _codes(parts)
        kinds = np.concatenate([part.classes for part in parts])[place]
        layout, columns = encode(items, clock, entries(codes[place], kinds, texts, names))
        columns |= _beside(parts, order, place)
        layout["columns"], payload = pack(columns)
        used = set(np.unique(kinds).tolist())
        return TimelineView(
            note=_note(parts, clock),
            legend=tuple(c for i, c in enumerate(self.legend) if i in used),
            lanes=_lanes(parts, order),
            windows=self._windows(parts, clock),
            layout=layout | self._told(parts, order, clock),
            payload=payload,
        )

    def _part(self, run: _Run, budget: int, names: NameBook, clock: Clock) -> _Part:
        own = clock._replace(zero=run.zero)
        windows = settle(run.drawn.tiers, run.wished, budget)
        items = share_budget(run.drawn.tiers, exact_of(windows), budget)
        rest = next(i for i, c in enumerate(self.legend) if c.token == _OTHER)
        place = np.array([self.legend.index(c) if c in self.legend else rest for c in run.legend], np.uint8)
        lanes, lines = with_queues(run.analysis, run.drawn.lanes, own, windows)
        columns = {
            **origins(run.analysis, replace(run.drawn, lanes=lanes), items, names, own),
            **details(run.trace, items, names), **lines, **step_columns(run.trace, own),
        }  # fmt: skip
        classes = place[classes_of(run.analysis, run.legend, items)]
        return _Part(run, windows, items, classes, lanes, columns)

    def _windows(self, parts: Sequence[_Part], clock: Clock) -> tuple[Window, ...]:
        """Return the window of each pair, from the place where both sides are aligned on."""
        found = []
        for i, pair in enumerate(self.pairs):
            both = [part.windows[i] for part in parts]
            begin = max(_moments(parts, pair, clock))
            shortest = min(both, key=lambda w: w.end - w.start)
            exact = all(w.exact for w in both)
            found.append(Window(shortest.label, begin, begin + shortest.end - shortest.start, exact))
        return tuple(found)

    def _told(self, parts: Sequence[_Part], order: Sequence[tuple[int, int]], clock: Clock) -> dict[str, Any]:
        """Return what the page needs besides the columns; times in ns from the first slice of each side."""
        return {
            "span": max(run.trace.span_ns for run in self.runs),
            "tokens": [c.token for c in self.legend],
            "whole": all(run.drawn.whole for run in self.runs),
            "sides": {
                "names": list(SIDES),
                "lanes": [side for side, _ in order],
                "spans": [run.trace.span_ns for run in self.runs],
                "steps": [len(part.columns["step_gap"]) for part in parts],
                "pairs": [_moments(parts, pair, clock) for pair in self.pairs],
            },
        }


def _legend(both: Sequence[tuple[Legend, ...]]) -> tuple[Legend, ...]:
    """Return the colour classes of either side, as many as an entry can tell."""
    return tuple(dict.fromkeys(c for legend in both for c in legend))[:CLASSES]


def _shares(slices: Sequence[int], budget: int) -> tuple[int, int]:
    """Return the budget of each side: half of it, and what the other side does not need."""
    first = min(slices[0], max(budget // 2, budget - slices[1]))
    return first, budget - first


def _moments(parts: Sequence[_Part], pair: Pair, clock: Clock) -> list[int]:
    """Return where the aligned moments are, in ns from the first slice of each side, in whole units."""
    found = [at - part.run.zero for at, part in zip(pair.starts, parts, strict=True)]
    return [at // clock.unit * clock.unit for at in found]


def _paired(lanes: Sequence[tuple[Lane, ...]]) -> list[tuple[int, int]]:
    """Return (side, lane) in the order of the page: device lanes first, each beside its like of the other side.

    Alike are lanes of the same label, else the next ones of the same kind; a queue follows its stream.
    """
    found: list[tuple[int, int]] = []
    blocks = [_blocks(side) for side in lanes]
    for kind in _KINDS:
        base, new = (side.get(kind, []) for side in blocks)
        known = {lanes[0][block[0]].label for block in base}
        twins = {lanes[1][block[0]].label: block for block in new}
        free = [block for label, block in twins.items() if label not in known]
        for block in base:
            found += [(0, i) for i in block]
            twin = twins.get(lanes[0][block[0]].label)
            found += [(1, i) for i in twin or (free.pop(0) if free else ())]
        found += [(1, i) for block in free for i in block]
    return found


def _blocks(lanes: tuple[Lane, ...]) -> dict[tuple[bool, str], list[list[int]]]:
    """Return lanes that stay together, by kind, device lanes first."""
    found: dict[tuple[bool, str], list[list[int]]] = {}
    own: list[int] = []
    host = False
    for i, lane in enumerate(lanes):
        tail = lane.label.rpartition(" · ")[2]
        host = host or lane.label.startswith("CPU ")
        if lane.points is not None:
            own.append(i)  # below its stream
            continue
        own = [i]
        kind = (host, tail) if (host, tail) in _KINDS else (host, "")
        found.setdefault(kind, []).append(own)
    return found


def _first_rows(parts: Sequence[_Part], order: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the first row of each lane in the page."""
    found, row = {}, 0
    for side, i in order:
        found[side, i] = row
        row += parts[side].lanes[i].rows
    return found


def _merged(parts: Sequence[_Part], order: Sequence[tuple[int, int]]) -> tuple[Items, npt.NDArray[np.int64]]:
    """Return the items of both sides by row of the page, and the place of each among base's, then new's."""
    first, moved = _first_rows(parts, order), []
    for side, part in enumerate(parts):
        row_of = np.zeros(sum(lane.rows for lane in part.lanes), np.int64)
        for i, lane in enumerate(part.lanes):
            row_of[lane.first : lane.first + lane.rows] = first[side, i] + np.arange(lane.rows)
        items, zero = part.items, part.run.zero
        moved.append(replace(items, row=row_of[items.row], start=items.start - zero, end=items.end - zero))
    place = np.argsort(np.concatenate([items.row for items in moved]), kind="stable")
    return join(moved), place


def _codes(parts: Sequence[_Part]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the code of each item's name among the names of both traces."""
    base, new = (part.run.trace for part in parts)
    codes = [part.run.trace.slices.name[part.items.source].astype(np.int64) for part in parts]
    return np.concatenate([codes[0], codes[1] + len(base.names)]), [*base.names, *new.names]


def _lanes(parts: Sequence[_Part], order: Sequence[tuple[int, int]]) -> tuple[Lane, ...]:
    first, found = _first_rows(parts, order), []
    before = (0, len(parts[0].columns.get("line_gap", ())))
    for side, i in order:
        lane, name = parts[side].lanes[i], SIDES[side]
        points = None if lane.points is None else (lane.points[0] + before[side], lane.points[1])
        owner = f"{name} · {lane.owner}" if lane.owner else ""
        label = f"{name} · {lane.label}"
        found.append(replace(lane, label=label, first=first[side, i], owner=owner, points=points))
    return tuple(found)


def _beside(
    parts: Sequence[_Part], order: Sequence[tuple[int, int]], place: npt.NDArray[np.int64]
) -> Columns:
    """Return the columns beside those of items: of records, callers, details, lines and steps."""
    both = [part.columns for part in parts]
    found = {key: _joined(both, key) for key in ("line_gap", "line_depth", "detail_name")}
    found |= {key: _joined(both, key) for key in ("step_number", "step_gap", "step_length")}
    detail = [c["detail"] for c in both]
    moved = np.where(detail[1] > 0, detail[1] + len(both[0]["detail_name"]), 0)
    found["detail"] = np.concatenate([detail[0], moved])[place]
    found |= _records(parts, place)
    found |= {key: _joined(both, key) for key in _OF_CALLER[:-1]}
    at = {lane: number for number, lane in enumerate(order)}
    found["origin_lane"] = np.concatenate(
        [_of_lanes(c.get("origin_lane", _NONE), side, at) for side, c in enumerate(both)]
    )
    return {key: values for key, values in found.items() if len(values) or key.startswith(("step", "detail"))}


_NONE = np.empty(0, np.int64)


def _joined(both: Sequence[Mapping[str, npt.NDArray[Any]]], key: str) -> npt.NDArray[Any]:
    return np.concatenate([columns.get(key, _NONE) for columns in both])


def _of_lanes(
    lanes: npt.NDArray[np.int64], side: int, at: Mapping[tuple[int, int], int]
) -> npt.NDArray[np.int64]:
    """Return 1 + the lane of the page for 1 + a lane of a side; 0 stays none."""
    return np.array([0 if lane == 0 else 1 + at[side, lane - 1] for lane in lanes.tolist()], np.int64)


def _records(parts: Sequence[_Part], place: npt.NDArray[np.int64]) -> Columns:
    """Return what is told of each exact slice of device work, in the order of the page."""
    both = [part.columns for part in parts]
    is_record = np.concatenate([_is_record(part) for part in parts])
    number = np.cumsum(is_record) - 1
    chosen = number[place[is_record[place]]]
    found = {
        key: _joined(both, key)[chosen]
        for key in _OF_RECORD[1:-1]
        if "origin" in both[0] or "origin" in both[1]
    }
    if not found:
        return {}
    origin = [c.get("origin", _NONE) for c in both]
    moved = np.where(origin[1] > 0, origin[1] + len(both[0].get("origin_call", _NONE)), 0)
    found["origin"] = np.concatenate([origin[0], moved])[chosen]
    ids = np.concatenate([unstepped(c.get("launched", _NONE)) for c in both])
    found["launched"] = stepped(ids[chosen])
    return found


def _is_record(part: _Part) -> npt.NDArray[np.bool_]:
    kind = part.run.trace.slices.kind[part.items.source]
    found: npt.NDArray[np.bool_] = (part.items.number == 1) & np.isin(kind, _DEVICE_WORK)
    return found


def _note(parts: Sequence[_Part], clock: Clock) -> str:
    texts = [note_of(part.items, part.run.drawn, part.windows, clock) for part in parts]
    head = "Times are told from where both sides are aligned; Go to aligns them at another pair."
    if texts[0] == texts[1]:
        return f"{head} Each side: {texts[0]}"
    return f"{head} Base: {texts[0]} New: {texts[1]}"
