"""Choose steps of a trace, and cut the trace down to them.

A cut trace holds what the host began between the start of the first chosen step and the end of the
last, and the device work launched there. Device work without a launch is kept where it starts in a
chosen step's window on its device. Slices that began before, such as a whole training loop, are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from traceview.analyses.grouping import compact
from traceview.analyses.patterns import compiled, first_found
from traceview.analyses.windows import Windows, marked_steps, steps_from
from traceview.analyses.workspace import Workspace
from traceview.errors import UsageError
from traceview.events import DEVICE_WORK, Kind, Slices, Sparse, Steps, Trace
from traceview.tables import Table
from traceview.units import middle

_RANGE = re.compile(r"\s*(\d{0,18})\s*(:?)\s*(\d{0,18})\s*", re.ASCII)
_MARKING = (Kind.OP, Kind.ANNOTATION, Kind.PYTHON, Kind.OTHER)
_Timed = TypeVar("_Timed", bound=Table)


@dataclass(frozen=True)
class Choice:
    """Say which steps are meant: from number `first` to number `last`, both included, None for no limit.

    `skip` steps are left out at the beginning, `name` is a regular expression for the slices that mark steps.
    """

    first: int | None = None
    last: int | None = None
    skip: int = 0
    name: str | None = None

    @classmethod
    def parsed(cls, steps: str | None, skip: int = 0, name: str | None = None) -> Choice | None:
        """Read A:B (either may be missing; A alone is one step); None where nothing is chosen.

        Raises UsageError where `steps` is no range or `name` no regular expression, an empty text among them.
        """
        if steps is None and not skip and name is None:
            return None
        found = _RANGE.fullmatch(":" if steps is None else steps)
        if not found or not (found[2] or found[1]):
            raise UsageError(
                f"{middle(repr(steps), 80)} is no range of steps",
                "write --steps 5:6, 5:, :6 or 5, by the numbers shown",
            )
        first, last = (int(text) if text else None for text in (found[1], found[3]))
        last = last if found[2] else first
        if first is not None and last is not None and last < first:
            raise UsageError(f"{steps!r} ends before it begins", "write the lower number first")
        if name == "":
            raise UsageError("--step-name is an empty text", "name the slices that mark a step")
        compiled(name or "", "--step-name")
        return cls(first, last, skip, name)

    @property
    def all_steps(self) -> bool:
        """Say whether every step is meant."""
        return self.first is None and self.last is None and not self.skip

    def marked(self, trace: Trace) -> Trace:
        """Return the trace with the steps that this choice counts; raises UsageError where there are none."""
        if self.name is None:
            found = marked_steps(trace)
            hint = "name the slices that mark a step with --step-name REGEX"
            if not len(found):
                raise UsageError("this trace has no steps to choose from", hint)
        else:
            found = steps_from(trace, self._named(trace))
            if not len(found):
                raise UsageError(f"--step-name {self.name}: no slice of the host has such a name")
        return replace(trace, steps=found)

    def _named(self, trace: Trace) -> np.ndarray:
        rows = trace.rows_of(*_MARKING)
        used, group = compact(trace.slices.name[rows], len(trace.names))
        pattern = compiled(self.name or "", "--step-name")
        found = np.array(first_found([pattern], [trace.names[n] for n in used.tolist()]), np.int64) == 0
        marking: np.ndarray = rows[found[group]]
        return marking

    def places(self, steps: Steps) -> np.ndarray:
        """Return the places of the chosen steps; raises UsageError where none is meant."""
        number = steps.number
        kept = np.ones(len(number), bool)
        kept &= number >= (self.first if self.first is not None else number.min())
        kept &= number <= (self.last if self.last is not None else number.max())
        kept[: self.skip] = False
        if not kept.any():
            there = f"there are {len(number)}, numbered {number.min()} to {number.max()}"
            raise UsageError("no step is chosen", there)
        return np.flatnonzero(kept)


def described(chosen: Steps, whole: Steps) -> str:
    """Say which steps were chosen, by their numbers."""
    numbers = chosen.number
    some = f"step {numbers[0]}" if len(numbers) == 1 else f"steps {numbers.min()} to {numbers.max()}"
    return f"{some} ({len(numbers):,} of {len(whole):,})"


class _Stretch(NamedTuple):
    """Hold a stretch of time of each scope, in ns."""

    first: np.ndarray
    last: np.ndarray

    def holds(self, time: np.ndarray, scope: np.ndarray) -> np.ndarray:
        """Return which times lie in the stretch of their scope."""
        held: np.ndarray = (time >= self.first[scope]) & (time < self.last[scope])
        return held


def cut_to(source: Workspace, steps: Steps, places: np.ndarray) -> tuple[Trace, np.ndarray]:
    """Return a trace cut down to some of its steps, and the row there of each row, -1 and at the end for none."""
    trace, scope = source.trace, source.scope_of_track
    s, count = trace.slices, int(source.scope_of_track.max(initial=0)) + 1
    chosen, spans = steps.take(places), source.once(Windows.found).spans.of_steps(places)
    host = _stretch(scope[s.track[chosen.row]], chosen.start, chosen.start + chosen.dur, count)
    device = _stretch(source.scope_of_device[spans.device], spans.start, spans.end, count)
    on_device = np.array([t.is_device for t in trace.tracks], bool)[s.track]
    kept = np.where(on_device, device.holds(s.start, scope[s.track]), host.holds(s.start, scope[s.track]))
    kept[steps.row] = False
    kept[chosen.row] = True
    kept[source.work.row] = spans.at(source.work.start, source.work.device) >= 0
    linked = np.flatnonzero(np.isin(s.kind, DEVICE_WORK) & (s.link >= 0))
    kept[linked] = kept[s.link[linked]]
    rows = np.flatnonzero(kept)
    place = np.full(len(s) + 1, -1, np.int64)  # the last one serves links of -1
    place[rows] = np.arange(len(rows))
    times = (int(host.first.min()), int(host.last.max()))
    cut = replace(
        trace,
        slices=_slices(s.take(rows), place),
        steps=replace(chosen, row=place[chosen.row]),
        args={name: _sparse(arg, place) for name, arg in trace.args.items()},
        closed_ranges=_places(place, trace.closed_ranges),
        flows=_between(trace.flows, times),
        marks=_between(trace.marks, times),
        counters=_between(trace.counters, times),
        memory=_between(trace.memory, times),
    )
    return cut, place


def _stretch(scope: np.ndarray, start: np.ndarray, end: np.ndarray, scopes: int) -> _Stretch:
    limits = np.iinfo(np.int64)
    first, last = np.full(scopes, limits.max), np.full(scopes, limits.min)
    np.minimum.at(first, scope, start)
    np.maximum.at(last, scope, end)
    return _Stretch(first, last)


def _slices(slices: Slices, place: np.ndarray) -> Slices:
    link = place[slices.link].astype(slices.link.dtype)
    found = replace(slices, link=link)
    for name in (c.name for c in Slices.columns()):
        getattr(found, name).setflags(write=False)
    return found


def _sparse(arg: Sparse, place: np.ndarray) -> Sparse:
    moved = place[arg.rows]
    kept = moved >= 0
    return Sparse(moved[kept].astype(arg.rows.dtype), arg.values[kept], arg.texts)


def _places(place: np.ndarray, rows: np.ndarray) -> np.ndarray:
    moved = place[rows]
    kept: np.ndarray = moved[moved >= 0].astype(rows.dtype)
    return kept


def _between(table: _Timed, times: tuple[int, int]) -> _Timed:
    time = table.time  # type: ignore[attr-defined]
    return table.take(np.flatnonzero((time >= times[0]) & (time < times[1])))
