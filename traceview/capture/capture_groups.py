"""Tell which traces of a folder are one capture: all ranks and windows of one launch of one label.

Files with a sidecar tell their run, which may lie in several folders. Several launches may share it: a shell that starts
them one after the other, a job's step, a name that somebody gave; there a rank that comes again as another process is
another launch. A trace whose sidecar is missing or broken joins the capture of its folder and label that lacks it;
those that none lacks belong together by process, and by the two minutes in which their processes wrote first. Of
traces whose names are not ours those belong together that lie in one folder, differ in digits only, and followed soon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from traceview.capture.naming import SHELL
from traceview.sources.choose import TOGETHER_S

_SHARED = ("elastic-", "slurm-", SHELL)  # runs that several launches may share, one after the other
_DATED = re.compile(
    r"parent-\d+-."
)  # ... with the time at which that was started: the same in no other folder
_RANK = re.compile(r"-rank(\d+)")


class File(NamedTuple):
    """Hold a file as it was when it was listed."""

    path: Path
    size: int
    written: float


class Place(NamedTuple):
    """Hold what a name of ours says besides its label: -rank0-tp1, 123, 0, and "-2" of a name that was taken."""

    ranks: str
    process: str
    window: str
    number: str


class Member(NamedTuple):
    """Hold a trace, or what only its name calls one, with its sidecar and what both tell."""

    trace: File
    readable: bool
    sidecar: File | None
    run: str
    world: int | None
    label: str
    place: Place | None

    @property
    def home(self) -> tuple[Path, str]:
        """Return folder and label."""
        return self.trace.path.parent, self.label

    @property
    def ranks(self) -> str:
        """Return the ranks that its name tells."""
        return self.place.ranks if self.place else ""


Group = list[Member]


def grouped(members: Sequence[Member]) -> list[Group]:
    """Return captures, given traces in the order in which they were written."""
    runs: dict[tuple[object, ...], Group] = {}
    for member in members:
        if member.run:
            folder = member.home[0] if _is_of_a_folder(member.run) else None
            runs.setdefault((member.label, member.run, folder), []).append(member)
    groups = []
    for run in runs.values():
        groups += _launches(run, told=True) if run[0].run.startswith(_SHARED) else [run]
    groups = _machines(groups)
    alone: dict[tuple[Path, str], Group] = {}
    others: Group = []
    for member in (m for m in members if not m.run and not _joined(m, groups)):
        (alone.setdefault(member.home, []) if member.place else others).append(member)
    for group in alone.values():
        groups += _launches(group, told=False)
    return [*groups, *_alike(others)]


def _is_of_a_folder(run: str) -> bool:
    return run.startswith(SHELL) and not _DATED.match(run)


def _launches(members: Group, told: bool) -> list[Group]:
    """Return the launches of what may be several: `told` says that all of them share a run.

    Processes that wrote first within two minutes, one after the other, belong together as far as their ranks allow.
    Such a batch belongs to the launch before it where the run is the same and no rank comes again.
    """
    groups: list[Group] = []
    batch: list[Group] = []
    last = 0.0
    for process in _processes(members):
        begin = process[0].trace.written
        if batch and begin - last > TOGETHER_S:
            _settle(batch, groups, told)
            batch = []
        last = begin
        free = next((g for g in reversed(batch) if not _collide(g, process)), None)
        if free is None:
            batch.append(process)
        else:
            free += process
    _settle(batch, groups, told)
    return groups


def _settle(batch: Iterable[Group], groups: list[Group], told: bool) -> None:
    for fresh in batch:
        if told and groups and not _collide(groups[-1], fresh):
            groups[-1] += fresh
        else:
            groups.append(fresh)


def _processes(members: Group) -> list[Group]:
    """Return the files of each process, in the order in which processes wrote first."""
    found: list[Group] = []
    for member in members:
        own = next((p for p in reversed(found) if _continues(member, p)), None)
        if own is None:
            found.append([member])
        else:
            own.append(member)
    return found


def _continues(member: Member, process: Group) -> bool:
    """Tell whether a trace is a further window of a process, or another file of a window.

    The number behind a window may change within a process: it counts what was there under this name before.
    """
    first, place = process[0], member.place
    if place is None or first.place is None or first.home[0] != member.home[0]:
        return False
    if first.place[:2] != place[:2]:
        return False
    same = [m.place.number for m in process if m.place and m.place.window == place.window]
    return not same or place.number in same


def _collide(group: Group, fresh: Group) -> bool:
    """Tell whether processes cannot be of a launch: a rank of theirs is there as another process.

    Processes that know of no rank may be several of one launch where they wrote first at about the same time.
    """
    ranks = {m.ranks for m in group} & {m.ranks for m in fresh}
    if ranks != {""}:
        return bool(ranks)
    begins = [
        [p[0].trace.written for p in _processes([m for m in side if not m.ranks])] for side in (group, fresh)
    ]
    return min(abs(a - b) for a in begins[0] for b in begins[1]) > TOGETHER_S


def _machines(groups: list[Group]) -> list[Group]:
    """Put together what the shells of several machines started: other ranks of one size, at the same time."""
    found: list[Group] = []
    for group in sorted(groups, key=lambda g: g[0].trace.written):
        home = next((g for g in found if _complete(g, group)), None)
        if home is None:
            found.append(group)
        else:
            home += group
    return found


def _complete(one: Group, other: Group) -> bool:
    world, ranks = one[0].world, [_numbers(g) for g in (one, other)]
    return (
        all(g[0].run.startswith(SHELL) for g in (one, other))
        and (one[0].label, world) == (other[0].label, other[0].world)
        and world is not None
        and all(ranks)
        and ranks[0].isdisjoint(ranks[1])
        and max(ranks[0] | ranks[1]) < world
        and _apart(one, other) <= TOGETHER_S
    )


def _numbers(group: Group) -> set[int]:
    """Return the ranks of a capture, none where a file does not tell its own."""
    found = [_RANK.search(m.ranks) for m in group]
    return {int(f[1]) for f in found if f} if all(found) else set()


def _joined(member: Member, groups: Iterable[Group]) -> bool:
    """Put a trace that tells no run into the capture that it is of: of those that lack it the nearest in time.

    A further window of a process is of its capture however much later it was written.
    """
    if member.place is None:
        return False
    near = []
    for place, group in enumerate(groups):
        if group[0].label != member.label or not _is_at_home(member, group):
            continue
        same = [m for m in group if m.ranks == member.ranks]
        own = any(_continues(member, p) for p in _processes(same))
        apart = _apart([member], group)
        if own or (not same and apart <= TOGETHER_S):
            near.append((not own, apart, place, group))
    if near:
        min(near, key=lambda n: n[:3])[3].append(member)
    return bool(near)


def _is_at_home(member: Member, group: Group) -> bool:
    """Tell whether a trace lies where a capture does: in a folder of it, or beside them where each rank has its own."""
    folder, folders = member.home[0], {m.home[0] for m in group}
    return folder in folders or (len(folders) > 1 and folder.parent in {f.parent for f in folders})


def _apart(one: Group, other: Group) -> float:
    """Return the seconds between the times in which two captures were written; 0 where these overlap."""
    begins, ends = ([pick(m.trace.written for m in g) for g in (one, other)] for pick in (min, max))
    return max(0.0, begins[0] - ends[1], begins[1] - ends[0])


def _alike(members: Sequence[Member]) -> Iterator[Group]:
    """Yield traces, in the order in which they were written, whose names are alike and one followed soon on the other."""
    names: dict[tuple[Path, str], Group] = {}
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
