"""Time one configuration in this process, without a profiler; then look at it with one, for a few iterations.

Latency is the wall time of an iteration, synchronised before and after; device time is taken by events beside it;
throughput is of a stretch that is synchronised at its ends only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from traceview.capture.bench import devices
from traceview.capture.bench.target import AMP, Loaded, call, inputs

PROFILED = 6  # iterations of the second pass
BUSY_NS = 20_000_000  # so long the device works while its state is read, about
_WARM = 2
_MOST_QUEUED = 200


class Point(NamedTuple):
    """Say what is timed, and how."""

    shape: tuple[int, ...]
    device: str
    precision: str
    warmup: int
    iters: int
    seed: int


def time_point(loaded: Loaded, point: Point) -> dict[str, Any]:
    """Return samples in ns and what goes with them, as plain data."""
    import torch

    from traceview.capture.conditions import device_state

    tells_peak = devices.forget_peak(point.device)
    given = inputs(loaded, point.shape, point.device, point.precision, point.seed)
    work = Work(lambda: call(loaded.model, given), devices.waiter(point.device), devices.marker(point.device))
    with torch.inference_mode(), _autocast(point):
        for _ in range(point.warmup):
            _one(work)
        before = device_state()
        samples, on_device, middle = _timed(work, point.iters)
        whole = _stretch(work, point.iters)
    return {
        "shape": list(point.shape),
        "samples_ns": samples,
        "device_ns": on_device,
        "stretch_ns": whole,
        "peak_bytes": devices.peak(point.device) if tells_peak else None,
        "state": {"start": before, "middle": middle, "end": device_state()},
    }


class Work(NamedTuple):
    """Hold an iteration, what waits for the device, and what makes its events (None: it has none)."""

    step: Callable[[], Any]
    wait: Callable[[], None]
    mark: Callable[[], Any] | None


def _autocast(point: Point) -> Any:
    import torch

    return torch.autocast(point.device.partition(":")[0]) if point.precision == AMP else nullcontext()


def _one(work: Work) -> int:
    work.wait()
    start = time.perf_counter_ns()
    work.step()
    work.wait()
    return time.perf_counter_ns() - start


def _timed(work: Work, iters: int) -> tuple[list[int], list[int] | None, dict[str, Any]]:
    """Return the wall time of each iteration, its time between events on the device, and the state in the middle."""
    if work.mark is None:
        return [_one(work) for _ in range(iters)], None, {}
    marks = [(work.mark(), work.mark()) for _ in range(iters)]
    samples: list[int] = []
    state: dict[str, Any] = {}
    for start, end in marks:
        if len(samples) == iters // 2:
            state = _at_work(work, samples[-1])
        work.wait()
        begun = time.perf_counter_ns()
        start.record()
        work.step()
        end.record()
        work.wait()
        samples.append(time.perf_counter_ns() - begun)
    return samples, [round(start.elapsed_time(end) * 1e6) for start, end in marks], state


def _at_work(work: Work, about_ns: int) -> dict[str, Any]:
    """Return the state of a device while it works: an idle one is not held down by anything.

    It works through iterations that nobody times, so that the next timed one finds it as warm as the last one did.
    """
    from traceview.capture.conditions import device_state

    for _ in range(min(_MOST_QUEUED, BUSY_NS // max(about_ns, 1) + 1)):
        work.step()
    state = device_state()
    work.wait()
    return state


def _stretch(work: Work, iters: int) -> int:
    """Return the time of all iterations together, one queued behind the other."""
    work.wait()
    start = time.perf_counter_ns()
    for _ in range(iters):
        work.step()
    work.wait()
    return time.perf_counter_ns() - start


def profile_point(loaded: Loaded, point: Point, folder: Path, label: str) -> dict[str, Any]:
    """Record a few iterations and return what the trace says: the top operator's share, and copies to the device."""
    import torch

    from traceview.capture import record

    given = inputs(loaded, point.shape, point.device, point.precision, point.seed)
    noted = {
        "shapes": [list(point.shape)],
        "batch": point.shape[0],
        "precision": point.precision,
        "seed": point.seed,
    }
    recorded = record(
        label, folder, wait=0, warmup=_WARM, active=PROFILED, shapes=True, conditions=noted, quiet=True
    )
    with torch.inference_mode(), _autocast(point), recorded:
        for _ in range(_WARM + PROFILED):
            call(loaded.model, given)
            recorded.step()
    if not recorded.files:
        return {"failed": "no trace was written"}
    return {"trace": recorded.files[0].name, **told(recorded.files[0])}


def told(trace: Path) -> dict[str, Any]:
    """Return what a bench asks of a trace."""
    from traceview import analyze, read_trace

    analysis = analyze(read_trace(trace, parts=1))
    table, copies = analysis.operators, analysis.copies
    on_device = bool(table.device_self.sum())
    by = table.device_self if on_device else table.cpu_self * (table.kind == "op")
    top = int(by.argmax()) if len(by) and int(by.sum()) else None
    to_device = [str(d) == "HtoD" for d in copies.direction]
    return {
        "top_op": None if top is None else str(table.name[top]),
        "top_op_time": "device time" if on_device else "host time",
        "top_share": None if top is None else float(by[top] / by.sum()),
        "copies_in": int(copies.calls[to_device].sum()) if len(copies) else 0,
        "made_inside": sorted({str(n) for n in table.name if str(n) in _MAKERS}),
        "iterations": PROFILED,
    }


# operators that make inputs or masks of nothing: in a timed region they are no part of a model
_MAKERS = frozenset(
    f"aten::{n}"
    for n in ("rand", "randn", "randint", "randperm", "normal_", "uniform_", "random_", "tril", "triu")
)
