"""Find the captures of a folder: which files are one, all ranks and windows of one label and run with their sidecars.

`capture_groups` says which. A file counts as a trace by its content; one that only its name calls a trace belongs to its
capture too, and holds it back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from traceview.capture.capture_groups import File, Group, Member, Place, grouped
from traceview.errors import InputError
from traceview.sources.choose import is_regular, is_surely_trace
from traceview.sources.conditions import SUFFIX, read_sidecar, sidecar_of
from traceview.sources.metadata import label_of

# what a name says besides its label
_PLACE = re.compile(r"((?:-(?:rank|tp|pp|dp|ep|cp|sp)\d+)*)-pid(\d+)-w(\d+)(-\d+)?$")
_NAMED = re.compile(r"-pid\d+-w\d+(?:-\d+)?\.pt\.trace\.json(?:\.gz)?$")  # by us
_MADE_UP = (
    "/proc",
    "/sys",
)  # what lies there is no file: the kernel makes it up, and may wait before it answers


@dataclass(frozen=True)
class Capture:
    """Hold the files of a capture, each sidecar before its trace; `label` and where it was recorded are its name.

    `unread` names files that belong to it by their names and are no traces by their content: they may not be deleted, and
    it must not be torn.
    """

    label: str
    files: tuple[File, ...]
    where: str = ""
    unread: tuple[str, ...] = ()

    @property
    def written(self) -> float:
        """Return when its newest file was written."""
        return max(f.written for f in self.files)

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(f.size for f in self.files)


def captures(folder: Path) -> list[Capture]:
    """Return the captures below a folder, the newest first; no link is followed."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "name the folder of the traces")
    members = sorted(_members(folder), key=lambda m: (m.trace.written, m.trace.path))
    found = [_capture(g) for g in grouped(members) if any(m.readable for m in g)]
    return sorted(found, key=lambda c: (-c.written, c.label, c.where))


def _members(folder: Path) -> Iterator[Member]:
    for path in _files(folder):
        with suppress(OSError):  # a writer or another prune may have taken it away
            readable = is_surely_trace(path)
            if readable or _NAMED.search(path.name):
                yield _member(seen(path), readable)


def _files(folder: Path) -> Iterator[Path]:
    """Yield regular files, none of them hidden or a sidecar."""
    strange = {Path(p).stat().st_dev for p in _MADE_UP if os.path.ismount(p)}
    for root, folders, names in os.walk(folder, followlinks=False):
        if _device(root) in strange:
            folders.clear()
            continue
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = Path(root, name)
            if not name.startswith(".") and not name.endswith(SUFFIX) and is_regular(path, least=0):
                yield path


def _device(folder: str) -> int | None:
    with suppress(OSError):
        return os.lstat(folder).st_dev
    return None


def seen(path: Path) -> File:
    """Return a file as it is now."""
    status = path.lstat()
    return File(path, status.st_size, status.st_mtime)


def _member(trace: File, readable: bool) -> Member:
    name = label_of(trace.path.name)
    found = _PLACE.search(name)
    place = Place(found[1], found[2], found[3], found[4] or "") if found else None
    beside = sidecar_of(trace.path)
    told = None if beside.is_symlink() else read_sidecar(beside)
    run, world = (told or {}).get("run"), (told or {}).get("world_size")
    return Member(
        trace, readable, None if told is None else seen(beside),
        run if isinstance(run, str) else "", world if isinstance(world, int) else None,
        name[: found.start()] if found else name, place,
    )  # fmt: skip


def _capture(group: Group) -> Capture:
    ordered = sorted(group, key=lambda m: m.trace.path)
    files: dict[Path, File] = {}  # NAME.json and NAME.json.gz have one sidecar
    for member in (m for m in ordered if m.readable):
        for file in (member.sidecar, member.trace):
            if file is not None:
                files.setdefault(file.path, file)
    unread = tuple(m.trace.path.name for m in ordered if not m.readable)
    return Capture(ordered[0].label, tuple(files.values()), _where(ordered), unread)


def _where(group: Group) -> str:
    """Say ranks, processes and windows as names do, each from its first to its last: -rank0..3-pid70..73-w0..1."""
    numbers: dict[str, list[int]] = {}
    for ranks, pid, window, _ in (m.place for m in group if m.place):
        for kind, number in re.findall(r"-([a-z]+)(\d+)", f"{ranks}-pid{pid}-w{window}"):
            numbers.setdefault(kind, []).append(int(number))
    last = {m.place[3] for m in group if m.place}
    spans = (f"-{k}{min(n)}" + (f"..{max(n)}" if min(n) != max(n) else "") for k, n in numbers.items())
    return "".join(spans) + (last.pop() if len(last) == 1 else "")
