"""Decide which captures of a folder may go, and delete them: whole ones, traces only, nothing outside.

`capture_sets` says which files are one capture. Whatever is no trace by its content stays, and so does the newest capture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from traceview.capture.capture_groups import File
from traceview.capture.capture_sets import Capture, captures, seen
from traceview.errors import UsageError

__all__ = [
    "Capture",
    "Condemned",
    "File",
    "Limits",
    "captures",
    "delete",
    "judged",
    "parse_age",
    "parse_size",
]

NEWEST, AT_WORK = "the newest", "written to within two minutes"
QUIET_S = 120.0  # a capture written to within this time may still be at work: another rank, the next window
_SHOWN = 40  # characters of what is refused
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


@dataclass(frozen=True)
class Limits:
    """Hold what condemns a capture; None: nothing of the kind."""

    keep: int | None = None  # captures
    age: float | None = None  # seconds
    size: int | None = None  # bytes, of all that are kept

    def __post_init__(self) -> None:
        if self.keep is self.age is self.size is None:
            raise UsageError("nothing says what may go", "give --keep, --max-age or --max-size")


class Condemned(NamedTuple):
    """Hold a capture that a limit condemns, why, and what holds it back all the same ("": nothing, it may go)."""

    capture: Capture
    reason: str
    held: str = ""


def parse_age(text: str) -> float:
    """Return seconds: 90s, 30m, 12h, 7d, 2w."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text, re.IGNORECASE)
    age = float(found[1]) * _AGES[found[2].lower()] if found else math.inf
    if age == math.inf:  # so is a number of 400 digits
        raise UsageError(f"{text[:_SHOWN]!r} is no age", "write it as 30m, 12h, 7d or 2w")
    return age


def parse_size(text: str) -> int:
    """Return bytes: 500MB, 20GB, 1.5TiB."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B)\s*", text, re.IGNORECASE)
    size = float(found[1]) * _SIZES.get(found[2].upper(), math.inf) if found else math.inf
    if not math.isfinite(size):
        raise UsageError(f"{text[:_SHOWN]!r} is no size", "write it as 500MB, 20GB or 1.5TiB")
    return int(size)


def judged(found: Sequence[Capture], limits: Limits, now: float) -> list[Condemned]:
    """Return those of the captures, the newest first, that any one limit condemns; the newest is held back."""
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
        if reasons:
            held = NEWEST if not place else _held(capture, now)
            result.append(Condemned(capture, ", ".join(reasons), held))
    return result


def _held(capture: Capture, now: float) -> str:
    if now - capture.written <= QUIET_S:
        return AT_WORK
    if not capture.unread:
        return ""
    more = f" and {len(capture.unread) - 1} more" if len(capture.unread) > 1 else ""
    return f"{capture.unread[0]}{more} of it cannot be read as a trace; delete it by hand"


def delete(capture: Capture, folder: Path) -> tuple[int, list[str]]:
    """Delete a capture; return the bytes that are free now, and what could not be deleted.

    A capture of which a file has changed since it was listed is left as it is: somebody writes to it. Each sidecar goes
    before its trace: where this is interrupted, what is left is a trace, which the next prune finds by its content.
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
        return seen(file.path) != file
    except FileNotFoundError:
        return False
