"""Slices as a table, in groups of rows: one row per slice, times in whole nanoseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from traceview.analyses.steps import step_of
from traceview.analyses.windows import marked_steps
from traceview.events import DEVICE_WORK, Flag, Kind, Trace
from traceview.report.parquet import coded, numbers, strings
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
    texts = {key: strings(found) for key, found in _texts(trace, show_paths).items()}
    unnamed = {key: np.array([not t for t in found], bool) for key, found in _of_tracks(trace).items()}
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
            "category": coded(at.category, texts["category"]),
            "kind": coded(at.kind, texts["kind"]),
            **{
                key: coded(np.where(empty[at.track], -1, at.track), texts[key])
                for key, empty in unnamed.items()
            },
            "step": numbers(number[step], step >= 0),
            "link": numbers(at.link.astype(np.int64), at.link >= 0),
            "duplicate": numbers((at.flags & Flag.DUPLICATE) != 0),
            "unfinished": numbers((at.flags & Flag.UNFINISHED) != 0),
            **{name: _argument(trace, name, texts.get(f"argument {name}"), own) for name in KEPT},
        }


def _texts(trace: Trace, show_paths: bool) -> dict[str, list[str]]:
    """Return the texts that columns are coded by."""
    columns = {"name": trace.names, "category": trace.categories, "kind": _KINDS, **_of_tracks(trace)}
    columns |= {f"argument {k}": trace.arg(k).texts or [] for k in KEPT if ARGUMENTS[k].form is Form.TEXT}
    valid = {k: [t.encode("utf-8", "backslashreplace").decode() for t in v] for k, v in columns.items()}
    return valid if show_paths else {k: [hide_home(t) for t in v] for k, v in valid.items()}


def _of_tracks(trace: Trace) -> dict[str, list[str]]:
    tracks = trace.tracks
    return {
        "process": [t.process for t in tracks],
        "thread": [t.thread for t in tracks],
        "device": [t.device or "" for t in tracks],
        "stream": [t.stream or "" for t in tracks],
    }


def _argument(trace: Trace, name: str, texts: pyarrow.Array | None, rows: np.ndarray) -> pyarrow.Array:
    column, floating = trace.arg(name), ARGUMENTS[name].form is Form.FLOAT
    there = np.isin(rows, column.rows)
    values = column.lookup(rows, -1)
    if texts is not None:
        return coded(np.where(there, values, -1), texts)
    return numbers(values.astype(np.float64 if floating else np.int64), there)
