"""Find the captures of a folder: which files are one, all ranks and windows of one label and run with their sidecars.

Files with a sidecar tell their run. Ranks that one shell started tell the shell, which may have started them several
times: there a rank that comes again as another process is another launch. A trace whose sidecar is missing or broken
joins the capture of its folder, label and time that lacks it. Of other traces those belong together that lie in one
folder, differ in the digits of their names only, and were written within two minutes of each other.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from traceview.errors import InputError
from traceview.sources.choose import TOGETHER_S, is_trace
from traceview.sources.conditions import LARGEST, SCHEMA, SUFFIX
from traceview.sources.metadata import label_of

# what a name says besides its label
_PLACE = re.compile(r"((?:-(?:rank|tp|pp|dp|ep|cp|sp)\d+)*)-pid(\d+)-w(\d+)(-\d+)?$")
_SHELL = "parent-"  # begins what a run is called of which only the process that started it is known


class File(NamedTuple):
    """Hold a file as it was when it was listed."""

    path: Path
    size: int
    written: float


@dataclass(frozen=True)
class Capture:
    """Hold the files of a capture, each sidecar before its trace; `label` and where it was recorded are its name."""

    label: str
    files: tuple[File, ...]
    where: str = ""

    @property
    def written(self) -> float:
        """Return when its newest file was written."""
        return max(f.written for f in self.files)

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(f.size for f in self.files)


class _Member(NamedTuple):
    """Hold a trace with its sidecar, and what its name says: label, ranks, process, window, number."""

    trace: File
    sidecar: File | None
    run: str
    label: str
    place: tuple[str, str, str, str] | None

    @property
    def home(self) -> tuple[Path, str]:
        return self.trace.path.parent, self.label

    @property
    def ranks(self) -> str:
        return self.place[0] if self.place else ""

    @property
    def process(self) -> tuple[str, str]:
        return self.place[:2] if self.place else ("", "")


_Group = list[_Member]


def captures(folder: Path) -> list[Capture]:
    """Return the captures below a folder, the newest first; no link is followed."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "name the folder of the traces")
    members = sorted((_member(t) for t in _traces(folder)), key=lambda m: (m.trace.written, m.trace.path))
    runs: dict[tuple[Path, str, str], _Group] = {}
    for member in members:
        if member.sidecar is not None:
            runs.setdefault((*member.home, member.run), []).append(member)
    groups = [
        g for key, run in runs.items() for g in (_launches(run) if key[2].startswith(_SHELL) else [run])
    ]
    alone = [m for m in members if m.sidecar is None and not _joined(m, groups)]
    found = [_capture(g) for g in (*groups, *_alike(alone))]
    return sorted(found, key=lambda c: (-c.written, c.label, c.where))


def _traces(folder: Path) -> Iterator[File]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = Path(root, name)
            if name.startswith(".") or name.endswith(SUFFIX) or path.is_symlink():
                continue
            with suppress(OSError):  # a writer or another prune may have taken it away
                if path.is_file() and is_trace(path):
                    yield seen(path)


def seen(path: Path) -> File:
    """Return a file as it is now."""
    status = path.lstat()
    return File(path, status.st_size, status.st_mtime)


def _member(trace: File) -> _Member:
    name, told = label_of(trace.path.name), _sidecar(trace.path)
    found = _PLACE.search(name)
    sidecar, run = told or (None, "")
    place = (found[1], found[2], found[3], found[4] or "") if found else None
    return _Member(trace, sidecar, run, name[: found.start()] if found else name, place)


def _sidecar(trace: Path) -> tuple[File, str] | None:
    """Return the sidecar of a trace and the run that it tells."""
    path = trace.with_name(label_of(trace.name) + SUFFIX)
    with suppress(OSError, ValueError, RecursionError):
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        document = json.loads(path.read_bytes())
        if isinstance(document, dict) and document.get("schema") == SCHEMA:
            return seen(path), str(document.get("run"))
    return None


def _launches(run: _Group) -> list[_Group]:
    """Return what one shell started, launch by launch."""
    groups: list[_Group] = []
    for member in run:
        own = next((g for g in groups if any(m.process == member.process for m in g)), None)
        if own is None:
            own = next((g for g in reversed(groups) if all(m.ranks != member.ranks for m in g)), None)
        if own is None:
            groups.append(own := [])
        own.append(member)
    return groups


def _joined(member: _Member, groups: Iterable[_Group]) -> bool:
    """Put a trace without a sidecar into the capture that it is of: the nearest in time of those that lack it."""
    if member.place is None:
        return False
    near = []
    for place, group in enumerate(groups):
        same = [m for m in group if m.ranks == member.ranks]
        fits = not same or any(m.process == member.process for m in same)
        apart = _apart(member, group)
        if group[0].home == member.home and fits and apart <= TOGETHER_S:
            near.append((apart, place, group))
    if near:
        min(near)[2].append(member)
    return bool(near)


def _apart(member: _Member, group: _Group) -> float:
    """Return the seconds between a trace and the time in which a capture was written; 0 within it."""
    begin, end = (pick(m.trace.written for m in group) for pick in (min, max))
    return max(0.0, begin - member.trace.written, member.trace.written - end)


def _alike(members: Sequence[_Member]) -> Iterator[_Group]:
    """Yield traces, in the order in which they were written, whose names are alike and one followed soon on the other."""
    names: dict[tuple[Path, str], _Group] = {}
    for member in members:
        path = member.trace.path
        names.setdefault((path.parent, re.sub(r"\d+", "#", path.name)), []).append(member)
    for ordered in names.values():
        group = ordered[:1]
        for member in ordered[1:]:
            if member.trace.written - group[-1].trace.written > TOGETHER_S:
                yield group
                group = []
            group.append(member)
        yield group


def _capture(group: _Group) -> Capture:
    ordered = sorted(group, key=lambda m: m.trace.path)
    files = tuple(f for m in ordered for f in (m.sidecar, m.trace) if f is not None)
    return Capture(ordered[0].label, files, _where(ordered))


def _where(group: _Group) -> str:
    """Say ranks, processes and windows as names do, each from its first to its last: -rank0..3-pid70..73-w0..1."""
    numbers: dict[str, list[int]] = {}
    for ranks, pid, window, _ in (m.place for m in group if m.place):
        for kind, number in re.findall(r"-([a-z]+)(\d+)", f"{ranks}-pid{pid}-w{window}"):
            numbers.setdefault(kind, []).append(int(number))
    last = {m.place[3] for m in group if m.place}
    spans = (f"-{k}{min(n)}" + (f"..{max(n)}" if min(n) != max(n) else "") for k, n in numbers.items())
    return "".join(spans) + (last.pop() if len(last) == 1 else "")
