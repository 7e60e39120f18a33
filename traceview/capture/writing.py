"""Write a window's trace: aside, compressed, without the host's name and folder, then under a name that was free."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from typing import IO, Any

from traceview.capture import naming

_COMPRESSION = 3  # a trace shrinks 12 times with 3, 14 times with 9, in a quarter of the time
_BLOCK = 1 << 20
# the host's name, and where the file was written first: a home folder, often
_PRIVATE = re.compile(rb'("(?:host_name|traceName)"\s*:\s*)"(?:[^"\\\n]|\\.)*"')
_ASIDE = ".tmp"  # behind the name of what torch itself writes aside


def write(profiler: Any, folder: Path, name: str) -> Path:
    """Write what a profiler of torch has recorded; return the file."""
    plain = naming.part_of(folder, name, ".json")
    packed = naming.part_of(folder, name, naming.TRACE)
    try:
        _export(profiler, plain)
        with plain.open("rb") as source, gzip.open(packed, "wb", _COMPRESSION) as target:
            _copy(source, target)
        return naming.publish(packed, folder, name, naming.TRACE)
    finally:
        for path in (plain, plain.with_name(plain.name + _ASIDE), packed):
            path.unlink(missing_ok=True)


def _export(profiler: Any, plain: Path) -> None:
    """Let torch write its trace; where that fails it says so on standard error only, and no file is there."""
    try:
        profiler.export_chrome_trace(str(plain))
        if plain.is_file():
            return
        error: OSError | None = None
    except OSError as found:
        error = found
    free = shutil.disk_usage(plain.parent).free
    raise OSError(
        f"torch wrote no trace into {plain.parent}; {free / 2**20:.0f} MiB are free there"
    ) from error


def _copy(source: IO[bytes], target: Any) -> None:
    """Copy a trace without what is private in its own metadata; each stands on a line."""
    rest = b""
    while block := source.read(_BLOCK):
        whole, line, rest = (rest + block).rpartition(b"\n")
        text = whole + line
        target.write(_cleaned(text))
    target.write(_cleaned(rest))


def _cleaned(text: bytes) -> bytes:
    return _PRIVATE.sub(rb'\1""', text) if b'"host_name"' in text or b'"traceName"' in text else text


def size(count: int) -> str:
    """Return bytes to read, in the units of the other commands."""
    for least, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} B"
