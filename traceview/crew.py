"""Start processes of our own that read stretches of a big file, before anything heavy is imported.

A process needs a while to start and to import numpy, so the command line starts them first and
imports what it needs meanwhile. Only the standard library is used here.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

WORTH_IT = {"gzip": 6 << 20, "plain": 60 << 20}  # bytes of file from which a second process gains
MAX_PARTS = 4  # by itself
MOST_PARTS = 64  # when asked
# The others inflate up to their stretch and hand over what they read, so the first stretch, of the process
# that joins them, is longer by this share of the file; less so when that one imports more while they read.
_LONGER, _LONGER_AHEAD = 0.08, 0.03
_CHILD = "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from traceview.sources.parts import child;child(*sys.argv[2:])"
# without site: its path is given, and its start-up files cost time
_FLAGS = ("-S", "-c", _CHILD)
# glibc gives freed memory back and takes it again for each batch, unless it is told to keep it
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "268435456", "MALLOC_TOP_PAD_": "33554432"}


class Crew(NamedTuple):
    """Hold the processes that read a file from the first stop on, and where each stretch ends (-1: the end)."""

    stops: list[int]
    children: list[subprocess.Popen[bytes]]

    def dismiss(self) -> None:
        """Stop them all, done or not."""
        for running in self.children:
            running.kill()
            running.communicate()


_AHEAD: dict[str, Crew] = {}


def start_ahead(path: str | None) -> None:
    """Start the crew of a file that will be read soon, if it is a big one."""
    if not path or path == "-" or _AHEAD:
        return
    with suppress(OSError, ValueError):  # what is wrong with it is said where it is read
        parts = parts_for(Path(path))
        if parts > 1:
            _AHEAD[path] = start(Path(path), parts, _LONGER_AHEAD)


def crew_for(path: Path, parts: int | None) -> Crew | None:
    """Return the crew of a file, started ahead or now; None where this process should read it alone."""
    ready = _AHEAD.pop(str(path), None)
    if ready and parts in (None, len(ready.stops)):
        return ready
    if ready:
        ready.dismiss()
    parts = min(parts or parts_for(path), MOST_PARTS)
    return start(path, parts, _LONGER) if parts > 1 else None


def dismiss_ahead() -> None:
    """Stop crews that were started and never asked for."""
    while _AHEAD:
        _AHEAD.popitem()[1].dismiss()


def parts_for(path: Path) -> int:
    """Return how many processes should read a file: one per core for a big one, else one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return 1  # a pipe gives its bytes once
        with path.open("rb") as handle:
            first = handle.read(4)
            size = os.fstat(handle.fileno()).st_size
    except OSError:
        return 1
    form = "gzip" if first.startswith(b"\x1f\x8b") else "plain" if first[:1] in b"{[ " else ""
    if not form or size < WORTH_IT[form] or not sys.executable:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MAX_PARTS, cores)


def start(path: Path, parts: int, longer: float) -> Crew:
    """Start the processes that read a file from the second of `parts` stretches on; the first is `longer`."""
    size = path.stat().st_size
    stops = [int(size * (longer + (1 - longer) * i / parts)) for i in range(1, parts)]
    stops.append(-1)
    crew = Crew(stops, [])
    with suppress(OSError):  # where no process can be started, this one reads alone
        for i in range(parts - 1):
            crew.children.append(_start(path, stops[i], stops[i + 1]))
    return crew


def _start(path: Path, begin: int, stop: int) -> subprocess.Popen[bytes]:
    us = os.getpid() if os.name == "posix" else 0  # on Windows a launcher may stand between
    command = [sys.executable, *_FLAGS, json.dumps(sys.path), str(path), str(begin), str(stop), str(us)]
    # this interpreter with our own code; the file's path is an argument, never code
    return subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **_KEEP_MEMORY},
    )
