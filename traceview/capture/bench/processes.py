"""Time a ladder in a fresh process, and tell how that ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from traceview.capture.bench.wishes import Shape, Wishes
from traceview.errors import InputError, UsageError
from traceview.report.cleaning import cleaned

_WORKER = "traceview.capture.bench.worker"
_REASON = 160  # of why something failed, in a row of a table
_TAIL = 1 << 16  # bytes of what a process wrote, to find its last line


def shown(reason: str) -> str:
    """Return the reason of a failure as a short line without paths."""
    return cleaned(reason)[:_REASON]


def timed_afresh(wishes: Wishes, last: bool) -> Mapping[str, Any]:
    """Time the ladder in a fresh process. Only the last one profiles, after all of its timing.

    A target may leave processes behind that hold on to its output: only its own end is waited for.
    """
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
        said = Path(folder, "said")
        with said.open("wb") as file:
            done = subprocess.run(  # noqa: S603 - this Python, with files of our own
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file, check=False
            )
        if not result.is_file():
            raise InputError(
                f"{wishes.target}: the process that times it failed ({_why(done.returncode, said)})",
                "run the model alone to see more",
            )
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    if "refused" in found:
        raise UsageError(*found["refused"])
    if "points" in found:
        _tell_end(found, wishes, done.returncode, last)
    return found


def _tell_end(found: dict[str, Any], wishes: Wishes, status: int, last: bool) -> None:
    """Put into a result what a process did not live to do, and how it ended where nothing lacks and it ended badly."""
    missed = wishes.shapes[len(found["points"]) :]
    unseen = [p for p in found["points"] if last and "failed" not in p and "profile" not in p]
    who = f"process {wishes.repeat} of {wishes.repeat} ({_ending(status)})"
    for place, point in enumerate(unseen):
        ended_here = not place and not missed
        why = f"no trace was kept and read by {who}" if ended_here else f"not reached by {who}"
        point["profile"] = {"failed": why}
    found["points"] += _not_reached(missed, status)
    if status and not missed and not unseen:
        found["ended"] = _ending(status)


def _why(status: int, said: Path) -> str:
    """Return how a process ended, and its last line where it ended by itself: of a signal nothing is written."""
    if status < 0:
        return _ending(status)
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - _TAIL))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()  # models write what they like
    return shown(f"{_ending(status)}: {lines[-1]}" if lines else _ending(status))


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
