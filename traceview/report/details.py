"""What the trace says of a slice besides its times: how it was launched, what it communicated, its inputs.

One number each per item of the timeline, most of them small or repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.analyses.grouping import combined
from traceview.events import Trace
from traceview.report.lod import Items
from traceview.report.names import NameBook
from traceview.units import count, data_size, shown

MOST = 4_000  # different texts: what is beyond the most frequent is not told


def details(trace: Trace, items: Items, names: NameBook) -> dict[str, npt.NDArray[Any]]:
    """Return per item 1 + a place in detail_name, 0 for none; only exact slices have details."""
    exact = np.flatnonzero(items.number == 1)
    place, texts = _told(trace, items.source[exact])
    detail = np.zeros(len(items), np.int64)
    detail[exact] = place
    return {"detail": detail, "detail_name": np.array([names.add(t) for t in texts], np.int64)}


def _sides(text: str) -> str:
    """Say [128,1,1] as 128×1×1."""
    return text.strip("[]").replace(" ", "").replace(",", "×")


_TOLD: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("collective", lambda v: f"collective {v}"),
    ("group_size", lambda v: f"group of {count(int(v))}"),
    ("in_elements", lambda v: f"{count(int(v))} elements in"),
    ("out_elements", lambda v: f"{count(int(v))} elements out"),
    ("dtype", str),
    ("grid", lambda v: f"grid {_sides(v)}"),
    ("block", lambda v: f"block {_sides(v)}"),
    ("registers", lambda v: f"{count(int(v))} registers"),
    ("shared_memory", lambda v: f"{data_size(v)} shared memory"),
    ("occupancy", lambda v: f"occupancy {v:g} %"),
    ("bytes", data_size),
    ("input_dims", lambda v: f"inputs {v}"),
    ("input_type", str),
)
"""What is told of a slice: the argument, and how it is said."""


def _told(trace: Trace, rows: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return 1 + the place of each row's text, 0 for none, and the texts, the most frequent first."""
    group = np.zeros(len(rows), np.int64)
    texts: list[list[str]] = [[]]
    for argument, say in _TOLD:
        held = trace.arg(argument)
        if not len(held.rows):
            continue
        values, code = np.unique(held.lookup(rows, -1), return_inverse=True)
        known = values.tolist() if held.texts is None else [held.texts[v] if v >= 0 else None for v in values]
        words = [[] if v is None or v == -1 else [say(v)] for v in known]
        left, right, group = combined(group, code, len(values))
        texts = [texts[a] + words[b] for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    number = np.bincount(group, minlength=len(texts))
    said = [i for i in np.argsort(-number, kind="stable").tolist() if texts[i]][:MOST]
    place = np.zeros(len(texts), np.int64)
    place[said] = 1 + np.arange(len(said))
    return place[group], [shown(" · ".join(texts[i]), 300) for i in said]
