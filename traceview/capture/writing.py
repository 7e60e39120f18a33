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
TAIL = "after the last step"  # what torch counts as one more step: from the last step() to the end of the recording
_TAIL = b'"%s"' % TAIL.encode()
_ASIDE = ".tmp"  # behind the name of what torch itself writes aside


def write(profiler: Any, folder: Path, name: str) -> Path:
    """Write what a profiler of torch has recorded; return the file."""
    plain = naming.part_of(folder, name, ".json")
    packed = naming.part_of(folder, name, naming.TRACE)
    try:
        _export(profiler, plain)
        with plain.open("rb") as source, gzip.open(packed, "wb", _COMPRESSION) as target:
            _copy(source, target, _tail(profiler))
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


def _tail(profiler: Any) -> bytes:
    """Return the name of a step that step() has begun and not ended; a window that step() ends holds none."""
    return b'"ProfilerStep#%d"' % profiler.step_num


def _copy(source: IO[bytes], target: Any, tail: bytes) -> None:
    """Copy a trace without what is private in its own metadata, and without a step that is none.

    Each name stands on a line with all of it.
    """
    rest = b""
    while block := source.read(_BLOCK):
        whole, line, rest = (rest + block).rpartition(b"\n")
        text = whole + line
        target.write(_cleaned(text).replace(tail, _TAIL))
    target.write(_cleaned(rest).replace(tail, _TAIL))


def _cleaned(text: bytes) -> bytes:
    return _PRIVATE.sub(rb'\1""', text) if b'"host_name"' in text or b'"traceName"' in text else text


def size(count: int) -> str:
    """Return bytes to read, in the units of the other commands."""
    for least, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} B"
