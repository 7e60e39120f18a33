"""Outputs as a command line names them: which file gets which format, and what is refused before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from traceview.cli.output import STANDARD, Staging, refuse_existing
from traceview.cli.streams import say
from traceview.errors import UsageError
from traceview.units import middle, safe

_UNITS = ((1_000_000, "MB"), (1000, "kB"))
_SHOWN = 80  # characters of a name in a message


class Target(NamedTuple):
    """Hold an output and its format."""

    path: str
    form: str


def targets(
    outputs: Sequence[str], form: str | None, suffixes: Mapping[str, str], default: str | None = None
) -> list[Target]:
    """Return each output with its format: that of its suffix, else the one asked for, else the default.

    `suffixes` leads from suffixes to formats, longer suffixes first. The default is for outputs
    without any suffix and for standard output. Raises UsageError for what does not go together.
    """
    if form is not None and len(outputs) > 1:
        raise UsageError("--format goes with one output", "the suffix of each output says its format")
    found = [Target(path, _form(path, form, suffixes, default)) for path in outputs]
    places = [STANDARD if path == STANDARD else os.path.realpath(path) for path in outputs]
    for i, place in enumerate(places):
        if place in places[:i] or any(_same(place, other) for other in places[:i]):
            raise UsageError(f"{_named(outputs[i])} is named twice as output", "name each file once")
    return found


def _form(path: str, form: str | None, suffixes: Mapping[str, str], default: str | None) -> str:
    name = Path(path).name.lower()
    by_suffix = next((f for suffix, f in suffixes.items() if name.endswith(suffix)), None)
    if form is not None and by_suffix not in (None, form):
        raise UsageError(f"--format {form} does not go with {_named(path)}", "leave one of them out")
    bare = path == STANDARD or not Path(path).suffix
    found = form or by_suffix or (default if bare else None)
    if found is None:
        known = ", ".join(dict.fromkeys(suffixes.values()))
        raise UsageError(f"{_named(path)}: the name does not say the format", f"add --format, one of {known}")
    return found


def _same(one: str, other: str) -> bool:
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


def _named(path: str) -> str:
    return middle(path if path == STANDARD else Path(path).name or path, _SHOWN)


def refuse_targets(found: Sequence[Target], trace: str, force: bool) -> None:
    """Refuse what must not be overwritten and what no file can be."""
    for target in found:
        refuse_existing(target.path, trace, force)


def write_targets(
    painted: Sequence[tuple[Target, Callable[[BinaryIO], object]]], verdict: str = ""
) -> list[Path | None]:
    """Write all outputs or none; say where and how large, with a verdict behind the first.

    Where one of them is standard output, nothing is said: it holds that output alone.
    """
    with Staging() as staging:
        sizes = [staging.add(target.path, paint) for target, paint in painted]
        written = staging.publish()
    if None not in written:
        for (target, _), size in zip(painted, sizes, strict=True):
            say(
                f"wrote {safe(target.path)} ({_size(size)}){f': {safe(verdict)}' if verdict else ''}",
                err=False,
            )
            verdict = ""
    return written


def _size(size: int) -> str:
    scale, unit = next((u for u in _UNITS if size >= u[0] / 20), (1, "bytes"))
    return f"{size / scale:.1f} {unit}" if scale > 1 else f"{size} {unit}"
