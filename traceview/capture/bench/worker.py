"""The fresh process that times: `python -m traceview.capture.bench.worker SPEC RESULT`, both files of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from traceview.capture.bench.target import load
from traceview.capture.bench.timing import Point, profile_point, time_point
from traceview.errors import TraceviewError, UsageError


def main(spec_file: str, result_file: str) -> int:
    """Time every shape of a specification; what is wrong with the target becomes part of the result."""
    spec = json.loads(Path(spec_file).read_text(encoding="utf-8"))
    try:
        result = timed(spec)
    except TraceviewError as error:
        result = {"refused": [error.message, error.hint]}
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")
    return 0


def timed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the timings of all shapes, then, where asked for, what the profiler saw of each."""
    from traceview.capture.conditions import device, settings, versions

    spec = {**spec, "device": _device(spec["device"])}
    how = [spec[k] for k in ("device", "precision", "warmup", "iters", "seed")]
    loaded = load(spec["target"], spec["device"], spec["precision"], spec["seed"])
    points = [Point(tuple(shape), *how) for shape in spec["shapes"]]
    found = [_or_exhausted(lambda p=p: time_point(loaded, p), p) for p in points]
    if spec["profile"]:
        for point, result in zip(points, found, strict=True):
            if "failed" not in result:
                label = f"{spec['label']}-{'x'.join(map(str, point.shape))}-{point.precision}"
                result["profile"] = profile_point(loaded, point, Path(spec["profile"]), label)
    return {
        "used": spec["device"],
        "device": device() if spec["device"] != "cpu" else {},
        "versions": versions(),
        "settings": settings(),
        "points": found,
    }


def _device(wish: str) -> str:
    """Return the device to use: what was wished, of "auto" CUDA where there is one."""
    import torch

    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return str(torch.empty(0, device=wish).device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0][:120]
        raise UsageError(
            f"--device {wish}: {reason}", "use cpu, cuda or cuda:1, as torch knows it"
        ) from error


def _or_exhausted(action: Any, point: Point) -> dict[str, Any]:
    """Return what an action gives; a shape that does not fit into memory is a result, not a failure."""
    import torch

    try:
        return action()  # type: ignore[no-any-return]
    except torch.OutOfMemoryError:
        return {"shape": list(point.shape), "failed": "out of memory"}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
