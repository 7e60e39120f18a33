"""Read a big file in several processes at once: each reads its own stretch, this one joins them.

Inflating is cheap and decoding is not, so every process inflates the file up to its own stretch and
decodes only that. Stretches meet at an event boundary that each process finds for itself; where
they do not meet exactly (a boundary inside a text, a damaged event there) or a child fails, this
process reads on alone, and the result is the same.
"""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from traceview.sources.container import Container, Damage
from traceview.sources.reader import Document, DocumentReader, collector_off, join_documents

WORTH_IT = {"gzip": 6 << 20, "plain": 60 << 20}  # bytes of file from which a second process gains
MAX_PARTS = 4  # by itself
MOST_PARTS = 64  # when asked
_HEAD_START = 0.1  # this process is up already: its stretch is longer by this share of the file
_CHILD = "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from traceview.sources.parts import child;child(*sys.argv[2:])"


# glibc gives freed memory back and takes it again for each batch, unless it is told to keep it
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "268435456", "MALLOC_TOP_PAD_": "33554432"}


class Part(NamedTuple):
    """Hold what a process read: from byte `begin` of the text to `end` (-1: to the end of the document)."""

    begin: int
    end: int
    document: Document
    damage: Damage


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


def read_in_parts(
    path: Path, parts: int, progress: Callable[[int], None] | None = None
) -> tuple[Document, Damage, str]:
    """Read a file with `parts` processes; return the document, its container's damage, the name shown."""
    parts = min(parts, MOST_PARTS)
    container = Container(path)
    stops = [int(container.size * (_HEAD_START + (1 - _HEAD_START) * i / parts)) for i in range(1, parts)]
    stops.append(-1)
    form = _form(path)
    children: list[subprocess.Popen[bytes]] = []
    with suppress(OSError):  # where no process can be started, this one reads alone
        for i in range(parts - 1):
            children.append(_start(path, stops[i], stops[i + 1], form))  # noqa: PERF401 - each is known at once
    try:
        with collector_off():
            reader = DocumentReader(container.name, container.blocks(), progress)
            reader.open_list()
            if not reader.events(lambda: container.read >= stops[0]):
                return reader.document(), container.damage, container.name
            others = _collect(children, reader.place)
            if others is None:
                reader.events()
                return reader.document(), container.damage, container.name
            document = reader.document()
            for other in others:
                document = join_documents(document, other.document)
            return document, others[-1].damage, container.name
    finally:
        for running in children:
            running.kill()
            running.communicate()
        container.close()


def _form(path: Path) -> str:
    """Return how the text begins: "[" for the array form."""
    probe = Container(path)
    try:
        return next(probe.blocks(), b"").lstrip()[:1].decode("ascii", "replace")
    finally:
        probe.close()


def _start(path: Path, begin: int, stop: int, form: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _CHILD, json.dumps(sys.path), str(path), str(begin), str(stop), form]
    # this interpreter with our own code; the file's path is an argument, never code
    return subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **_KEEP_MEMORY},
    )


def _collect(children: list[subprocess.Popen[bytes]], place: int) -> list[Part] | None:
    """Return the parts of all children, None when one failed or does not begin where the last one ended."""
    found: list[Part] = []
    for running in children:
        try:
            # our own child wrote it, over a pipe of our own
            part = pickle.load(running.stdout)  # type: ignore[arg-type]  # noqa: S301
        except (EOFError, pickle.UnpicklingError):
            return None
        if not isinstance(part, Part) or part.begin != place:
            return None
        place = part.end
        found.append(part)
        if place < 0:
            break
    return found if found and place < 0 else None


def child(path: str, begin: str, stop: str, form: str) -> None:
    """Read one stretch and write it to standard output, for the process that started this one."""
    container = Container(path)
    first, last = int(begin), int(stop)
    with collector_off():
        reader = DocumentReader(container.name, container.blocks())
        reader.skip(lambda: container.read >= first, array_form=form == "[")
        place = reader.place
        stopped = reader.events((lambda: container.read >= last) if last >= 0 else None)
        part = Part(place, reader.place if stopped else -1, reader.document(), container.damage)
        pickle.dump(part, sys.stdout.buffer, protocol=5)
        sys.stdout.buffer.flush()
    os._exit(0)  # nothing to tidy: freeing millions of names one by one takes longer than reading them
