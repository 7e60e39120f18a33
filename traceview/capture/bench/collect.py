"""Run a bench: a ladder of shapes, timed by fresh processes one after the other, and what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from traceview.capture.bench import processes
from traceview.capture.bench.judge import Spread, doubts, spread
from traceview.capture.bench.processes import shown
from traceview.capture.bench.wishes import Shape, Wishes
from traceview.capture.conditions import throttled
from traceview.capture.run_words import settings_said, target_said
from traceview.capture.runs import Run
from traceview.errors import InputError, TraceviewError
from traceview.report.cleaning import cleaned
from traceview.units import plural


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


def bench(wishes: Wishes, say: Callable[[str], None]) -> Bench:
    """Time the ladder in as many fresh processes as wished; the last one looks with the profiler too.

    Raises InputError where no shape could be timed by the first; one that failed is a row that says why. A later process
    that fails loses nothing of those before.
    """
    if busy := _busy():
        say(busy)
    results: list[Mapping[str, Any]] = []
    lost: list[str] = []
    said: set[tuple[str, ...]] = set()
    for number in range(wishes.repeat):
        say(f"process {number + 1} of {wishes.repeat}")
        try:
            result = processes.timed_afresh(wishes, last=number == wishes.repeat - 1)
            _tell_where(result, said, say)
            _refuse_nothing(wishes, result)
        except TraceviewError as error:
            if not results:
                raise
            lost.append(error.message.removeprefix(f"{wishes.target}: "))
        else:
            results.append(result)
            if how := result.get("ended"):
                say(f"warning: process {number + 1} ended badly ({how}), after all that it had to do")
    timed = tuple(
        _timed(wishes, shape, [r["points"][i] for r in results], lost)
        for i, shape in enumerate(wishes.shapes)
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
        raise InputError(f"{wishes.target}: {shown(result['broken']['failed'])}", "run the factory alone")
    failed = [(p["shape"], p["failed"]) for p in result["points"] if "failed" in p]
    if len(failed) == len(result["points"]):
        shape, why = failed[0]
        raise InputError(
            f"{wishes.target}: no shape could be timed; {'x'.join(map(str, shape))}: {shown(why)}",
            "run the model alone with such inputs",
        )


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


def _timed(wishes: Wishes, shape: Shape, points: Sequence[Mapping[str, Any]], lost: Sequence[str]) -> Timed:
    """Return what the processes say of a shape; one that could not time it takes nothing from the others."""
    failed = [*(shown(p["failed"]) for p in points if "failed" in p), *lost]
    points = [p for p in points if "failed" not in p]
    if not points:
        return Timed(shape, (), None, None, None, None, {}, (), failed[0])
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
        (*_fewer(wishes, points, failed), *doubts(samples), *_throttled(points), *_made_inside(profile)),
    )  # fmt: skip


def _fewer(wishes: Wishes, points: Sequence[object], failed: Sequence[str]) -> list[str]:
    if not failed:
        return []
    return [f"timed by {plural(len(points), 'process', 'processes')} of {wishes.repeat}; {failed[0]}"]


def _throttled(points: Sequence[Mapping[str, Any]]) -> list[str]:
    held = throttled(*(p["state"][k] for p in points for k in ("start", "middle", "end")))
    return [f"the device was throttled: {', '.join(held)}"] if held else []


def _made_inside(profile: Mapping[str, Any]) -> list[str]:
    """Say that inputs or masks are made in the timed region, as copies to the device or by operators that make them."""
    if "failed" in profile:
        return [f"the profiled pass failed: {shown(profile['failed'])}"]
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
        "target": target_said(wishes.target),
        "device": str(device),
        "precision": wishes.precision,
        "versions": ", ".join(f"{k} {v}" for k, v in first["versions"].items()),
        "seed": str(wishes.seed),
        "warm-up": str(wishes.warmup),
        "iterations": str(wishes.iters),
        **settings_said(first["settings"]),
    }


def rows(found: Bench) -> list[Run]:
    """Return what the table of runs keeps: a row per shape; one that failed has no figures, and says why."""
    return [_row(found, point) for point in found.timed]


def _row(found: Bench, point: Timed) -> Run:
    label = found.wishes.label
    conditions = {**found.conditions, "shape": "x".join(map(str, point.shape))}
    if point.spread is None:
        return Run("bench", label, conditions, {}, [], notes={"failed": point.failed})
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
    trace = str(point.profile.get("trace", "")) if found.wishes.profile else ""
    top = point.profile.get("top_op")
    notes = {"top_op": cleaned(top), "top_op_time": point.profile["top_op_time"]} if top else {}
    return Run("bench", label, conditions, figures, point.samples, trace, notes=notes)
