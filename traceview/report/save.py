"""What `summary --save` keeps of a run: enough to compare another run with it, and nothing private.

Headlines and rows have one sample per complete step. Every text of the trace is cleaned (cleaning.py),
and rows and operators that are alike then are added up; the trace's label, host, process ids and other
metadata are left out. The document is at most a megabyte: where it would be more, fewer steps and rows
are kept, and it says how many there were.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from traceview import __version__
from traceview.analyses import Analysis
from traceview.analyses.facts import us
from traceview.analyses.kernel_rows import StepRows, step_rows
from traceview.analyses.workspace import Workspace
from traceview.report.cleaning import cleaned, version
from traceview.report.time_documents import step_time_record

SCHEMA = "traceview.saved/1"
LARGEST = 1_000_000  # bytes
_SIZES = (
    (500, 250),
    (500, 64),
    (500, 32),
    (500, 12),
    (250, 12),
    (100, 8),
    (40, 4),
)  # rows and steps, tried in turn
_MOST_HEADLINES = 500  # steps whose headlines are kept
_LONGEST_NAME = 300
_OPERATORS, _SHAPES = 50, 5
_KEY = ("kernel", "op", "shapes", "category")
_HEADLINES = (
    "wall", "period", "compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle", "kernel_sum",
)  # fmt: skip
_WITHOUT_WINDOW = ("wall", "kernel_sum")
_COUNTS = ("kernels", "launches")
_TOTALS = (
    "kernel_count", "kernel_sum_us", "memcpy_count", "memcpy_sum_us", "memset_count", "memset_sum_us",
    "gpu_span_us", "idle_us", "compute_busy_us", "comm_kernel_us", "comm_exposed_us", "copy_only_us",
    "utilisation", "utilisation_reliable", "device_count", "launch_calls", "launch_cpu_us", "graph_launches",
    "graph_kernel_share", "step_count", "complete_step_count", "trace_span_us",
)  # fmt: skip


def saved_document(analysis: Analysis) -> dict[str, Any]:
    """Return what is kept of a run; `analysis` is about the chosen steps where some were chosen."""
    workspace = Workspace(analysis.trace, analysis.rules)
    samples = np.flatnonzero(analysis.step_windows.sample)
    found = step_rows(workspace, analysis.step_windows.start[samples], _SIZES[0][0])
    document: dict[str, Any] = {}
    for rows, steps in _SIZES:
        document = _document(analysis, found, (rows, steps))
        if len(saved_text(document)) <= LARGEST:
            break
    return document


def saved_text(document: dict[str, Any]) -> str:
    """Return the document as ASCII JSON on one line per key, so that a change of it can be read."""
    lines = (
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=True, allow_nan=False, separators=(',', ':'))}"
        for k, v in document.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _document(analysis: Analysis, found: StepRows, most: tuple[int, int]) -> dict[str, Any]:
    samples = np.flatnonzero(analysis.step_windows.sample)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "conditions": _conditions(analysis),
        "totals": {key: analysis.facts[key] for key in _TOTALS},
        "step_time": {k: v for k, v in step_time_record(analysis.step_time).items() if k != "samples_us"},
        "headlines": _headlines(analysis, _spread(samples, _MOST_HEADLINES)),
        "rows": _rows(analysis, found, most),
        "operators": _operators(analysis),
    }


def _conditions(analysis: Analysis) -> dict[str, Any]:
    meta, trace = analysis.trace.meta, analysis.trace
    return {
        "dialect": meta.dialect,
        "synthetic": meta.synthetic,
        "versions": {k: version(str(v)) for k, v in meta.versions.items()},
        "switches": dict(meta.switches),
        "rank": meta.rank,
        "world_size": meta.world_size,
        "backend": _plain(meta.backend),
        "devices": [
            {k: _plain(v) for k, v in {"key": d.key, "name": d.name, **d.properties}.items()}
            for d in trace.devices
        ],
        "captured": cleaned_texts(meta.conditions),
        "noted": {
            "device": _plain(meta.noted.device),
            "versions": {_name(k): version(str(v)) for k, v in meta.noted.versions.items()},
            "switches": dict(meta.noted.switches),
            "rank": meta.noted.rank,
            "world_size": meta.noted.world_size,
            "sized": meta.noted.sized,
        },
        "cut": trace.cut,
        "chosen": analysis.chosen or None,
        "warnings": {n.code: n.count for n in analysis.warnings if n.level == "warning"},
    }


def cleaned_texts(noted: Mapping[str, str]) -> dict[str, str]:
    """Return what was noted at capture without anything private; a run that is compared with a saved one has it so."""
    return {_name(k): _name(v) for k, v in noted.items()}


def _spread(places: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many places, evenly spread."""
    if len(places) <= most:
        return places
    return places[np.arange(most) * len(places) // most]


def _headlines(analysis: Analysis, places: np.ndarray) -> dict[str, Any]:
    """Return one list per headline, with an entry per step; unknown is None."""
    table = analysis.step_windows
    found: dict[str, Any] = {"step": table.number[places].tolist(), "of": int(table.sample.sum())}
    placed = table.window_start[places] >= 0
    for key in _HEADLINES:
        values = getattr(table, key)[places]
        known = (values >= 0) & (placed | np.isin(key, _WITHOUT_WINDOW))
        found[f"{key}_us"] = [
            us(v) if k else None for v, k in zip(values.tolist(), known.tolist(), strict=True)
        ]
    return found | {key: getattr(table, key)[places].tolist() for key in _COUNTS}


def _rows(analysis: Analysis, found: StepRows, most: tuple[int, int]) -> dict[str, Any]:
    """Return the largest rows; those whose cleaned texts are alike are one row."""
    rows, steps = most
    columns = _spread(np.arange(found.sum.shape[1]), steps)
    numbers = analysis.step_windows.number[np.flatnonzero(analysis.step_windows.sample)[columns]]
    keys, merged = _merged(found)
    texts: dict[str, int] = {}
    listed = [
        {
            **{c: texts.setdefault(t, len(texts)) for c, t in zip(_KEY, keys[i], strict=True)},
            "calls": int(merged.rows.calls[i]),
            "sum_us": us(int(merged.rows.sum[i])),
            "step_calls": _folded(merged.calls[i, columns].tolist()),
            "step_us": [us(v) for v in merged.sum[i, columns].tolist()],
        }
        for i in range(min(rows, len(keys)))
    ]
    rest = found.whole - int(merged.rows.sum[:rows].sum())
    return {"steps": numbers.tolist(), "texts": list(texts), "listed": listed, "others_us": us(rest)}


def _merged(found: StepRows) -> tuple[list[tuple[str, ...]], StepRows]:
    """Return the cleaned texts of the rows that are told apart by them, and these rows, largest sum first."""
    table = found.rows
    places: dict[tuple[str, ...], int] = {}
    written = zip(*(getattr(table, c).tolist() for c in _KEY), strict=True)
    group = np.array([places.setdefault(tuple(map(_name, t)), len(places)) for t in written], np.int64)

    def added(values: np.ndarray) -> np.ndarray:
        whole = np.zeros((len(places), *values.shape[1:]), np.int64)
        np.add.at(whole, group, values)
        return whole

    first = np.unique(group, return_index=True)[1]
    whole = replace(table.take(first), calls=added(table.calls), sum=added(table.sum))
    order = np.argsort(-whole.sum, kind="stable")
    keys = list(places)
    rows = StepRows(whole.take(order), found.whole, added(found.calls)[order], added(found.sum)[order])
    return [keys[i] for i in order.tolist()], rows


def _folded(values: list[int]) -> list[int] | int:
    """Return one number where all are alike."""
    return values[0] if len(set(values)) == 1 else values


def _operators(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the shapes of the operators with most device time, else most own host time."""
    trace, table = analysis.trace, analysis.operators
    dims = trace.arg("input_dims")
    by = table.device_self if int(table.device_self.sum()) else table.cpu_self
    top = [str(table.name[i]) for i in np.argsort(-by, kind="stable")[:_OPERATORS].tolist() if table.kind[i]]
    code_of = {name: i for i, name in enumerate(trace.names)}
    name_of_row = trace.slices.name[dims.rows]
    found: dict[str, Counter[str]] = {}
    for name in top:
        own = dims.values[name_of_row == code_of.get(name, -1)]
        shapes, times = np.unique(own, return_counts=True)
        listed = found.setdefault(_name(name), Counter())
        for shape, number in zip(shapes.tolist(), times.tolist(), strict=True):
            listed[_name((dims.texts or [])[int(shape)])] += number
    return [
        {"op": op, "kinds": len(shapes), "shapes": [[s, n] for s, n in shapes.most_common(_SHAPES)]}
        for op, shapes in found.items()
    ]


def _plain(value: Any) -> Any:
    return _name(value) if isinstance(value, str) else value


@lru_cache(maxsize=20_000)
def _name(text: str) -> str:
    """Return a cleaned text; a long one is cut, with a digest that tells it apart."""
    plain = cleaned(text)
    if len(plain) <= _LONGEST_NAME:
        return plain
    digest = hashlib.sha256(plain.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return f"{plain[: _LONGEST_NAME - 14]}…#{digest}"
