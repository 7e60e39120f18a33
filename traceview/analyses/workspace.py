"""What several analyses need of a trace, calculated once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar, cast

import numpy as np

from traceview.analyses.axes import shifts
from traceview.analyses.grouping import compact
from traceview.analyses.nesting import Nesting, nest
from traceview.analyses.rules import COLLECTIVE, COPIES, Rules
from traceview.events import DEVICE_WORK, Flag, Kind, Trace
from traceview.intervals import Intervals, union

_Answer = TypeVar("_Answer")

NESTED = (Kind.OP, Kind.ANNOTATION, Kind.LAUNCH, Kind.RUNTIME, Kind.OTHER)
_COLLECTIVE_ARGUMENTS = (
    "collective",
    "in_elements",
    "out_elements",
    "group_size",
    "group_name",
    "group_ranks",
)
_WINDOW = 8  # later kernels that are looked at to tell a broken record from an overlap
_OVERRUN = 3


class Work(NamedTuple):
    """Hold device work as columns, by start: rows of the trace, times in ns, codes.

    `device` is a code into Workspace.devices, `category` into Rules.categories.
    """

    row: np.ndarray
    start: np.ndarray
    end: np.ndarray
    dur: np.ndarray
    kind: np.ndarray
    name: np.ndarray
    track: np.ndarray
    device: np.ndarray
    link: np.ndarray
    category: np.ndarray
    collective: np.ndarray

    def where(self, mask: np.ndarray) -> Work:
        """Return the work of this mask."""
        return Work(*(column[mask] for column in self))


class Layers(NamedTuple):
    """Hold unions of device work, each within the next, on the axis where each device has a stretch of its own."""

    compute: Intervals
    kernels: Intervals
    moving: Intervals  # kernels and copies
    busy: Intervals
    collective: Intervals  # within kernels


class Workspace:
    """Hold a trace and the rules, and what is derived from them.

    Of a trace cut down to some steps, `whole` is the workspace of what it was cut from: devices keep
    their codes and names, and the end of the recording is known.
    """

    def __init__(self, trace: Trace, rules: Rules, whole: Workspace | None = None) -> None:
        self.trace, self.rules, self.whole = trace, rules, whole
        self._answers: dict[Callable[[Workspace], object], object] = {}

    def once(self, question: Callable[[Workspace], _Answer]) -> _Answer:
        """Return what an analysis answers, asking it the first time only: one may build on another."""
        if question not in self._answers:
            self._answers[question] = question(self)
        return cast("_Answer", self._answers[question])

    def know(self, question: Callable[[Workspace], _Answer], answer: _Answer) -> None:
        """Take the answer of an analysis from elsewhere, instead of asking it."""
        self._answers[question] = answer

    @cached_property
    def usable(self) -> np.ndarray:
        """Return the rows of device work: duplicates left out, records without time kept."""
        return self.trace.rows_of(*DEVICE_WORK)

    @cached_property
    def untimed(self) -> np.ndarray:
        """Return the rows of device work that has no time."""
        flags = self.trace.slices.flags[self.usable]
        rows: np.ndarray = self.usable[(flags & Flag.UNTIMED) != 0]
        return rows

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Return the devices that have device work."""
        return self._devices[0]

    @cached_property
    def device_of_track(self) -> np.ndarray:
        """Return the code of each track's device; it means nothing for a track without device work."""
        return self._devices[1]

    @cached_property
    def scope_of_device(self) -> np.ndarray:
        """Return the scope (merged rank or process) of each of the devices."""
        if self.whole is not None:
            return self.whole.scope_of_device
        scope = np.zeros(len(self.devices), np.int64)
        for t in np.unique(self.trace.slices.track[self.usable]).tolist():
            scope[self.device_of_track[t]] = self.trace.tracks[t].scope
        return scope

    @cached_property
    def _devices(self) -> tuple[tuple[str, ...], np.ndarray]:
        """Return the devices with work, and the code of each track's device."""
        if self.whole is not None:
            return self.whole._devices
        tracks = self.trace.tracks
        with_work, _ = compact(self.trace.slices.track[self.usable], len(tracks))
        codes: dict[tuple[int, str], int] = {}
        of_track = np.zeros(len(tracks), np.int32)
        for t in with_work.tolist():
            key = (tracks[t].scope, tracks[t].device or "")
            of_track[t] = codes.setdefault(key, len(codes))
        shared = len({device for _, device in codes}) < len(codes)
        texts = tuple(f"{scope}/{device}" if shared else device for scope, device in codes)
        return texts, of_track

    @cached_property
    def work(self) -> Work:
        """Return all timed device work."""
        s = self.trace.slices
        row = self.usable
        if len(self.untimed):
            row = row[(s.flags[row] & Flag.UNTIMED) == 0]
        start, dur, kind, name, track = s.start[row], s.dur[row], s.kind[row], s.name[row], s.track[row]
        collective, category = self._categorise(row, kind, name)
        device = self.device_of_track[track]
        return Work(
            row, start, start + dur, dur, kind, name, track, device, s.link[row], category, collective
        )

    @cached_property
    def apart(self) -> tuple[np.ndarray, np.ndarray]:
        """Return start and end of the timed device work where each device has a stretch of its own, in order."""
        work = self.work
        if len(self.devices) < 2:
            return work.start, work.end
        shift = self.device_shift[work.device]
        return work.start + shift, work.end + shift

    @cached_property
    def device_shift(self) -> np.ndarray:
        """Return for each device what to add to its times so that it has a stretch of its own."""
        work, count = self.work, len(self.devices)
        return shifts(work.device, work.start, work.end, count) if count > 1 else np.zeros(count, np.int64)

    @cached_property
    def layers(self) -> Layers:
        """Return the unions of device work by what hides what."""
        (start, end), kind = self.apart, self.work.kind
        kernel = kind == Kind.KERNEL

        def joined(mask: np.ndarray) -> Intervals:
            return union(start, end) if mask.all() else union(start[mask], end[mask])

        every = np.ones(len(kind), bool)
        masks = (self.compute, kernel, kind != Kind.FILL, every, self.work.collective)
        return Layers(*(joined(mask) for mask in masks))

    @cached_property
    def scope_of_track(self) -> np.ndarray:
        """Return the scope (merged rank or process) of each track."""
        return np.array([t.scope for t in self.trace.tracks], np.int64)

    @cached_property
    def scope_shift(self) -> np.ndarray:
        """Return for each scope what to add to its times so that it has a stretch of its own."""
        count = int(self.scope_of_track.max(initial=0)) + 1
        if count < 2:
            return np.zeros(count, np.int64)
        s, timed = self.trace.slices, self.trace.timed
        start, scope = s.start[timed], self.scope_of_track[s.track[timed]]
        return shifts(scope, start, start + s.dur[timed], count)

    @cached_property
    def compute(self) -> np.ndarray:
        """Return which timed device work is compute: kernels that are no collectives (bool)."""
        mask: np.ndarray = (self.work.kind == Kind.KERNEL) & ~self.work.collective
        return mask

    @cached_property
    def kernels(self) -> Work:
        """Return the timed kernels."""
        return self.work.where(self.work.kind == Kind.KERNEL)

    @cached_property
    def category_of_name(self) -> np.ndarray:
        """Return the category that each kernel's name has by the rules; it means nothing for other names."""
        code = {category: i for i, category in enumerate(self.rules.categories)}
        s, names = self.trace.slices, self.trace.names
        used, _ = compact(s.name[self.usable[s.kind[self.usable] == Kind.KERNEL]], len(names))
        of_name = np.zeros(len(names), np.int16)
        of_name[used] = [code[c] for c in self.rules.of([names[n] for n in used.tolist()])]
        return of_name

    def _categorise(
        self, row: np.ndarray, kind: np.ndarray, name: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which kernels are collectives, and the category of all work."""
        categories = self.rules.categories
        code = {category: i for i, category in enumerate(categories)}
        is_kernel = kind == Kind.KERNEL
        category = self.category_of_name[name]
        carried = np.zeros(len(row), bool)
        for argument in _COLLECTIVE_ARGUMENTS:
            holders = self.trace.arg(argument).rows
            if len(holders):
                at = np.searchsorted(row, holders)
                found = at < len(row)
                at = at[found]
                carried[at[row[at] == holders[found]]] = True
        category[carried & is_kernel] = code[COLLECTIVE]
        collective = is_kernel & (category == code[COLLECTIVE])
        category[~is_kernel] = code[COPIES]
        return collective, category

    @cached_property
    def nesting(self) -> Nesting:
        """Return the tree of host slices, Python frames left out."""
        trace = self.trace
        return nest(trace.slices, trace.rows_of(*NESTED), trace.unit_ns)

    @cached_property
    def op_kinds(self) -> tuple[Kind, ...]:
        """Return which kinds are host operators: ranges where the trace has no operators."""
        has_ops = bool((self.trace.slices.kind == Kind.OP).any())
        return (Kind.OP,) if has_ops else (Kind.OTHER,)

    @cached_property
    def is_op(self) -> np.ndarray:
        """Return for each position of the nesting whether it is a host operator."""
        return np.isin(self.trace.slices.kind[self.nesting.rows], self.op_kinds)

    def innermost_op(self, positions: np.ndarray) -> np.ndarray:
        """Return the innermost operator at or above positions of the nesting, as positions, -1 for none."""
        at = positions.copy()
        climbing = np.flatnonzero(at >= 0)
        climbing = climbing[~self.is_op[at[climbing]]]
        while len(climbing):
            at[climbing] = self.nesting.parent[at[climbing]]
            above = at[climbing]
            climbing = climbing[(above >= 0) & ~self.is_op[above]]
        return at

    @cached_property
    def op_of_work(self) -> np.ndarray:
        """Return the operator that launched each timed device record: a position in the nesting, or -1."""
        link = self.work.link
        positions = np.where(link >= 0, self.nesting.at(np.maximum(link, 0)), -1)
        return self.innermost_op(positions)

    @cached_property
    def by_stream(self) -> np.ndarray:
        """Return the order of the timed device work by stream, then start."""
        track = self.work.track
        return np.argsort(
            track.astype(np.uint16) if len(self.trace.tracks) < 1 << 16 else track, kind="stable"
        )

    @cached_property
    def overlong(self) -> np.ndarray:
        """Return the broken kernel records, as places in `work`.

        A record is broken that outlasts at least three later kernels of its stream: no hardware
        overlaps that much within a stream.
        """
        order = self.by_stream[self.work.kind[self.by_stream] == Kind.KERNEL]
        track, end = self.work.track[order], self.work.end[order]
        if len(order) <= _OVERRUN:
            return np.empty(0, np.int64)
        some = np.flatnonzero((end[:-1] > self.work.start[order][1:]) & (track[:-1] == track[1:]))
        outlasted = np.zeros(len(some), np.int64)
        for step in range(1, _WINDOW + 1):
            later = np.minimum(some + step, len(order) - 1)
            outlasted += (some + step < len(order)) & (track[later] == track[some]) & (end[later] < end[some])
        broken: np.ndarray = order[some[outlasted >= _OVERRUN]]
        return broken

    @cached_property
    def clipped_end(self) -> np.ndarray:
        """Return the ends of the timed device work, those of broken records at the start of the next kernel."""
        end = self.work.end
        if not len(self.overlong):
            return end
        order = self.by_stream[self.work.kind[self.by_stream] == Kind.KERNEL]
        place = np.empty(len(end), np.int64)
        place[order] = np.arange(len(order))
        end = end.copy()
        end[self.overlong] = self.work.start[order[place[self.overlong] + 1]]
        return end

    @cached_property
    def stream_free(self) -> np.ndarray:
        """Return when the stream of each timed device record had finished what came before, -1 for the first."""
        order = self.by_stream
        track, end = self.work.track[order], self.clipped_end[order]
        free = np.full(len(order), -1, np.int64)
        edges = [*np.flatnonzero(np.diff(track, prepend=-1)).tolist(), len(order)]
        for first, last in pairwise(edges):
            free[first + 1 : last] = np.maximum.accumulate(end[first : last - 1])
        before = np.empty(len(order), np.int64)
        before[order] = free
        return before

    @cached_property
    def end_ns(self) -> int:
        """Return the end of the last timed slice, of a cut trace that of the whole."""
        if self.whole is not None:
            return self.whole.end_ns
        s = self.trace.slices
        rows = self.trace.timed
        if rows.all():
            return int((s.start + s.dur).max()) if len(s) else 0
        return int((s.start + s.dur)[rows].max()) if rows.any() else 0
