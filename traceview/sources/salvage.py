"""Read a stretch of the event list that does not parse: keep every good event, count the rest.

The decoder says at which byte it stopped. Everything up to the last event boundary before that byte
is kept at full speed, the one event at the stop is repaired or skipped, and decoding goes on after
it. So a damaged event costs little, and never the file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from traceview.sources.collector import Collector
from traceview.sources.repair import repair, repair_encoding
from traceview.sources.schema import UNDECODABLE, Event

_SEPARATORS = b" \t\r\n,"
_STOP = re.compile(r"\(byte (\d+)\)")
_BOUNDARY = re.compile(rb"\}\s*,?\s*(?=\{)")
_END = re.compile(rb"\}(?=\s*(?:[,\]{]|\Z))")
_EVENT = re.compile(rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|s|bp|tts|tdur|cname|sf|scope)"\s*:')
_SCALAR = re.compile(rb'(?:null|true|false|-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*")(?=\s*(?:,|\]|\Z))')
_LOOKAHEAD = 3  # event-looking starts after which a broken event is given up
PATIENCE = 1 << 23  # bytes of an event that never ends, after which it is given up
_STEPS_BACK = 16
_SHORTEST = 1 << 12  # bytes tried at once after damage
_LONGEST_REPAIR = 1 << 20  # bytes of an event that is worth mending

CUT, DROPPED, NOT_OBJECT = "truncated_input", "unreadable event", "not an object"


@dataclass
class DamageLog:
    """Count what was mended or lost by warning code, with the byte of the first place."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, int] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)

    def merge(self, other: DamageLog) -> None:
        """Add what another log of the same document holds."""
        self.counts += other.counts
        for code, place in other.places.items():
            self.places[code] = min(place, self.places.get(code, place))
        self.details.update(other.details)

    def note(self, code: str, detail: str) -> None:
        """Record what the container saw, as one place of the code, with words of its own."""
        if detail:
            self.counts[code] = max(1, self.counts[code])
            self.details[code] = detail

    def add(self, code: str, place: int, count: int = 1) -> None:
        """Record `count` places of a code, the first at byte `place` of the text."""
        if count:
            self.counts[code] += count
            self.places[code] = min(place, self.places.get(code, place))


class Outcome(NamedTuple):
    """Return what salvage left: the unread rest, and whether the list ended before it."""

    rest: bytes
    ended: bool


_decode_event = msgspec.json.Decoder(Event).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Salvage:
    """Read one stretch of text event by event into a collector, logging the damage."""

    def __init__(self, collector: Collector, log: DamageLog) -> None:
        self._collector = collector
        self._log = log
        self._text, self._base, self._final = b"", 0, False
        self._stretch = _SHORTEST
        self._giant = False  # inside an event that never ends, already counted

    def run(self, text: bytes, base: int, final: bool) -> Outcome:
        """Read the text, which begins at byte `base` of the document.

        Unless `final`, an incomplete event at the end is returned as rest, to wait for more text.
        """
        self._text, self._base, self._final = text, base, final
        self._stretch = max(_SHORTEST, len(text))
        pos = 0
        while True:
            pos = self._skip_separators(pos)
            if pos >= len(self._text):
                return Outcome(b"", False)
            if self._text[pos : pos + 1] == b"]":
                return Outcome(self._text[pos + 1 :], True)
            if self._text[pos : pos + 1] == b"{":
                pos = self._fast(pos)
                if pos >= len(self._text) or self._text[pos : pos + 1] != b"{":
                    continue
            after = self._one(pos)
            if after < 0:
                return Outcome(self._text[pos:], False)
            pos = after

    def _skip_separators(self, pos: int) -> int:
        text = self._text
        while pos < len(text) and text[pos] in _SEPARATORS:
            pos += 1
        return pos

    def _fast(self, pos: int) -> int:
        """Keep as many whole events as decode at once from here; return where that stops.

        The stretch tried grows while all goes well and shrinks after damage, so that a text full of
        damage is not copied again for each place.
        """
        end = len(self._text)
        if pos + self._stretch < end:
            end = self._last_boundary(pos, pos + self._stretch)
            end = end if end > pos else len(self._text)
        for _ in range(_STEPS_BACK):
            try:
                self._collector.add(b"[" + self._text[pos:end].rstrip(_SEPARATORS) + b"]")
                self._stretch *= 4
                return self._skip_separators(end)
            except (msgspec.ValidationError, OverflowError):
                if self._items(pos, end):
                    return self._skip_separators(end)
                return pos
            except (msgspec.DecodeError, RecursionError) as error:
                stop = _STOP.search(str(error))
                if stop:
                    limit = min(pos + int(stop[1]) - 1, end)
                elif "UTF-8" in str(error):
                    self._mend_encoding(pos, end)
                    end = len(self._text)
                    continue
                else:
                    limit = end
                self._stretch = _SHORTEST
                end = self._last_boundary(pos, limit)
                if end <= pos:
                    return pos
        return pos

    def _last_boundary(self, pos: int, limit: int) -> int:
        """Return the start of the last event that begins before `limit` after another one."""
        at = limit
        while (at := self._text.rfind(b"{", pos, at)) > pos:
            before = self._text[max(pos, at - 64) : at].rstrip(_SEPARATORS)
            if before.endswith(b"}"):
                return at
        return pos

    def _mend_encoding(self, pos: int, end: int) -> None:
        counts: Counter[str] = Counter()
        mended = repair_encoding(self._text[pos:end], counts)
        for code, count in counts.items():
            self._log.add(code, self._base + pos, count)
        self._text = self._text[:pos] + mended + self._text[end:]

    def _items(self, pos: int, end: int) -> bool:
        """Keep the events of a stretch that is JSON but not all events; count what is no object."""
        try:
            items = _decode_items(b"[" + self._text[pos:end].rstrip(_SEPARATORS) + b"]")
        except UNDECODABLE:
            return False
        events = []
        for item in items:
            raw = bytes(item)
            pos = self._text.find(raw, pos)
            if not raw.startswith(b"{"):
                self._drop(NOT_OBJECT, pos)
            else:
                try:
                    events.append(_decode_event(raw))
                except UNDECODABLE:
                    self._drop(DROPPED, pos)
            pos += len(raw)
        self._collector.extend(events, b",".join(items))
        return True

    def _drop(self, reason: str, pos: int) -> None:
        self._collector.ignore(reason)
        self._log.add("dropped_event", self._base + pos)

    def _one(self, pos: int) -> int:
        """Read, repair or drop what stands here; return the position after it, -1 to wait for more."""
        if self._text[pos : pos + 1] != b"{":
            return self._not_an_event(pos)
        ends = self._candidates(pos)
        for end in ends:
            try:
                event = _decode_event(self._text[pos:end])
            except UNDECODABLE:
                continue
            self._collector.extend([event], self._text[pos:end])
            self._giant = False
            return end
        looked_ahead = len(ends) > 0 and self._event_starts(pos) >= _LOOKAHEAD
        waiting = not self._final and len(self._text) - pos < PATIENCE
        if waiting and not looked_ahead:
            return -1
        for end in ends:
            if end - pos > _LONGEST_REPAIR:
                break
            mended, counts = repair(self._text[pos:end])
            try:
                event = _decode_event(mended)
            except UNDECODABLE:
                continue
            self._collector.extend([event], mended)
            for code, count in counts.items():
                self._log.add(code, self._base + pos, count)
            return end
        return self._give_up(pos)

    def _candidates(self, pos: int) -> list[int]:
        """Return where the event may end, nearest first, up to the look-ahead."""
        ends: list[int] = []
        limit = len(self._text)
        starts = _EVENT.finditer(self._text, pos + 1)
        for i, start in enumerate(starts):
            if i == _LOOKAHEAD:
                limit = start.start()
                break
        for found in _END.finditer(self._text, pos):
            if found.start() >= limit or len(ends) == 64:
                break
            ends.append(found.end())
        return ends

    def _event_starts(self, pos: int) -> int:
        return sum(1 for _, _ in zip(_EVENT.finditer(self._text, pos + 1), range(_LOOKAHEAD), strict=False))

    def _give_up(self, pos: int) -> int:
        following = _EVENT.search(self._text, pos + 1)
        if following is None and self._final and not self._closed(pos):
            self._collector.ignore("cut in mid-event")
            self._log.add(CUT, self._base + pos)
            return len(self._text)
        self._drop(DROPPED, pos)
        self._giant = following is None
        if following is None:
            closing = re.compile(rb"\}\s*,?\s*\]").search(self._text, pos)
            return closing.end() - 1 if closing else len(self._text)
        return following.start()

    def _closed(self, pos: int) -> bool:
        return self._text.rstrip().endswith((b"}", b"]")) and _END.search(self._text, pos) is not None

    def _end_of_list(self, pos: int) -> int:
        """Return the end of the list that stands among the events, -1 when it is none."""
        end = pos
        for _ in range(_STEPS_BACK):
            end = self._text.find(b"]", end) + 1
            if not end:
                return -1
            try:
                _decode_items(self._text[pos:end])
            except UNDECODABLE:
                continue
            return end
        return -1

    def _not_an_event(self, pos: int) -> int:
        scalar = _SCALAR.match(self._text, pos)
        if scalar:
            if scalar.end() == len(self._text) and not self._final:
                return -1
            self._drop(NOT_OBJECT, pos)
            return scalar.end()
        if self._text[pos : pos + 1] == b"[":
            end = self._end_of_list(pos)
            if end > 0:
                self._drop(NOT_OBJECT, pos)
                return end
        following = _EVENT.search(self._text, pos)
        closing = self._text.find(b"]", pos)
        if following is None and closing < 0 and not self._final and len(self._text) - pos < PATIENCE:
            return -1
        if not self._giant:
            self._drop(DROPPED, pos)
        self._giant = following is None and closing < 0
        ends = [e for e in (following.start() if following else -1, closing) if e > pos]
        return min(ends) if ends else len(self._text)
