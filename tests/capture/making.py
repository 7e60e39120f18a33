"""Loops to record, and what is found in the files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any


def work(torch: Any, number: int) -> None:
    """Do an iteration that can be told in a trace."""
    with torch.profiler.record_function(f"iteration {number}"):
        torch.ones(16).add(1)


def loop(torch: Any, recording: Any, iterations: int, steps: int = 1) -> None:
    """Work and step, as a training loop does."""
    for number in range(iterations):
        work(torch, number)
        for _ in range(steps):
            recording.step()


def iterations(path: Path) -> list[int]:
    """Return the iterations that a trace holds, from the text of the file."""
    data = path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    names = [str(e.get("name")) for e in json.loads(text)["traceEvents"] if e.get("ph") == "X"]
    return sorted(int(m[1]) for n in names if (m := re.fullmatch(r"iteration (\d+)", n)))


def by_window(files: list[Path]) -> list[list[int]]:
    """Return the iterations of each file in the order of windows."""
    return [iterations(p) for p in sorted(files, key=window)]


def window(path: Path) -> int:
    found = re.search(r"-w(\d+)", path.name)
    assert found, path
    return int(found[1])


def leftovers(folder: Path) -> list[str]:
    """Return what stands in a folder beside traces and their sidecars."""
    kept = (".pt.trace.json.gz", ".capture.json")
    return [p.name for p in folder.iterdir() if p.name.startswith(".") or not p.name.endswith(kept)]


def failing(error: BaseException) -> Callable[..., Any]:
    """Return a function that fails."""

    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail
