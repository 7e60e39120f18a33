"""Small traces for tests, written by hand or built event by event."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from traceview.events import Trace
from traceview.sources import read_blocks

QUIRKS = Path(__file__).resolve().parents[2] / "sample_traces" / "quirks"
SHARED = Path(__file__).resolve().parents[3] / "shared"


def event(name: str, cat: str, ts: float | str, dur: float | str | None = 1, **more: Any) -> dict[str, Any]:
    """Return a complete event on thread 1 of process 9, or on stream 7 of device 0 for device work."""
    device = cat.lower() in ("kernel", "gpu_memcpy", "gpu_memset")
    made = {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 0 if device else 9,
        "tid": 7 if device else 1,
        "ts": ts,
    }
    if dur is not None:
        made["dur"] = dur
    args = {"device": 0, "stream": 7} if device else {}
    args.update(more.pop("args", {}))
    if "correlation" in more:
        args["correlation"] = more.pop("correlation")
    return {**made, "args": args, **more}


def launch(
    ts: float | str, correlation: Any, dur: float = 2, name: str = "cudaLaunchKernel"
) -> dict[str, Any]:
    """Return a host call that launches."""
    return event(name, "cuda_runtime", ts, dur, correlation=correlation)


def text_of(events: list[Any], **metadata: Any) -> bytes:
    """Return the document of these events in object form."""
    return json.dumps({**metadata, "traceEvents": events}).encode()


def read(events: list[Any], **metadata: Any) -> Trace:
    """Read a document of these events."""
    return read_blocks([text_of(events, **metadata)])


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    """Yield the bytes in pieces of a size."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


def rows(trace: Trace) -> list[tuple[str, str, int, int, str]]:
    """Return (name, kind, start in the file in ns, duration in ns, track) of every slice, in order."""
    from traceview.events import Kind

    s = trace.slices
    return [
        (trace.names[n], Kind(k).name, int(t) + trace.origin_ns, int(d), trace.tracks[w].label)
        for n, k, t, d, w in zip(s.name, s.kind, s.start, s.dur, s.track, strict=True)
    ]


def launched_by(trace: Trace) -> dict[tuple[str, int], tuple[str, int] | None]:
    """Return for each piece of device work (name, start in ns of the file) its launch likewise."""
    from traceview.events import DEVICE_WORK

    s = trace.slices
    found: dict[tuple[str, int], tuple[str, int] | None] = {}
    for row in np.flatnonzero(np.isin(s.kind, DEVICE_WORK)).tolist():
        call = int(s.link[row])
        found[_at(trace, row)] = None if call < 0 else _at(trace, call)
    return found


def _at(trace: Trace, row: int) -> tuple[str, int]:
    return trace.name_of(row), int(trace.slices.start[row]) + trace.origin_ns


def contents(trace: Trace) -> dict[str, Any]:
    """Return everything a trace holds, as plain values that compare equal when the traces are."""
    held: dict[str, Any] = {}
    for table in ("slices", "steps", "flows", "marks", "counters", "memory"):
        for column in dataclasses.fields(getattr(trace, table)):
            held[f"{table}.{column.name}"] = getattr(getattr(trace, table), column.name).tolist()
    for name, sparse in trace.args.items():
        values = sparse.values.tolist()
        held[f"args.{name}"] = (
            sparse.rows.tolist(),
            [sparse.texts[v] for v in values] if sparse.texts is not None else values,
        )
    for name in (
        "names",
        "tracks",
        "categories",
        "devices",
        "meta",
        "account",
        "origin_ns",
        "open_ranges",
        "cut",
    ):
        held[name] = getattr(trace, name)
    held["notices"] = [(n.code, n.level, n.count, n.place) for n in trace.notices]
    return held
