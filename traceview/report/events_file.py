"""Slices as a table, in groups of rows: one row per slice, times in whole nanoseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from traceview.analyses.steps import step_of
from traceview.analyses.windows import marked_steps
from traceview.events import DEVICE_WORK, Flag, Kind, Trace
from traceview.report.parquet import coded, numbers
from traceview.report.slim_args import KEPT
from traceview.sources.schema import ARGUMENTS, Form
from traceview.units import hide_home

if TYPE_CHECKING:
    import pyarrow

GROUP = 1 << 17  # rows
METADATA = {
    "traceview.table": "events",
    "start_ns": "from the trace's first event; null for device records without a time",
    "row": "number of the slice in this trace; link is the row of the call that launched it",
    "step": "number of the step in which it began on the host, or whose launch it came from",
}
_KINDS = [next((k.name.lower() for k in Kind if k == i), "") for i in range(max(Kind) + 1)]


def event_groups(
    trace: Trace, rows: np.ndarray, show_paths: bool = False
) -> Iterator[dict[str, pyarrow.Array]]:
    """Yield the columns of the rows, GROUP of them at a time; at least once, so that there is a schema."""
    texts = _texts(trace, show_paths)
    steps = marked_steps(trace)
    number = np.append(steps.number, -1)
    for first in range(0, max(len(rows), 1), GROUP):
        own = rows[first : first + GROUP]
        at = trace.slices.take(own)
        work = np.isin(at.kind, DEVICE_WORK)
        timed = trace.timed[own]
        caller = np.where(work, at.link, own)
        step = np.full(len(own), -1, np.int64)
        step[caller >= 0] = step_of(trace, steps, caller[caller >= 0])
        yield {
            "row": numbers(own),
            "start_ns": numbers(at.start, timed),
            "dur_ns": numbers(at.dur, timed),
            "name": coded(at.name, texts["name"]),
            "category": coded(at.category, trace.categories),
            "kind": coded(at.kind.astype(np.int32), _KINDS),
            **{
                key: coded(_code(texts[key], at.track), texts[key])
                for key in ("process", "thread", "device", "stream")
            },
            "step": numbers(number[step], step >= 0),
            "link": numbers(at.link.astype(np.int64), at.link >= 0),
            "duplicate": numbers((at.flags & Flag.DUPLICATE) != 0),
            "unfinished": numbers((at.flags & Flag.UNFINISHED) != 0),
            **{name: _argument(trace, name, own) for name in KEPT},
        }


def _texts(trace: Trace, show_paths: bool) -> dict[str, list[str]]:
    names, tracks = [_valid(name) for name in trace.names], trace.tracks
    return {
        "name": names if show_paths else [hide_home(name) for name in names],
        "process": [t.process for t in tracks],
        "thread": [t.thread for t in tracks],
        "device": [t.device or "" for t in tracks],
        "stream": [t.stream or "" for t in tracks],
    }


def _valid(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _code(texts: list[str], track: np.ndarray) -> np.ndarray:
    """Return the track as code of its text, -1 where that is empty."""
    empty = np.array([not t for t in texts], bool)
    codes: np.ndarray = np.where(empty[track], -1, track) if len(texts) else track
    return codes


def _argument(trace: Trace, name: str, rows: np.ndarray) -> pyarrow.Array:
    form, column = ARGUMENTS[name].form, trace.arg(name)
    there = np.isin(rows, column.rows)
    values = column.lookup(rows, -1)
    if form is Form.TEXT:
        return coded(np.where(there, values, -1), [_valid(t) for t in column.texts or []])
    return numbers(values.astype(np.float64 if form is Form.FLOAT else np.int64), there)
