"""The fresh process that times: `python -m traceview.capture.bench.worker SPEC RESULT`, both files of JSON."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traceview.capture.bench import devices
from traceview.capture.bench.target import Loaded, load
from traceview.capture.bench.timing import Point, profile_point, time_point
from traceview.errors import TraceviewError

Keep = Callable[[dict[str, Any]], None]
MEMORY = "out of memory"
_FRAMES = 4  # of the user's own, the last ones
_REASON = 300
_TRAIL = " Exception raised from "  # and behind it the frames of torch's own code


def main(spec_file: str, result_file: str) -> int:
    """Time every shape of a specification; what is wrong with the target becomes part of the result.

    The result is written after each shape: a process that the system ends in the middle has told of those before.
    """
    spec = json.loads(Path(spec_file).read_text(encoding="utf-8"))

    def keep(result: dict[str, Any]) -> None:
        part = Path(result_file + ".part")
        part.write_text(json.dumps(result), encoding="utf-8")
        part.replace(result_file)

    try:
        timed(spec, keep)
    except TraceviewError as error:
        keep({"refused": [error.message, error.hint]})
    return 0


def timed(spec: dict[str, Any], keep: Keep) -> None:
    """Hand over the timings of all shapes, then, where asked for, what the profiler saw of each."""
    spec = {**spec, "device": devices.choose(spec["device"])}
    loaded = _try(lambda: load(spec["target"], spec["device"], spec["precision"], spec["seed"]))
    if isinstance(loaded, dict):
        keep({"refused": loaded["refused"]} if "refused" in loaded else {"broken": loaded})
        return
    how = [spec[k] for k in ("device", "precision", "warmup", "iters", "seed")]
    points = [Point(tuple(shape), *how) for shape in spec["shapes"]]
    result: dict[str, Any] = {"points": [], **_surroundings(spec["device"])}
    for point in points:
        found = _try(lambda p=point: time_point(loaded, p))  # type: ignore[misc]
        result["points"].append({"shape": list(point.shape), **found})
        keep(result)
    result |= _surroundings(spec["device"])  # a model may have turned a switch
    keep(result)
    if spec["profile"]:
        for point, told in zip(points, result["points"], strict=True):
            if "failed" not in told:
                told["profile"] = _profiled(spec, loaded, point)
                keep(result)


def _surroundings(device: str) -> dict[str, Any]:
    from traceview.capture import conditions

    return {
        "used": device,
        "device": conditions.device() if device != "cpu" else {},
        "versions": conditions.versions(),
        "settings": conditions.settings(),
    }


def _profiled(spec: dict[str, Any], loaded: Loaded, point: Point) -> dict[str, Any]:
    label = f"{spec['label']}-{'x'.join(map(str, point.shape))}-{point.precision}"
    found: dict[str, Any] = _try(lambda: profile_point(loaded, point, Path(spec["profile"]), label))
    return found


def _try(action: Callable[[], Any]) -> Any:
    """Return what an action gives; of a failure {"failed": why, "where": the last frames of the user's own}.

    A model is a program of others, which may raise anything: one shape that fails must not lose the ladder.
    """
    try:
        return action()
    except TraceviewError as error:
        return {"failed": error.message, "refused": [error.message, error.hint]}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - see above; SystemExit too
        return {"failed": _reason(error), "where": _where(error)}


def _reason(error: BaseException) -> str:
    import torch

    text = " ".join(str(error).split()).partition(_TRAIL)[0]
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in text:
        return MEMORY
    return f"{type(error).__name__}: {text}"[:_REASON] if text else type(error).__name__


def _where(error: BaseException) -> list[str]:
    """Return the last frames of the user's own; where there are none, the last ones of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parent)
    theirs = [f for f in frames if not f.filename.startswith(ours)]
    own = [f for f in theirs if "site-packages" not in f.filename and not f.filename.startswith("<")]
    text = "".join(traceback.format_list((own or theirs or frames)[-_FRAMES:]))
    return text.splitlines()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
