"""A side of a comparison from a file of `summary --save`: the schema traceview.saved/1.

Such a file holds the largest rows of work and samples of up to some hundred steps, no operators above
the innermost one, and no host calls. What it does not hold is not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from traceview.analyses.rules import COPIES
from traceview.diff.chains import Node
from traceview.diff.recorded import device_of
from traceview.diff.side import Calls, Measured, Rows, Side, WorkRow
from traceview.errors import InputError
from traceview.events import Metadata, Noted
from traceview.sources.conditions import contradictions
from traceview.units import safe

SCHEMA = "traceview.saved/1"
LARGEST = 8_000_000  # bytes; a saved run has one at most
_HINT = "save the run again with traceview summary --save"
_HEADLINES = {
    "wall": "wall_us", "step_time": "period_us", "compute": "compute_us", "exposed_comm": "exposed_collective_us",
    "gpu_idle": "idle_us", "kernel_time": "kernel_sum_us",
}  # fmt: skip


def is_saved(path: str) -> bool:
    """Tell whether a file is a saved run: a small JSON object that says so at its beginning."""
    place = Path(path)
    try:
        if not place.is_file() or place.stat().st_size > LARGEST:
            return False
        with place.open("rb") as file:
            return f'"{SCHEMA.partition("/")[0]}/'.encode() in file.read(200)
    except OSError:
        return False


def saved_side(path: str, label: str) -> Side:
    """Return a saved run as a side; raises InputError where the file is none, or of another version."""
    name = Path(path).name
    try:
        document = orjson.loads(Path(path).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(f"{name}: cannot be read as a saved run ({error})", _HINT) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise InputError(f"{name}: is a saved run of another version ({found})", _HINT)
    try:
        return _side(document, label)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{name}: is a damaged saved run ({type(error).__name__}: {error})", _HINT
        ) from error


def _side(document: Mapping[str, Any], label: str) -> Side:
    listed, totals = document["rows"]["listed"], document["totals"]
    texts = [str(t) for t in document["rows"]["texts"]]
    rows = tuple(_row(entry, texts) for entry in listed)
    whole = _whole(rows, listed, totals)
    measured = {False: whole}
    stepped = _stepped(rows, document)
    if stepped is not None:
        measured[True] = stepped
    facts = {
        "kernels": _kernels(rows, listed), "op_self_gpu_us": {}, "kernel_us_per_step": None, **totals,
    }  # fmt: skip
    samples = len(stepped.steps) if stepped else 0
    return Side(label, facts, _conditions(document, rows), samples, None, measured)


def _row(entry: Mapping[str, Any], texts: Sequence[str]) -> WorkRow:
    kernel, op, shapes, category = (texts[int(entry[k])] for k in ("kernel", "op", "shapes", "category"))
    chain = (Node(op, shapes),) if op else ()
    return WorkRow(kernel, chain, category, category != COPIES, bool(op))


def _ns(us: Any) -> int:
    return round(float(us) * 1000)


def _whole(
    rows: tuple[WorkRow, ...], listed: Sequence[Mapping[str, Any]], totals: Mapping[str, Any]
) -> Measured:
    none = np.zeros((len(rows), 0), np.int64)
    table = Rows(
        rows,
        np.array([int(e["calls"]) for e in listed], np.int64),
        np.array([_ns(e["sum_us"]) for e in listed], np.int64),
        none,
        none,
        np.arange(len(rows)),
    )
    found = {
        "compute": totals.get("compute_busy_us"), "exposed_comm": totals.get("comm_exposed_us"),
        "exposed_copy": totals.get("copy_only_us"), "gpu_idle": totals.get("idle_us"),
        "kernel_time": totals.get("kernel_sum_us"),
    }  # fmt: skip
    known = {k: _ns(v) for k, v in found.items() if v is not None}
    known |= {"kernels": int(totals["kernel_count"]), "launches": int(totals["launch_calls"])}
    return Measured(False, (), 1, table, _no_calls(0), {}, known, {}, abridged=True)


def _stepped(rows: tuple[WorkRow, ...], document: Mapping[str, Any]) -> Measured | None:
    """Return the steps of which both rows and headlines were kept; None where there are none."""
    held, kept = document["rows"]["steps"], document["headlines"]
    place = {int(step): i for i, step in enumerate(kept["step"])}
    columns = [i for i, step in enumerate(held) if int(step) in place]
    if not columns:
        return None
    at = [place[int(held[i])] for i in columns]
    listed = document["rows"]["listed"]
    sums = np.array([[_ns(e["step_us"][i]) for i in columns] for e in listed], np.int64)
    calls = np.array([[_count(e["step_calls"], i) for i in columns] for e in listed], np.int64)
    shape = (len(rows), len(columns))
    sums, calls = sums.reshape(shape), calls.reshape(shape)
    table = Rows(rows, calls.sum(axis=1), sums.sum(axis=1), calls, sums, np.arange(len(rows)))
    headlines = _headlines(kept, at)
    return Measured(
        True,
        tuple(int(held[i]) for i in columns),
        len(columns),
        table,
        _no_calls(len(columns)),
        headlines,
        {k: int(v.sum()) for k, v in headlines.items()},
        {},
        abridged=True,
    )


def _count(value: Any, place: int) -> int:
    return int(value[place] if isinstance(value, list) else value)


def _no_calls(steps: int) -> Calls:
    none = np.zeros((0, steps), np.int64)
    return Calls((), np.zeros(0, np.int64), np.zeros(0, np.int64), none, none)


def _headlines(kept: Mapping[str, Any], at: Sequence[int]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, key in _HEADLINES.items():
        values = [kept[key][i] for i in at]
        if None not in values:
            found[name] = np.array([_ns(v) for v in values], np.int64)
    if "step_time" in found:
        if "gpu_idle" in found:
            found["gpu_busy"] = found["step_time"] - found["gpu_idle"]
        copies = [(kept["exposed_copy_us"][i], kept["exposed_fill_us"][i]) for i in at]
        if all(None not in pair for pair in copies):
            found["exposed_copy"] = np.array([_ns(a) + _ns(b) for a, b in copies], np.int64)
    else:
        found["step_time"] = found["wall"]
    for name in ("kernels", "launches"):
        found[name] = np.array([int(kept[name][i]) for i in at], np.int64)
    return found


def _kernels(rows: tuple[WorkRow, ...], listed: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row, entry in zip(rows, listed, strict=True):
        if row.is_kernel:
            held = found.setdefault(row.kernel, [0, 0.0])
            held[0] += int(entry["calls"])
            held[1] = (_ns(held[1]) + _ns(entry["sum_us"])) / 1000
    return found


def _conditions(document: Mapping[str, Any], rows: tuple[WorkRow, ...]) -> dict[str, Any]:
    kept, totals = document["conditions"], document["totals"]
    names = sorted({str(d["name"]) for d in kept["devices"] if d.get("name")})
    noted, shaped = _noted(kept), any(row.chain and row.chain[0].shaped for row in rows)
    seen = Metadata(
        versions=kept["versions"], switches=kept["switches"], rank=kept.get("rank"), world_size=kept.get("world_size")
    )  # fmt: skip
    return {
        "dialect": kept.get("dialect") or None,
        **device_of(names, noted),
        "device count": totals["device_count"],
        "versions": {k: v for k, v in sorted(kept["versions"].items()) if v is not None},
        "switches": dict(sorted(kept["switches"].items())),
        "world size": kept.get("world_size"),
        "graph share": totals["graph_kernel_share"],
        "launches": totals["launch_calls"],
        "kernels": totals["kernel_count"],
        "linked": sum(row.launched for row in rows),
        "reliable": totals["utilisation_reliable"],
        "left": {"record_shapes": True} if shaped else {},
        "chosen": kept.get("chosen"),
        "peak memory": None,
        "captured": dict(noted.texts),
        "noted": noted,
        "contradictions": contradictions(noted, seen, names),
    }


def _noted(kept: Mapping[str, Any]) -> Noted:
    """Return what was noted at capture; of runs saved by an earlier traceview only the texts."""
    told = kept.get("noted") or {}
    return Noted(
        texts={safe(str(k)): safe(str(v)) for k, v in kept.get("captured", {}).items()},
        device=told.get("device"),
        versions={k: str(v) for k, v in told.get("versions", {}).items() if v is not None},
        switches={k: bool(v) for k, v in told.get("switches", {}).items()},
        rank=told.get("rank"),
        world_size=told.get("world_size"),
        sized=bool(told.get("sized")),
    )
