"""Read a big file in several processes at once: each reads its own stretch, this one joins them.

Inflating is cheap and decoding is not, so every process inflates the file up to its own stretch and
decodes only that. Stretches meet at an event boundary that each process finds for itself; where
they do not meet exactly (a boundary inside a text, a damaged event there) or a child fails, this
process reads on alone, and the result is the same.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from traceview.crew import Crew
from traceview.sources.container import Container, Damage
from traceview.sources.reader import Document, DocumentReader, collector_off, join_documents


class Part(NamedTuple):
    """Hold what a process read: from byte `begin` of the text to `end` (-1: to the end of the document)."""

    begin: int
    end: int
    document: Document
    damage: Damage


def read_in_parts(
    path: Path, crew: Crew, progress: Callable[[int], None] | None = None
) -> tuple[Document, Damage, str]:
    """Read a file together with a crew; return the document, its container's damage, the name shown."""
    container = Container(path)
    try:
        with collector_off():
            reader = DocumentReader(container.name, container.blocks(), progress)
            reader.open_list()
            if not reader.events(lambda: container.read >= crew.stops[0]):
                return reader.document(), container.damage, container.name
            others = _collect(crew.children, reader.place)
            if others is None:
                reader.events()
                return reader.document(), container.damage, container.name
            document = reader.document()
            for other in others:
                document = join_documents(document, other.document)
            return document, others[-1].damage, container.name
    finally:
        crew.dismiss()
        container.close()


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


def child(path: str, begin: str, stop: str, starter: str) -> None:
    """Read one stretch and write it to standard output, for the process that started this one.

    `starter` is that process, "0" where it is the parent of now: it may have ended before this one could look.
    """
    container = Container(path)
    first, last = int(begin), int(stop)
    parent = int(starter) or os.getppid()

    def reached(byte: int) -> bool:
        if os.getppid() != parent:  # it has ended, however that happened, and nobody waits for us
            os._exit(1)
        return 0 <= byte <= container.read

    with collector_off():
        reader = DocumentReader(container.name, container.blocks())
        reader.skip(lambda: reached(first))
        place = reader.place
        stopped = reader.events(lambda: reached(last))
        part = Part(place, reader.place if stopped else -1, reader.document(), container.damage)
        pickle.dump(part, sys.stdout.buffer, protocol=5)
        sys.stdout.buffer.flush()
    os._exit(0)  # nothing to tidy: freeing millions of names one by one takes longer than reading them
