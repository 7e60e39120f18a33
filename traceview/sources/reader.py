"""Stream a document into columns: blocks of text, cut between events, decoded, mended where needed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from traceview.errors import InputError
from traceview.sources.collector import Collector
from traceview.sources.document import HEAD_LIMIT, TAIL_LIMIT, find_list, read_tail, refuse
from traceview.sources.raw import Raw, join
from traceview.sources.salvage import CUT, PATIENCE, DamageLog, Salvage
from traceview.sources.schema import UNDECODABLE

_SEPARATORS = b" \t\r\n,"
_LOOK_BACK = 1 << 10
_WALK = 1 << 18  # bytes walked back for a boundary: a text of nothing but braces is not walked for each block
_WINDOW = 1 << 20  # text kept while skipping: longer than any event


@dataclass
class Document:
    """Hold everything read from one file, before any dialect: columns, metadata, damage."""

    raw: Raw
    metadata: dict[str, Any]
    log: DamageLog = field(default_factory=DamageLog)
    array_form: bool = False


def read_document(
    name: str, blocks: Iterable[bytes], progress: Callable[[int], None] | None = None
) -> Document:
    """Read the blocks of text of a document; raise InputError when they hold no event list."""
    with collector_off():
        reader = DocumentReader(name, blocks, progress)
        reader.open_list()
        reader.events()
        return reader.document()


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep Python's cyclic collector out of the way: parsing makes many objects and no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def last_cut(text: bytes) -> int:
    """Return the end of the last event that another one follows, -1 when there is none."""
    at, low = len(text), max(0, len(text) - _WALK)
    while (at := text.rfind(b"{", low, at)) > 0:
        before = text[max(0, at - _LOOK_BACK) : at].rstrip(_SEPARATORS)
        if before.endswith(b"}"):
            return max(0, at - _LOOK_BACK) + len(before)
    return -1


class DocumentReader:
    """Read a document from blocks of text: `open_list`, then `events`, then `document`.

    A document can be read in parts by several processes: each begins with `skip` instead of
    `open_list`, and stops after a given block, in both cases at the last event boundary so far. The
    parts fit when each begins at the byte where the one before it stopped.
    """

    def __init__(
        self, name: str, blocks: Iterable[bytes], progress: Callable[[int], None] | None = None
    ) -> None:
        self._name, self._blocks = name, iter(blocks)
        self._progress = progress or (lambda _: None)
        self._collector, self._log = Collector(), DamageLog()
        self._salvage = Salvage(self._collector, self._log)
        self._text = b""
        self._metadata: dict[str, Any] = {}
        self._array_form = False
        self.place = 0  # the byte of the document at which the unread text begins

    def open_list(self) -> None:
        """Read up to the event list; raise InputError when there is none."""
        searched, head = 0, bytearray()
        opening = None
        while not opening and searched < HEAD_LIMIT and (block := next(self._blocks, None)) is not None:
            head += block
            # look again only when the text has doubled: a head may grow by many small blocks
            if len(head) >= min(2 * searched, HEAD_LIMIT):
                opening = find_list(bytes(head))
                searched = len(head)
        self._text = bytes(head)
        opening = opening or find_list(self._text)
        if not opening:
            raise refuse(self._name, self._text)
        if opening.damaged:
            self._log.add("json_repaired", 0)
        self._metadata, self._array_form = opening.head or {}, opening.head is None
        self._drop_text(opening.start)

    def skip(self, reached: Callable[[], bool]) -> None:
        """Pass over blocks until `reached`, then to the last event boundary."""
        self._more()
        self._array_form = self._text.lstrip().startswith(b"[")
        while not reached() and self._more():
            if len(self._text) > _WINDOW:
                self._drop_text(len(self._text) - _WINDOW)
        self._drop_text(max(0, last_cut(self._text)))

    def events(self, stop: Callable[[], bool] | None = None) -> bool:
        """Read events up to the end of the document, or to the boundary after which `stop` holds.

        Returns whether it stopped before the end.
        """
        while True:
            cut = last_cut(self._text)
            if cut <= 0 and len(self._text) > PATIENCE:
                cut = len(self._text)  # an event that never ends: salvage gives it up, text does not pile up
            if cut > 0:
                whole, ended = self._piece(cut)
                if ended:
                    self._tail()
                    return False
                if whole and stop and stop():
                    return True
            if not self._more():
                break
        outcome = self._salvage.run(self._text, self.place, True)
        self._drop_text(len(self._text) - len(outcome.rest))
        if outcome.ended:
            self._tail()
        elif not self._array_form and not self._log.counts[CUT]:
            self._log.add(CUT, self.place)
        return False

    def document(self) -> Document:
        """Return everything read."""
        return Document(self._collector.finish(), self._metadata, self._log, self._array_form)

    def _more(self) -> bool:
        block = next(self._blocks, None)
        if block is None:
            return False
        self._text += block
        self._progress(self._collector.events_read)
        return True

    def _drop_text(self, count: int) -> None:
        self._text = self._text[count:]
        self.place += count

    def _piece(self, cut: int) -> tuple[bool, bool]:
        """Read the text up to `cut`, an event boundary; return whether all of it was read, and the list's end seen."""
        text, start = self._text, 0
        while start < cut and text[start] in _SEPARATORS:
            start += 1
        try:
            # one copy: this is the path of every byte of every trace
            self._collector.add(b"".join((b"[", memoryview(text)[start:cut], b"]")))
        except UNDECODABLE:
            outcome = self._salvage.run(text[:cut], self.place, False)
            self._text = outcome.rest + text[cut:]
            self.place += cut - len(outcome.rest)
            return not outcome.rest, outcome.ended
        self._drop_text(cut)
        return True, False

    def _tail(self) -> None:
        parts, size = [self._text], len(self._text)
        for block in self._blocks:
            if size < TAIL_LIMIT:
                parts.append(block)
                size += len(block)
        if size >= TAIL_LIMIT:  # more than metadata ever is: not read, and not called damaged
            return
        closing = read_tail(b"".join(parts), self._array_form)
        if closing.cut:
            self._log.add(CUT, self.place + size)
        if closing.damaged:
            self._log.add("json_repaired", self.place)
        if closing.trailing >= 0:
            self._log.add("trailing_data", self.place + closing.trailing)
        self._metadata = {**self._metadata, **closing.tail}


def join_documents(first: Document, second: Document) -> Document:
    """Return the document of two parts that follow each other, consuming both."""
    first.log.merge(second.log)
    metadata = {**first.metadata, **second.metadata}
    return Document(join(first.raw, second.raw), metadata, first.log, first.array_form)


def check_used(name: str, document: Document) -> None:
    """Raise InputError when the document holds no event that can be used."""
    raw = document.raw
    if raw.used:
        return
    if not raw.events_read:
        raise InputError(
            f"{name}: its event list is empty",
            "profile at least one step, and stop the profiler before exporting",
        )
    reasons = ", ".join(f"{count} {reason}" for reason, count in raw.ignored.most_common(3))
    raise InputError(
        f"{name}: no event in it can be used ({reasons})",
        "traceview reads Chrome trace events with a phase (ph) and a time (ts)",
    )
