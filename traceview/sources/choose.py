"""Choose the trace that a directory stands for: its newest capture, the lowest rank of a set.

The content decides what a trace is, so reports, sidecars, summaries and half-written files are
passed over. Ranks of one capture are files of one folder whose names differ in digits only and
that were written within two minutes.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from traceview.errors import InputError, UsageError
from traceview.sources.container import Container
from traceview.sources.document import find_list
from traceview.sources.repair import repair

PROBE = 1 << 18  # bytes of text within which a trace must show its event list
DEPTH = 6
TOGETHER_S = 120.0
_RANKS = re.compile(r"(?:rank|worker|node|tp|pp|dp|ep|cp)[-_]?(\d+)", re.IGNORECASE)
_BEGINS = (b"", b"{", b"[")  # of a trace's text, and of white space that may come before
_PHASES = frozenset("BEXiICbneSTpFstfPNODMVvRc()")  # of Chrome traces
_FIRST = 16  # events that must be events of a trace
# keys beside an event list that profilers write
_OURS = frozenset(
    {
        "schemaVersion",
        "deviceProperties",
        "distributedInfo",
        "displayTimeUnit",
        "traceName",
        "baseTimeNanoseconds",
    }
)
_BETWEEN = frozenset(", \t\r\n")
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_UNFINISHED = (".tmp", ".part", ".partial", ".crdownload")


class Choice(NamedTuple):
    """Return the chosen file, and why in one sentence ("" when the user named the file)."""

    path: Path
    reason: str


class _Candidate(NamedTuple):
    path: Path
    written: float
    ranks: tuple[int, ...]


def choose_trace(given: str | Path | None) -> Choice:
    """Return the trace file that the given path stands for.

    A file stands for itself, "-" for standard input, a directory for its newest capture, nothing
    for $PROFILER_OUTPUT_DIR. Raises UsageError where there is nothing to look at, InputError where
    a directory holds no trace.
    """
    if given is None:
        given = os.environ.get("PROFILER_OUTPUT_DIR")
        if not given:
            raise UsageError(
                "no trace was named", "name a trace file or a directory, or set PROFILER_OUTPUT_DIR"
            )
    path = Path(given)
    if str(given) == "-" or not path.is_dir():
        return Choice(path, "")
    found = [c for c in _files(path) if is_trace(c.path)]
    if not found:
        raise InputError(
            f"{path.name or path}: no Chrome trace in this directory",
            "name the directory that the profiler wrote to",
        )
    newest = max(found, key=lambda c: (c.written, c.path.name))
    group = [c for c in found if _same_capture(c, newest)]
    ranked = (
        [(c.ranks or _rank_inside(c.path), c) for c in group] if len(group) > 1 else [(newest.ranks, newest)]
    )
    lowest = min(ranks for ranks, _ in ranked)
    chosen = max((c for ranks, c in ranked if ranks == lowest), key=lambda c: (c.written, c.path.name))
    return Choice(chosen.path, _reason(path, chosen, lowest, len(found), ranked))


def _reason(
    folder: Path,
    chosen: _Candidate,
    lowest: tuple[int, ...],
    count: int,
    ranked: list[tuple[tuple[int, ...], _Candidate]],
) -> str:
    shown = chosen.path.relative_to(folder)
    several = len({ranks for ranks, _ in ranked})
    rank = f", lowest rank ({'.'.join(map(str, lowest))}) of {several}" if several > 1 else ""
    if count == 1:
        return f"chose {shown}: the only trace there"
    return f"chose {shown}: the newest capture of {count} traces there{rank}"


def _files(folder: Path) -> Iterator[_Candidate]:
    """Yield regular files under a folder, never through a link to a directory."""
    for root, folders, names in os.walk(folder):
        if len(Path(root).relative_to(folder).parts) >= DEPTH:
            folders.clear()
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = Path(root, name)
            if name.startswith(".") or name.lower().endswith(_UNFINISHED):
                continue
            try:
                if path.is_file():
                    yield _Candidate(path, path.stat().st_mtime, tuple(map(int, _RANKS.findall(name))))
            except OSError:
                continue


def _same_capture(one: _Candidate, newest: _Candidate) -> bool:
    return (
        one.path.parent == newest.path.parent
        and newest.written - one.written <= TOGETHER_S
        and re.sub(r"\d+", "#", one.path.name) == re.sub(r"\d+", "#", newest.path.name)
    )


def _opening(path: Path) -> tuple[bytes, bool]:
    """Return the beginning of a file's text, and whether the file could be opened as one."""
    try:
        container = Container(path)
    except InputError:
        return b"", False
    text = b""
    try:
        for block in container.blocks():
            text += block
            if len(text) >= PROBE or text.lstrip()[:1] not in _BEGINS:
                break
    except InputError:
        return b"", False
    finally:
        container.close()
    return text, True


def is_trace(path: Path) -> bool:
    """Tell by its content whether a file is a Chrome trace."""
    text, readable = _opening(path)
    if not readable:
        return False
    if text.lstrip()[:1] not in _BEGINS[1:]:  # a script that holds a trace is none
        return False
    opening = find_list(text)
    if opening is None:
        return False
    if opening.head is not None:
        return True
    return (
        re.match(rb'\s*\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id)"\s*:', text[opening.start :]) is not None
    )


def is_surely_trace(path: Path) -> bool:
    """Tell whether the first events of a regular file are those of a trace: lists of other records begin alike.

    For what a trace is deleted as: damage that `is_trace` bears with may end in False here. Never waits.
    """
    if not is_regular(path):
        return False
    text, readable = _opening(path)
    if not readable or text.lstrip()[:1] not in _BEGINS[1:]:
        return False
    opening = find_list(text)
    if opening is None:
        return False
    rest = text[opening.start :]
    events, ended = _first_events(rest)
    if not events and not ended:  # Windows paths in the first event
        events, ended = _first_events(repair(rest)[0])
    if not events:
        return ended and not _OURS.isdisjoint(opening.head or {})
    return all(map(_is_event, events))


def is_regular(path: Path, least: int = 1) -> bool:
    """Tell whether a path is a regular file of so many bytes, and no link; what the kernel makes up on reading has none."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size >= least


def _first_events(rest: bytes) -> tuple[list[Any], bool]:
    """Return the first events of a list, as far as they are JSON, and whether the list ends with them."""
    decoder, place = json.JSONDecoder(strict=False), 0
    text = rest.decode("utf-8", "replace")
    found: list[Any] = []
    while len(found) < _FIRST:
        while text[place : place + 1] in _BETWEEN:
            place += 1
        if text[place : place + 1] == "]":
            return found, True
        try:
            event, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        if event != {}:  # some writers end their lists with one
            found.append(event)
    return found, False


def _is_event(event: Any) -> bool:
    if not isinstance(event, dict) or not isinstance(phase := event.get("ph"), str) or phase not in _PHASES:
        return False
    time = event.get("ts")
    named = isinstance(event.get("name", ""), str)
    return named and (phase == "M" or _NUMBER.fullmatch(str(time)) is not None)


def is_whole_trace(path: Path) -> bool:
    """Tell whether a file is a Chrome trace with its end: one that is still being written is not."""
    if not is_trace(path):
        return False
    end = b""
    try:
        container = Container(path)
    except InputError:
        return False
    try:
        for block in container.blocks():
            end = (end + block)[-PROBE:]
    except InputError:
        return False
    finally:
        container.close()
    return not container.damage.cut and end.rstrip().endswith((b"}", b"]"))


def _rank_inside(path: Path) -> tuple[int, ...]:
    opening = find_list(_opening(path)[0])
    found = (opening.head or {}).get("distributedInfo") if opening else None
    rank = found.get("rank") if isinstance(found, dict) else None
    return (rank,) if isinstance(rank, int) else ()
