"""Write a window's trace: aside, compressed, without the host's name and folder, then under a name that was free."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from typing import IO, Any

from traceview.capture import naming
from traceview.capture.session import STEP

_COMPRESSION = 3  # a trace shrinks 12 times with 3, 14 times with 9, in a quarter of the time
_BLOCK = 1 << 20
# the host's name, and where the file was written first: a home folder, often
_PRIVATE = re.compile(rb'("(?:host_name|traceName)"\s*:\s*)"(?:[^"\\\n]|\\.)*"')
_STEPS = re.compile(rb'"(ProfilerStep|%s)#(\d+)"' % STEP.encode())
# what would be one more step: from the last step() to the end of the recording
_TAIL = b'"after the last step"'
_OTHER = b'"step of another profiler"'
_ASIDE = ".tmp"  # behind the name of what torch itself writes aside


def write(profiler: Any, folder: Path, name: str, end: int) -> Path:
    """Write what a profiler of torch has recorded, with the steps before `end` marked as PyTorch does; return the file."""
    plain = naming.part_of(folder, name, ".json")
    packed = naming.part_of(folder, name, naming.TRACE)
    try:
        _export(profiler, plain)
        with plain.open("rb") as source, gzip.open(packed, "wb", _COMPRESSION) as target:
            _copy(source, target, end)
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


def _copy(source: IO[bytes], target: Any, end: int) -> None:
    """Copy a trace with its own steps alone, and without what is private in its metadata; each stands on a line."""

    def named(found: re.Match[bytes]) -> bytes:
        if found[1] == b"ProfilerStep":
            return _OTHER
        return b'"ProfilerStep#%s"' % found[2] if int(found[2]) < end else _TAIL

    def cleaned(text: bytes) -> bytes:
        return _STEPS.sub(named, _without_private(text)) if b"#" in text else _without_private(text)

    rest = b""
    while block := source.read(_BLOCK):
        whole, line, rest = (rest + block).rpartition(b"\n")
        target.write(cleaned(whole + line))
    target.write(cleaned(rest))


def _without_private(text: bytes) -> bytes:
    return _PRIVATE.sub(rb'\1""', text) if b'"host_name"' in text or b'"traceName"' in text else text


def size(count: int) -> str:
    """Return bytes to read, in the units of the other commands."""
    for least, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} B"
