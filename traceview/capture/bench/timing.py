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

from traceview.capture.bench.target import AMP, Loaded, call, inputs

PROFILED = 6  # iterations of the second pass
_WARM = 2


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

    given = inputs(loaded, point.shape, point.device, point.precision, point.seed)
    wait = _synchroniser(point.device)
    on_cuda = point.device.startswith("cuda")
    if on_cuda:
        torch.cuda.reset_peak_memory_stats()
    with torch.inference_mode(), _autocast(point):

        def step() -> None:
            call(loaded.model, given)

        first = [_one(step, wait) for _ in range(point.warmup)][:1]
        before = device_state()
        samples, device = _timed(step, wait, point.iters, on_cuda)
        whole = _stretch(step, wait, point.iters)
    return {
        "shape": list(point.shape),
        "first_ns": first[0] if first else None,
        "samples_ns": samples,
        "device_ns": device,
        "stretch_ns": whole,
        "peak_bytes": torch.cuda.max_memory_allocated() if on_cuda else _resident(),
        "state": {"start": before, "end": device_state()},
    }


def _synchroniser(device: str) -> Callable[[], None]:
    import torch

    if device.startswith("cuda"):
        return torch.cuda.synchronize  # type: ignore[no-any-return]
    if device.startswith(("xpu", "mps")):
        return torch.accelerator.synchronize  # type: ignore[no-any-return]
    return lambda: None


def _autocast(point: Point) -> Any:
    import torch

    return torch.autocast(point.device.partition(":")[0]) if point.precision == AMP else nullcontext()


def _one(step: Callable[[], None], wait: Callable[[], None]) -> int:
    wait()
    start = time.perf_counter_ns()
    step()
    wait()
    return time.perf_counter_ns() - start


def _timed(
    step: Callable[[], None], wait: Callable[[], None], iters: int, on_cuda: bool
) -> tuple[list[int], list[int] | None]:
    """Return the wall time of each iteration, and its time between events on the device."""
    if not on_cuda:
        return [_one(step, wait) for _ in range(iters)], None
    import torch

    marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(iters)]
    samples = []
    for start, end in marks:
        wait()
        begun = time.perf_counter_ns()
        start.record()
        step()
        end.record()
        wait()
        samples.append(time.perf_counter_ns() - begun)
    return samples, [round(start.elapsed_time(end) * 1e6) for start, end in marks]


def _stretch(step: Callable[[], None], wait: Callable[[], None], iters: int) -> int:
    """Return the time of all iterations together, one queued behind the other."""
    wait()
    start = time.perf_counter_ns()
    for _ in range(iters):
        step()
    wait()
    return time.perf_counter_ns() - start


def _resident() -> int | None:
    """Return the most memory that this process held, None where the system does not tell."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    import sys

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


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
        return {}
    return {"trace": recorded.files[0].name, **told(recorded.files[0])}


def told(trace: Path) -> dict[str, Any]:
    """Return what a bench asks of a trace."""
    from traceview.analyses import analyze
    from traceview.sources import read_trace

    analysis = analyze(read_trace(trace, parts=1))
    table, copies = analysis.operators, analysis.copies
    by = table.device_self if int(table.device_self.sum()) else table.cpu_self * (table.kind == "op")
    top = int(by.argmax()) if len(by) and int(by.sum()) else None
    to_device = [
        ("HtoD" in str(n) or "Host" in str(d)) for n, d in zip(copies.name, copies.direction, strict=True)
    ]
    return {
        "top_op": None if top is None else str(table.name[top]),
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
