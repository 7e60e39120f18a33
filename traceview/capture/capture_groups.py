"""Tell which traces of a folder are one capture: all ranks and windows of one launch of one label.

Files with a sidecar tell their run, which may lie in several folders. Several launches may share it: a shell that starts
them one after the other, a job's step, a name that somebody gave; there a rank that comes again as another process is
another launch. A trace whose sidecar is missing or broken joins the capture of its folder and label that lacks it;
those that none lacks belong together by process, and by the two minutes in which their processes wrote first. Of
traces whose names are not ours those belong together that lie in one folder, differ in digits only, and followed soon.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, deque
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
    for member in _unjoined([m for m in members if not m.run], groups):
        (alone.setdefault(member.home, []) if member.place else others).append(member)
    for group in alone.values():
        groups += _launches(group, told=False)
    return [*groups, *_alike(others)]


def _is_of_a_folder(run: str) -> bool:
    return run.startswith(SHELL) and not _DATED.match(run)


class _Process:
    """Hold the files of a process: its windows, each with the numbers behind it."""

    def __init__(self) -> None:
        self.members: Group = []
        self._numbers: dict[str, set[str]] = {}

    def is_continued_by(self, place: Place) -> bool:
        """Tell whether a trace is a further window of it, or another file of a window.

        The number behind a window may change within a process: it counts what was there under this name before.
        """
        numbers = self._numbers.get(place.window)
        return not numbers or place.number in numbers

    def add(self, member: Member) -> None:
        """Take a file in."""
        self.members.append(member)
        if member.place is not None:
            self._numbers.setdefault(member.place.window, set()).add(member.place.number)


class _Processes:
    """Hold the files of each process, in the order in which processes wrote first."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self.found: list[_Process] = []
        self._named: dict[object, list[_Process]] = {}  # a pid may come again
        for member in members:
            self.add(member)

    def of(self, member: Member) -> _Process | None:
        """Return the process that a trace continues."""
        place = member.place
        named = [] if place is None else self._named.get(_named(member), [])
        return next((p for p in reversed(named) if place and p.is_continued_by(place)), None)

    def add(self, member: Member) -> None:
        """Take a file in, as one of its process or as the first one of another."""
        own = self.of(member)
        if own is None:
            own = _Process()
            self.found.append(own)
            self._named.setdefault(_named(member), []).append(own)
        own.add(member)


def _named(member: Member) -> tuple[Path, tuple[str, ...] | None]:
    """Return what the names of all files of a process share."""
    return member.home[0], member.place[:2] if member.place else None


class _Launch:
    """Hold processes that belong together, their ranks, and when those wrote first that know of none."""

    def __init__(self, process: _Process) -> None:
        self.members = list(process.members)
        self.ranks = {process.members[0].ranks}
        self._begins = [] if process.members[0].ranks else [process.members[0].trace.written]

    def may_hold(self, other: _Launch) -> bool:
        """Tell whether processes can be of this launch: no rank of theirs is there as another process.

        Processes that know of no rank may be several of one launch where they wrote first at about the same time.
        """
        shared = self.ranks & other.ranks
        if shared != {""}:
            return not shared
        return any(self._begun_near(b) for b in other._begins)

    def _begun_near(self, when: float) -> bool:
        place = bisect_left(self._begins, when)
        return any(abs(b - when) <= TOGETHER_S for b in self._begins[max(0, place - 1) : place + 1])

    def take(self, other: _Launch) -> None:
        """Take processes in."""
        self.members += other.members
        self.ranks |= other.ranks
        in_order = not (self._begins and other._begins and other._begins[0] < self._begins[-1])
        self._begins += other._begins
        if not in_order:
            self._begins.sort()


def _launches(members: Group, told: bool) -> list[Group]:
    """Return the launches of what may be several: `told` says that all of them share a run.

    Processes that wrote first within two minutes, one after the other, belong together as far as their ranks allow.
    Such a batch belongs to the launch before it where the run is the same and no rank comes again.
    """
    found: list[_Launch] = []
    batch: list[_Launch] = []
    having: Counter[str] = Counter()  # launches of the batch by rank: most often all have it
    last = 0.0
    for process in _Processes(members).found:
        begin, ranks = process.members[0].trace.written, process.members[0].ranks
        if batch and begin - last > TOGETHER_S:
            _settle(batch, found, told)
            batch, having = [], Counter()
        last = begin
        fresh = _Launch(process)
        open_ = [] if ranks and having[ranks] == len(batch) else reversed(batch)
        free = next((launch for launch in open_ if launch.may_hold(fresh)), None)
        having[ranks] += free is None or ranks not in free.ranks
        if free is None:
            batch.append(fresh)
        else:
            free.take(fresh)
    _settle(batch, found, told)
    return [launch.members for launch in found]


def _settle(batch: Iterable[_Launch], found: list[_Launch], told: bool) -> None:
    for fresh in batch:
        if told and found and found[-1].may_hold(fresh):
            found[-1].take(fresh)
        else:
            found.append(fresh)


class _Span:
    """Hold a capture with the times between which it was written."""

    def __init__(self, group: Group) -> None:
        self.group = group
        written = [m.trace.written for m in group]
        self.begin, self.end = min(written), max(written)

    def apart(self, begin: float, end: float) -> float:
        """Return the seconds between it and other times; 0 where these overlap."""
        return max(0.0, begin - self.end, self.begin - end)

    def widen(self, begin: float, end: float) -> None:
        """Take in other times."""
        self.begin, self.end = min(self.begin, begin), max(self.end, end)


class _Part(_Span):
    """Hold what a shell of one machine started: the ranks of it."""

    def __init__(self, group: Group) -> None:
        super().__init__(group)
        self.ranks = _numbers(group)

    def complete(self, other: _Part) -> bool:
        """Take in what the shell of another machine started, if that can be of the same capture."""
        if not self.ranks.isdisjoint(other.ranks) or self.apart(other.begin, other.end) > TOGETHER_S:
            return False
        self.group += other.group
        self.ranks |= other.ranks
        self.widen(other.begin, other.end)
        return True


def _machines(groups: list[Group]) -> list[Group]:
    """Put together what the shells of several machines started: other ranks of one size, at the same time."""
    found: list[Group] = []
    parts: dict[tuple[str, int], list[_Part]] = {}  # those that a later one may complete
    for group in sorted(groups, key=lambda g: g[0].trace.written):
        first = group[0]
        if first.world is None or not first.run.startswith(SHELL):
            found.append(group)
            continue
        part = _Part(group)
        if not part.ranks or max(part.ranks) >= first.world:
            found.append(group)
            continue
        near = [p for p in parts.get((first.label, first.world), []) if part.begin - p.end <= TOGETHER_S]
        if not any(p.complete(part) for p in near):
            found.append(group)
            near.append(part)
        parts[first.label, first.world] = near
    return found


def _numbers(group: Group) -> set[int]:
    """Return the ranks of a capture, none where a file does not tell its own."""
    found = [_RANK.search(m.ranks) for m in group]
    return {int(f[1]) for f in found if f} if all(found) else set()


class _Capture(_Span):
    """Hold a capture that traces may join which tell no run."""

    def __init__(self, group: Group, order: int) -> None:
        super().__init__(group)
        self._order, self._processes = order, _Processes(group)
        self._folders = {m.home[0] for m in group}
        self._beside = {f.parent for f in self._folders} if len(self._folders) > 1 else set()
        self._ranks = {m.ranks for m in group}

    def distance(self, member: Member) -> tuple[bool, float, int] | None:
        """Return what orders the captures that lack a trace, None where this one does not.

        A further window of a process is of its capture however much later it was written.
        """
        folder = member.home[0]
        if self.group[0].label != member.label:
            return None
        # where each rank has its own folder, another one beside them is of the capture too
        if folder not in self._folders and folder.parent not in self._beside:
            return None
        own = self._processes.of(member) is not None
        apart = self.apart(member.trace.written, member.trace.written)
        lacks = own or (member.ranks not in self._ranks and apart <= TOGETHER_S)
        return (not own, apart, self._order) if lacks else None

    def join(self, member: Member) -> None:
        """Take a trace in."""
        self.group.append(member)
        self._processes.add(member)
        self._folders.add(member.home[0])
        self._ranks.add(member.ranks)
        self.widen(member.trace.written, member.trace.written)


def _unjoined(members: Iterable[Member], groups: list[Group]) -> Iterator[Member]:
    """Put traces that tell no run into the captures that they are of, the nearest in time; yield those that none lacks.

    Only captures that were written at about that time are asked, and those that hold another file of the process.
    """
    captures = [_Capture(group, order) for order, group in enumerate(groups)]
    named: dict[object, set[_Capture]] = {}
    for capture in captures:
        for member in capture.group:
            named.setdefault(_named(member), set()).add(capture)
    later = deque(sorted(captures, key=lambda c: c.begin))
    near: set[_Capture] = set()
    for member in members:
        if member.place is None:
            yield member
            continue
        when = member.trace.written
        while later and later[0].begin <= when + TOGETHER_S:
            near.add(later.popleft())
        near = {c for c in near if c.end >= when - TOGETHER_S}
        asked = near | named.get(_named(member), set())
        lacking = [(d, c) for c in asked if (d := c.distance(member)) is not None]
        if not lacking:
            yield member
            continue
        _, capture = min(lacking, key=lambda pair: pair[0])
        capture.join(member)
        named.setdefault(_named(member), set()).add(capture)
        near.add(capture)


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
