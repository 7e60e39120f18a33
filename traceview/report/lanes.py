"""Lanes of the timeline: which slices are drawn, in which lane, in which row, in which colour.

GPU streams first, then host threads: annotations, calls and Python frames of a thread have a lane each.
What is not drawn (too many lanes, too deep rows, records without time) is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.events import Flag, Kind, Trace, Track
from traceview.report.lod import Bars
from traceview.report.rows import DEEPEST, assign
from traceview.report.view import Lane
from traceview.report.wording import begin, device_word
from traceview.units import count, hide_home, plural, shown

WORK, NOTES, ANNOTATIONS, HOST, PYTHON, NOT_DRAWN = range(6)
GPU_TIER, HOST_TIER, PYTHON_TIER = range(3)
_TIER = {WORK: GPU_TIER, NOTES: GPU_TIER, ANNOTATIONS: HOST_TIER, HOST: HOST_TIER, PYTHON: PYTHON_TIER}
_LANES = {WORK: 32, NOTES: 8, ANNOTATIONS: 12, HOST: 20, PYTHON: 8}
_ROWS = {WORK: 6, NOTES: 3, ANNOTATIONS: 6, HOST: 12, PYTHON: 12}
_LEVELS = {**_ROWS, HOST: DEEPEST, PYTHON: DEEPEST}  # rows worth assigning: outer ones may be hidden
_TAIL = {NOTES: " · marks", ANNOTATIONS: " · annotations", PYTHON: " · Python"}
_GROUP_OF_KIND = {
    **dict.fromkeys((Kind.KERNEL, Kind.COPY, Kind.FILL), WORK),
    **dict.fromkeys((Kind.DEVICE_NOTE, Kind.SYNC_RECORD, Kind.DERIVED), NOTES),
    Kind.ANNOTATION: ANNOTATIONS,
    Kind.PYTHON: PYTHON,
    Kind.SPAN: NOT_DRAWN,
}


@dataclass(frozen=True)
class Drawn:
    """Hold the slices drawn, by tier (GPU, host, Python), their lanes, and why how many are not drawn.

    `whole`: all device work that has a time is drawn.
    """

    tiers: tuple[Bars, ...]
    lanes: tuple[Lane, ...]
    slices: int
    hidden: dict[str, int]
    whole: bool


@dataclass(frozen=True)
class _Words:
    device: str
    scoped: bool  # labels tell the rank


@dataclass(frozen=True)
class _Lane:
    track: int
    group: int
    rows: npt.NDArray[Any]  # rows of the trace, by start


def draw(trace: Trace) -> Drawn:
    """Assign lanes and rows."""
    lanes, without_time = _lanes(trace)
    kept = _choose(trace.tracks, lanes)
    tiers: dict[int, list[Bars]] = {GPU_TIER: [], HOST_TIER: [], PYTHON_TIER: []}
    views: list[Lane] = []
    seen: list[tuple[Bars, int]] = []
    first = 0
    scoped = len({t.scope for t in trace.tracks if t.is_device}) > 1  # several ranks in one file
    words = _Words(begin(device_word(trace)), scoped)
    for lane in kept:
        bars, hidden_rows = _bars(trace, lane, first)
        if not len(bars):
            continue
        rows = int(bars.row.max()) - first + 1
        views.append(_view(trace.tracks[lane.track], lane, (first, rows), hidden_rows, words))
        tiers[_TIER[lane.group]].append(bars)
        seen.append((bars, lane.group))
        first += rows
    drawn = sum(len(b) for b, _ in seen)
    in_lanes = sum(len(lane.rows) for lane in kept)
    beyond = sum(len(lane.rows) for lane in lanes) - in_lanes
    work = sum(len(lane.rows) for lane in lanes if lane.group == WORK)
    of_work = sum(len(b) for b, group in seen if group == WORK)
    return Drawn(
        tiers=tuple(_concatenate(part) for part in tiers.values()),
        lanes=tuple(views),
        slices=drawn,
        hidden={
            "slices in outer or deep rows": in_lanes - drawn,
            f"slices in {plural(len(lanes) - len(kept), 'small lane')}": beyond,
            "second copies and records without a time": without_time,
        },
        whole=work == of_work,
    )


def _lanes(trace: Trace) -> tuple[list[_Lane], int]:
    """Split the slices by (track, group); the second value counts those that cannot be drawn."""
    group_of = np.full(256, HOST, np.int32)
    for kind, group in _GROUP_OF_KIND.items():
        group_of[kind] = group
    slices = trace.slices
    key = slices.track.astype(np.int32) * 8 + group_of[slices.kind]
    off = (slices.flags & (Flag.UNTIMED | Flag.DUPLICATE)) != 0
    key[off] = NOT_DRAWN
    # 16-bit keys are sorted by radix, an order of magnitude faster than 32-bit ones
    order = np.argsort(key.astype(np.uint16) if len(trace.tracks) < 2**13 else key, kind="stable")
    ordered = key[order]
    edges = np.flatnonzero(np.diff(ordered)) + 1
    lanes, hidden = [], 0
    for rows in np.split(order, edges) if len(order) else []:
        code = int(key[rows[0]])
        if code % 8 == NOT_DRAWN:
            hidden += int((slices.kind[rows] != Kind.SPAN).sum())
        else:
            lanes.append(_Lane(code // 8, code % 8, rows))
    return lanes, hidden


def _choose(tracks: tuple[Track, ...], lanes: list[_Lane]) -> list[_Lane]:
    """Keep the fullest lanes of each group; order: devices and streams, then threads by slices."""
    kept: list[_Lane] = []
    for group, most in _LANES.items():
        members = [lane for lane in lanes if lane.group == group]
        kept += sorted(members, key=lambda lane: -len(lane.rows))[:most]
    size: dict[int, int] = {}
    for lane in kept:
        size[lane.track] = size.get(lane.track, 0) + len(lane.rows)

    def place(lane: _Lane) -> tuple[Any, ...]:
        track = tracks[lane.track]
        if lane.group in (WORK, NOTES):
            return (0, track.scope, _numeric(track.device), lane.group, _numeric(track.stream), lane.track)
        return (1, -size[lane.track], lane.track, lane.group)

    return sorted(kept, key=place)


def _numeric(text: str | None) -> tuple[int, int, str]:
    if text is None:
        return (2, 0, "")
    return (0, int(text), "") if text.isdecimal() and len(text) < 19 else (1, 0, text)


def _bars(trace: Trace, lane: _Lane, first: int) -> tuple[Bars, str]:
    """Return a lane's slices sorted by (row, start), and say how many rows are hidden."""
    s = trace.slices
    start, dur = s.start[lane.rows], s.dur[lane.rows]
    row = assign(start, dur, _LEVELS[lane.group])
    full = np.bincount(row, minlength=DEEPEST + 1)
    rows = int(np.count_nonzero(full[:DEEPEST]))  # they are filled from the first on
    top = _outer_rows(full, rows) if lane.group in (HOST, PYTHON) else 0
    bottom = min(top + _ROWS[lane.group], rows)
    if top or int(full[bottom:].sum()):
        seen = (row >= top) & (row < bottom)
        row, start, dur = row[seen], start[seen], dur[seen]
        chosen = lane.rows[seen]
    else:
        chosen = lane.rows
    order = np.argsort(row, kind="stable")
    chosen, start = chosen[order], start[order]
    bars = Bars(row[order].astype(np.int32) - top + first, start, start + dur[order], chosen)
    return bars, _hidden(rows - (bottom - top), bool(full[DEEPEST]))


def _hidden(rows: int, deeper: bool) -> str:
    if deeper:
        return f"{rows} or more rows hidden" if rows else "deeper rows hidden"
    return f"{plural(rows, 'row')} hidden" if rows else ""


def _outer_rows(full: npt.NDArray[Any], rows: int) -> int:
    """Count outer rows that hold at most two slices, as long as three rows remain below them."""
    top = 0
    while rows - top > 3 and full[top] <= 2:
        top += 1
    return top


def _view(track: Track, lane: _Lane, place: tuple[int, int], hidden: str, words: _Words) -> Lane:
    note = " · ".join(filter(None, (hidden, plural(len(lane.rows), "slice"))))
    device = lane.group == WORK
    owner = _device(track, words) if device else ""
    return Lane(_label(track, lane.group, words), note, *place, device, lane.track, owner)


def _device(track: Track, words: _Words) -> str:
    """Return what the device of a track is called."""
    scope = f"{track.scope}/" if words.scoped else ""
    named = f"{words.device} {scope}{track.device}" if track.device is not None else hide_home(track.process)
    return shown(named, 40, True)


def _label(track: Track, group: int, words: _Words) -> str:
    if group in (WORK, NOTES):
        stream = f"stream {track.stream}" if track.stream is not None else hide_home(track.thread)
        text = f"{_device(track, words)} · {stream}"
    else:
        thread = thread_label(track)
        scope = f"{track.scope} · " if words.scoped else ""
        text = f"CPU {scope or '· '}{thread}"
    return shown(text, 40, True) + _TAIL.get(group, "")


def thread_label(track: Track) -> str:
    """Return what a host thread is called."""
    return f"thread {track.thread}" if track.thread.isdecimal() else hide_home(track.thread)


def _concatenate(parts: list[Bars]) -> Bars:
    if not parts:
        empty = np.empty(0, np.int64)
        return Bars(empty.astype(np.int32), empty, empty, empty)
    return Bars(
        np.concatenate([b.row for b in parts]),
        np.concatenate([b.start for b in parts]),
        np.concatenate([b.end for b in parts]),
        np.concatenate([b.source for b in parts]),
    )


def not_drawn(drawn: Drawn) -> str:
    """Say what the timeline leaves out; empty where it is nothing."""
    parts = [f"{count(number)} {reason}" for reason, number in drawn.hidden.items() if number]
    return f"Not drawn: {', '.join(parts)}." if parts else ""
