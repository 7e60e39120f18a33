"""Run a bench: a ladder of shapes, timed by fresh processes one after the other, and what comes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from traceview.capture.bench.judge import Spread, doubts, spread
from traceview.capture.conditions import throttled
from traceview.capture.naming import safe_label
from traceview.capture.run_words import settings_said
from traceview.capture.runs import Run
from traceview.errors import InputError, UsageError
from traceview.report.cleaning import cleaned

Shape = tuple[int, ...]
_WORKER = "traceview.capture.bench.worker"
_REASON = 160  # of why something failed, in a row of a table


@dataclass(frozen=True)
class Wishes:
    """Say what is timed, and how."""

    target: str
    shapes: tuple[Shape, ...]
    precision: str = "fp32"
    device: str = "auto"
    warmup: int = 10
    iters: int = 50
    seed: int = 0
    repeat: int = 2
    profile: str | None = None  # a folder for traces

    @property
    def label(self) -> str:
        """Return how the bench is called: the factory's name."""
        return safe_label(self.target.rpartition(":")[2])


@dataclass(frozen=True)
class Timed:
    """Hold one shape: the samples of each process in ns, and figures of them."""

    shape: Shape
    samples: tuple[tuple[int, ...], ...]
    spread: Spread | None  # None: it failed
    device_ns: float | None
    per_second: float | None  # items of the batch
    peak_bytes: int | None
    profile: Mapping[str, Any]
    doubts: tuple[str, ...]
    failed: str = ""


@dataclass(frozen=True)
class Bench:
    """Hold what a bench found, with the conditions that all its processes shared."""

    wishes: Wishes
    timed: tuple[Timed, ...]
    conditions: Mapping[str, str]
    on_cpu: bool


def parse_shape(text: str) -> Shape:
    """Return a shape: 1,3,128,128 or 1x3x128x128."""
    try:
        shape = tuple(int(p) for p in text.replace("x", ",").split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1:
        raise UsageError(f"{text!r} is no shape", "write it as 1,3,128,128")
    return shape


def ladder(shapes: Sequence[Shape], batches: Sequence[int], zipped: bool) -> tuple[Shape, ...]:
    """Return the shapes to time: each with each batch in place of its first dimension, or pair by pair."""
    if not shapes:
        raise UsageError("no shape was given", "give --shape 1,3,128,128, as often as you like")
    if not batches:
        return tuple(shapes)
    if zipped and len(batches) != len(shapes):
        raise UsageError(
            f"--zip pairs {len(shapes)} shapes with {len(batches)} batches", "give as many of both"
        )
    pairs = zip(shapes, batches, strict=True) if zipped else ((s, b) for s in shapes for b in batches)
    return tuple((b, *s[1:]) for s, b in pairs)


def bench(wishes: Wishes, say: Callable[[str], None]) -> Bench:
    """Time the ladder in as many fresh processes as wished; the last one looks with the profiler too.

    Raises InputError where no shape could be timed; one that failed is a row that says why.
    """
    if busy := _busy():
        say(busy)
    results: list[Mapping[str, Any]] = []
    said: set[tuple[str, ...]] = set()
    for number in range(wishes.repeat):
        say(f"process {number + 1} of {wishes.repeat}")
        results.append(_process(wishes, last=number == wishes.repeat - 1))
        _tell_where(results[-1], said, say)
        _refuse_nothing(wishes, results[-1])
    timed = tuple(
        _timed(wishes, shape, [r["points"][i] for r in results]) for i, shape in enumerate(wishes.shapes)
    )
    return Bench(wishes, timed, _conditions(wishes, results), results[0]["used"] == "cpu")


def _tell_where(result: Mapping[str, Any], said: set[tuple[str, ...]], say: Callable[[str], None]) -> None:
    """Say where the model failed, each place once: the last frames of the user's own."""
    failures = [result["broken"]] if "broken" in result else result["points"]
    for failure in (f for p in failures for f in (p, p.get("profile", {}))):
        where = tuple(failure.get("where", ()))
        if where and where not in said:
            said.add(where)
            say("\n".join((f"{failure['failed']}, at", *where)))


def _refuse_nothing(wishes: Wishes, result: Mapping[str, Any]) -> None:
    """Refuse a target of which no shape could be timed."""
    if "broken" in result:
        raise InputError(f"{wishes.target}: {_shown(result['broken']['failed'])}", "run the factory alone")
    failed = [(p["shape"], p["failed"]) for p in result["points"] if "failed" in p]
    if len(failed) == len(result["points"]):
        shape, why = failed[0]
        raise InputError(
            f"{wishes.target}: no shape could be timed; {'x'.join(map(str, shape))}: {_shown(why)}",
            "run the model alone with such inputs",
        )


def _shown(reason: str) -> str:
    """Return the reason of a failure as a short line without paths."""
    return cleaned(reason)[:_REASON]


def _busy() -> str:
    """Say that other programs want the processors too, where the system tells."""
    if not hasattr(os, "getloadavg"):
        return ""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return (
        f"warning: {load:.1f} programs want {cores} cores: times will be theirs too"
        if load > cores / 2
        else ""
    )


def _process(wishes: Wishes, last: bool) -> Mapping[str, Any]:
    """Time the ladder in a fresh process. Only the last one profiles, after all of its timing."""
    with tempfile.TemporaryDirectory(prefix="traceview-bench-") as folder:
        spec, result = Path(folder, "spec.json"), Path(folder, "result.json")
        traces = wishes.profile or folder
        wanted = {
            **{
                k: getattr(wishes, k)
                for k in ("target", "device", "precision", "warmup", "iters", "seed", "label")
            },
            "shapes": [list(s) for s in wishes.shapes],
            "profile": str(Path(traces).absolute()) if last else None,
        }
        spec.write_text(json.dumps(wanted), encoding="utf-8")
        command = [sys.executable, "-m", _WORKER, str(spec), str(result)]
        done = subprocess.run(  # noqa: S603 - this Python, with files of our own
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        if not result.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()  # models write what they like
            why = _shown((said or [_ending(done.returncode)])[-1])
            raise InputError(
                f"{wishes.target}: the process that times it failed ({why})",
                "run the model alone to see more",
            )
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    if "refused" in found:
        raise UsageError(*found["refused"])
    if "points" in found:
        found["points"] += _not_reached(wishes.shapes[len(found["points"]) :], done.returncode)
    return found


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-status).name}"
    return f"ended by signal {-status}"


def _not_reached(shapes: Sequence[Shape], status: int) -> list[dict[str, Any]]:
    """Return what is said of the shapes that a process did not live to time: the first of them was its last."""
    why = f"the process that timed it failed ({_ending(status)})"
    return [
        {
            "shape": list(shape),
            "failed": why if not place else "not reached: an earlier shape ended the process",
        }
        for place, shape in enumerate(shapes)
    ]


def _timed(wishes: Wishes, shape: Shape, points: Sequence[Mapping[str, Any]]) -> Timed:
    failed = next((p["failed"] for p in points if "failed" in p), "")
    if failed:
        return Timed(shape, (), None, None, None, None, {}, (), _shown(failed))
    samples = tuple(tuple(p["samples_ns"]) for p in points)
    device = [median(p["device_ns"]) for p in points if p["device_ns"]]
    stretch = median(p["stretch_ns"] for p in points)
    peaks = [p["peak_bytes"] for p in points if p["peak_bytes"] is not None]
    profile: Mapping[str, Any] = next((p["profile"] for p in points if p.get("profile")), {})
    return Timed(
        shape, samples, spread(samples),
        median(device) if device else None,
        shape[0] * wishes.iters / (stretch / 1e9),
        max(peaks, default=None), profile,
        (*doubts(samples), *_throttled(points), *_made_inside(profile)),
    )  # fmt: skip


def _throttled(points: Sequence[Mapping[str, Any]]) -> list[str]:
    held = throttled(*(p["state"][k] for p in points for k in ("start", "middle", "end")))
    return [f"the device was throttled: {', '.join(held)}"] if held else []


def _made_inside(profile: Mapping[str, Any]) -> list[str]:
    """Say that inputs or masks are made in the timed region, as copies to the device or by operators that make them."""
    if "failed" in profile:
        return [f"the profiled pass failed: {_shown(profile['failed'])}"]
    found = []
    if profile.get("copies_in"):
        found.append(
            f"{profile['copies_in']} copies to the device in {profile['iterations']} iterations: "
            "inputs or masks are made anew in the timed region"
        )
    if profile.get("made_inside"):
        found.append(
            f"{', '.join(profile['made_inside'])} in the timed region: inputs or masks are made anew"
        )
    return found


def _conditions(wishes: Wishes, results: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    first = results[0]
    device = first["device"].get("name") or first["used"]
    return {
        "target": wishes.target,
        "device": str(device),
        "precision": wishes.precision,
        "versions": ", ".join(f"{k} {v}" for k, v in first["versions"].items()),
        "seed": str(wishes.seed),
        "warm-up": str(wishes.warmup),
        "iterations": str(wishes.iters),
        **settings_said(first["settings"]),
    }


def rows(found: Bench) -> list[Run]:
    """Return what the table of runs keeps: a row per shape that did not fail."""
    kept = []
    for point in found.timed:
        if point.spread is None:
            continue
        figures = {
            "latency_ns": point.spread.median,
            "p95_ns": point.spread.p95,
            "spread_within_share": point.spread.within,
            "spread_between_share": point.spread.between,
            "device_ns": point.device_ns,
            "items_per_s": point.per_second,
            "peak_bytes": point.peak_bytes,
            "top_op_share": point.profile.get("top_share"),
        }
        conditions = {**found.conditions, "shape": "x".join(map(str, point.shape))}
        trace = str(point.profile.get("trace", "")) if found.wishes.profile else ""
        top = point.profile.get("top_op")
        notes = {"top_op": cleaned(top), "top_op_time": point.profile["top_op_time"]} if top else {}
        kept.append(Run("bench", found.wishes.label, conditions, figures, point.samples, trace, notes=notes))
    return kept
