"""Decide which captures of a folder may go, and delete them: whole ones, traces only, nothing outside.

A capture is all ranks and windows of one label and run, with their sidecars. Files with a sidecar tell their run;
of others those belong together that lie in one folder, differ in the digits of their names only, and were written
within two minutes of each other. Whatever is no trace by its content stays, and so does the newest capture.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from traceview.errors import InputError, UsageError
from traceview.sources.choose import TOGETHER_S, is_trace
from traceview.sources.conditions import LARGEST, SCHEMA, SUFFIX
from traceview.sources.metadata import label_of

QUIET_S = 120.0  # a capture written to within this time may still be at work: another rank, the next window
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SIZES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_PLACE = re.compile(
    r"(?:-(?:rank|tp|pp|dp|ep|cp|sp)\d+)*-pid\d+-w\d+(?:-\d+)?$"
)  # what a name says besides its label


@dataclass(frozen=True)
class Limits:
    """Hold what condemns a capture; None: nothing of the kind."""

    keep: int | None = None  # captures
    age: float | None = None  # seconds
    size: int | None = None  # bytes, of all that are kept

    def __post_init__(self) -> None:
        if self.keep is self.age is self.size is None:
            raise UsageError("nothing says what may go", "give --keep, --max-age or --max-size")


class File(NamedTuple):
    """Hold a file as it was when it was listed."""

    path: Path
    size: int
    written: float


@dataclass(frozen=True)
class Capture:
    """Hold the files of a capture; `label` is how it is called."""

    label: str
    files: tuple[File, ...]

    @property
    def written(self) -> float:
        """Return when its newest file was written."""
        return max(f.written for f in self.files)

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(f.size for f in self.files)


class Condemned(NamedTuple):
    """Hold a capture that may go, and why."""

    capture: Capture
    reason: str


def parse_age(text: str) -> float:
    """Return seconds: 90s, 30m, 12h, 7d, 2w."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text, re.IGNORECASE)
    if not found:
        raise UsageError(f"{text!r} is no age", "write it as 30m, 12h, 7d or 2w")
    return float(found[1]) * _AGES[found[2].lower()]


def parse_size(text: str) -> int:
    """Return bytes: 500MB, 20GB, 1.5TiB."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B)\s*", text, re.IGNORECASE)
    if not found or found[2].upper() not in _SIZES:
        raise UsageError(f"{text!r} is no size", "write it as 500MB, 20GB or 1.5TiB")
    return int(float(found[1]) * _SIZES[found[2].upper()])


def captures(folder: Path) -> list[Capture]:
    """Return the captures below a folder, the newest first; no link is followed."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "name the folder of the traces")
    told: dict[tuple[str, ...], list[File]] = {}
    untold: dict[tuple[str, ...], list[File]] = {}
    for trace in _traces(folder):
        name, sidecar = label_of(trace.path.name), _sidecar(trace.path)
        place = str(trace.path.parent)
        if sidecar is not None:
            told.setdefault((place, _PLACE.sub("", name), sidecar[1]), []).extend((trace, sidecar[0]))
        else:
            untold.setdefault((place, re.sub(r"\d+", "#", trace.path.name)), []).append(trace)
    found = [Capture(key[1], tuple(sorted(files))) for key, files in told.items()]
    for files in untold.values():
        found += [Capture(label_of(g[0].path.name), tuple(sorted(g))) for g in _together(files)]
    return sorted(found, key=lambda c: (-c.written, c.label))


def _traces(folder: Path) -> Iterator[File]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = Path(root, name)
            if name.startswith(".") or name.endswith(SUFFIX) or path.is_symlink():
                continue
            with suppress(OSError):  # a writer or another prune may have taken it away
                if path.is_file() and is_trace(path):
                    yield _seen(path)


def _seen(path: Path) -> File:
    status = path.lstat()
    return File(path, status.st_size, status.st_mtime)


def _sidecar(trace: Path) -> tuple[File, str] | None:
    """Return the sidecar of a trace and the run that it tells."""
    path = trace.with_name(label_of(trace.name) + SUFFIX)
    with suppress(OSError, ValueError, RecursionError):
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        document = json.loads(path.read_bytes())
        if isinstance(document, dict) and document.get("schema") == SCHEMA:
            return _seen(path), str(document.get("run"))
    return None


def _together(files: list[File]) -> Iterator[list[File]]:
    """Yield files that were written one soon after the other."""
    ordered = sorted(files, key=lambda f: f.written)
    group = ordered[:1]
    for file in ordered[1:]:
        if file.written - group[-1].written > TOGETHER_S:
            yield group
            group = []
        group.append(file)
    yield group


def condemned(found: Sequence[Capture], limits: Limits, now: float) -> list[Condemned]:
    """Return which of the captures, the newest first, may go: any one limit condemns, the newest stays."""
    size, result = 0, []
    for place, capture in enumerate(found):
        size += capture.size
        reasons = []
        if limits.keep is not None and place >= limits.keep:
            reasons.append(f"not among the newest {limits.keep}")
        if limits.age is not None and now - capture.written > limits.age:
            reasons.append("too old")
        if limits.size is not None and size > limits.size:
            reasons.append("beyond the size")
        if place and reasons and now - capture.written > QUIET_S:
            result.append(Condemned(capture, ", ".join(reasons)))
    return result


def delete(capture: Capture, folder: Path) -> tuple[int, list[str]]:
    """Delete a capture; return the bytes that are free now, and what could not be deleted.

    A capture of which a file has changed since it was listed is left as it is: somebody writes to it.
    """
    root = folder.resolve()
    if any(_changed(file) for file in capture.files):
        return 0, [f"{capture.label}: changed meanwhile, left as it is"]
    freed, failed = 0, []
    for file in capture.files:
        if not file.path.parent.resolve().is_relative_to(root):
            failed.append(f"{file.path.name}: lies outside by now")
            continue
        try:
            file.path.unlink()
            freed += file.size
        except FileNotFoundError:
            continue  # another prune was faster
        except OSError as error:
            failed.append(f"{file.path.name}: {error.strerror or error}")
    return freed, failed


def _changed(file: File) -> bool:
    """Tell whether a file was written to or replaced; one that is gone is no reason to keep the others."""
    try:
        return _seen(file.path) != file
    except FileNotFoundError:
        return False
