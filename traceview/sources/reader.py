"""Stream a document into columns: blocks of text, cut between events, decoded, mended where needed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from traceview.errors import InputError
from traceview.sources.collector import Collector, Raw
from traceview.sources.document import HEAD_LIMIT, TAIL_LIMIT, find_list, read_tail, refuse
from traceview.sources.salvage import CUT, DamageLog, Salvage

_SEPARATORS = b" \t\r\n,"
_LOOK_BACK = 1 << 10


@dataclass
class Document:
    """Hold everything read from one file, before any dialect: columns, metadata, damage."""

    raw: Raw
    metadata: dict[str, Any]
    log: DamageLog = field(default_factory=DamageLog)
    array_form: bool = False


def read_document(name: str, blocks: Iterable[bytes], progress: Callable[[int], None] | None = None) -> Document:
    """Read the blocks of text of a document; raise InputError when they hold no event list."""
    with collector_off():
        return _Reader(name, iter(blocks), progress).read()


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
    at = len(text)
    while (at := text.rfind(b"{", 0, at)) > 0:
        before = text[max(0, at - _LOOK_BACK) : at].rstrip(_SEPARATORS)
        if before.endswith(b"}"):
            return max(0, at - _LOOK_BACK) + len(before)
    return -1


class _Reader:
    def __init__(self, name: str, blocks: Iterator[bytes], progress: Callable[[int], None] | None) -> None:
        self._name, self._blocks = name, blocks
        self._progress = progress or (lambda _: None)
        self._collector, self._log = Collector(), DamageLog()
        self._salvage = Salvage(self._collector, self._log)
        self._text = b""
        self._base = 0  # the byte of the document at which _text begins

    def read(self) -> Document:
        metadata, array_form = self._head()
        ended = self._events()
        tail: dict[str, Any] = {}
        if ended:
            tail = self._tail(array_form)
        elif not array_form and not self._log.counts[CUT]:
            self._log.add(CUT, self._base)
        raw = self._collector.finish()
        return Document(raw, {**metadata, **tail}, self._log, array_form)

    def _more(self) -> bool:
        block = next(self._blocks, None)
        if block is None:
            return False
        self._text += block
        self._progress(self._collector.events_read)
        return True

    def _head(self) -> tuple[dict[str, Any], bool]:
        searched = 0
        while self._more():
            # look again only when the text has doubled: a head grows by many small blocks
            if len(self._text) < 2 * searched and len(self._text) < HEAD_LIMIT:
                continue
            opening = find_list(self._text)
            searched = len(self._text)
            if opening or searched >= HEAD_LIMIT:
                break
        else:
            opening = find_list(self._text)
        if not opening:
            raise refuse(self._name, self._text)
        if opening.damaged:
            self._log.add("json_repaired", 0)
        self._drop_text(opening.start)
        return opening.head or {}, opening.head is None

    def _drop_text(self, count: int) -> None:
        self._text = self._text[count:]
        self._base += count

    def _events(self) -> bool:
        """Read the event list; return whether its end was seen."""
        while True:
            cut = last_cut(self._text)
            if cut > 0:
                piece = self._text[:cut]
                if self._piece(piece):
                    return True
                continue_with = self._more()
            else:
                continue_with = self._more()
            if not continue_with:
                break
        outcome = self._salvage.run(self._text, self._base, True)
        self._drop_text(len(self._text) - len(outcome.rest))
        return outcome.ended

    def _piece(self, piece: bytes) -> bool:
        try:
            self._collector.add(b"[" + piece.lstrip(_SEPARATORS) + b"]")
        except msgspec.MsgspecError:
            outcome = self._salvage.run(piece, self._base, False)
            if outcome.ended:
                self._text = outcome.rest + self._text[len(piece) :]
                self._base += len(piece) - len(outcome.rest)
                return True
            self._text = outcome.rest + self._text[len(piece) :]
            self._base += len(piece) - len(outcome.rest)
            return False
        self._drop_text(len(piece))
        return False

    def _tail(self, array_form: bool) -> dict[str, Any]:
        parts, size = [self._text], len(self._text)
        for block in self._blocks:
            if size < TAIL_LIMIT:
                parts.append(block)
                size += len(block)
        closing = read_tail(b"".join(parts), array_form)
        if closing.cut:
            self._log.add(CUT, self._base + size)
        if closing.damaged:
            self._log.add("json_repaired", self._base)
        if closing.trailing >= 0:
            self._log.add("trailing_data", self._base + closing.trailing)
        return closing.tail


def check_used(name: str, document: Document) -> None:
    """Raise InputError when the document holds no event that can be used."""
    raw = document.raw
    if raw.used:
        return
    if not raw.events_read:
        raise InputError(f"{name}: its event list is empty", "profile at least one step, and stop the profiler before exporting")
    reasons = ", ".join(f"{count} {reason}" for reason, count in raw.ignored.most_common(3))
    raise InputError(f"{name}: no event in it can be used ({reasons})", "traceview reads Chrome trace events with a phase (ph) and a time (ts)")
