"""Say what a reader had to mend, skip or doubt: notices with codes, and the account of all events."""

from __future__ import annotations

from typing import NamedTuple

from traceview.events import Account, Notice
from traceview.sources.reader import Document


class Facts(NamedTuple):
    """Count what assembling found."""

    untimed_kernels: int
    duplicates: int
    negative: int
    dropped_device: int
    open_ranges: int
    unmatched_ends: int


_MENDED = {
    "json_repaired": "invalid JSON was repaired {n} times (backslashes, commas, control characters, bare words)",
    "encoding_repaired": "{n} runs of bytes that are no UTF-8 were replaced by U+FFFD",
    "nonfinite_number": "{n} values nan or inf were taken as missing",
    "truncated_input": "the file is cut: this is the part up to the cut",
    "trailing_data": "bytes follow the document and were not read: did two processes write one file?",
}
_SILENT = frozenset({"empty object", "phase not drawn (async, object, clock)"})
_COUNTED_ELSEWHERE = frozenset(
    {"begin without an end", "end without a begin", "negative duration", "cut in mid-event"}
)


def account(document: Document, facts: Facts) -> Account:
    """Account for every event read."""
    raw, log = document.raw, document.log
    mended = {
        c: n for c, n in log.counts.items() if c in _MENDED and c not in ("truncated_input", "trailing_data")
    }
    ignored = {reason: n for reason, n in raw.ignored.most_common() if n}
    return Account(raw.events_read, raw.used, ignored, mended, facts.dropped_device)


def notices(document: Document, facts: Facts) -> tuple[Notice, ...]:
    """Return what a reader of the numbers must know about the data."""
    raw, log = document.raw, document.log
    found = []
    for code, text in _MENDED.items():
        if log.counts[code]:
            detail = log.details.get(code)
            message = f"{text.format(n=log.counts[code])}{f' ({detail})' if detail else ''}"
            found.append(Notice(code, "warning", log.counts[code], message, _place(log.places.get(code))))
    dropped = {r: n for r, n in raw.ignored.items() if n and r not in _SILENT | _COUNTED_ELSEWHERE}
    if dropped:
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(dropped.items(), key=lambda x: -x[1]))
        found.append(
            _warning(
                "dropped_event",
                sum(dropped.values()),
                f"events were left out: {reasons}",
                log.places.get("dropped_event"),
            )
        )
    if facts.untimed_kernels:
        found.append(
            _warning(
                "zero_timestamp",
                facts.untimed_kernels,
                f"{facts.untimed_kernels} device records without a valid time (ts = dur = 0): counted, kept out of all times",
            )
        )
    if facts.negative:
        found.append(
            _warning(
                "negative_duration",
                facts.negative,
                f"{facts.negative} events with a negative duration (unfinished?) were left out",
            )
        )
    if facts.open_ranges or facts.unmatched_ends:
        count = facts.open_ranges + facts.unmatched_ends
        found.append(
            _warning(
                "unmatched_begin_end",
                count,
                f"{facts.open_ranges} ranges never end, {facts.unmatched_ends} ends have no beginning: left out",
            )
        )
    if facts.duplicates:
        found.append(
            _warning(
                "duplicate_records",
                facts.duplicates,
                f"{facts.duplicates} device records repeat another one (same id, stream, start and length): counted once",
            )
        )
    return tuple(found)


def _warning(code: str, count: int, message: str, place: int | None = None) -> Notice:
    return Notice(code, "warning", count, message, _place(place))


def _place(byte: int | None) -> str | None:
    return None if byte is None else f"byte {byte} of the text"
