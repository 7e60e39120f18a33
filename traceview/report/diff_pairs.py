"""Which moments of two runs are shown one under the other: compared steps, else the first device records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traceview.analyses import Analysis
from traceview.diff.compare import Diff
from traceview.events import Kind, Trace
from traceview.report.view import Window

MOST = 8  # pairs to choose from, beside that of median steps
WITHOUT_STEPS = "From the first device records on"


class Pair(NamedTuple):
    """Hold the moment of each side (ns of its trace) that is aligned, and how long a stretch is worth a look."""

    label: str
    starts: tuple[int, int]
    length: int

    def windows(self) -> tuple[Window, Window]:
        """Return the stretch of each side; both are as long as the longer one."""
        first, second = (Window(self.label, at, at + self.length, exact=False) for at in self.starts)
        return first, second


class _Step(NamedTuple):
    number: int
    start: int
    length: int


def pairs_of(diff: Diff, base: Analysis, new: Analysis) -> tuple[Pair, ...]:
    """Return the pairs worth a look, that of median steps first."""
    if diff.per != "step":
        return (_first_records(base.trace, new.trace),)
    sides = [_steps(analysis) for analysis in (base, new)]
    middle = [
        _median(side.measured[True].headlines["step_time"], steps)
        for side, steps in zip((diff.base, diff.new), sides, strict=True)
    ]
    first = _pair(middle[0], middle[1], "Median steps")
    others = (_pair(a, b) for a, b in zip(*sides, strict=False))
    return (first, *[p for p in others if p.starts != first.starts][:MOST])


def _steps(analysis: Analysis) -> list[_Step]:
    """Return the compared steps: from their begin on the host to their end there or on the device."""
    table = analysis.step_windows
    own = np.flatnonzero(table.sample)
    end = np.maximum(table.start + table.wall, table.window_end)[own]
    columns = (table.number[own], table.start[own], end - table.start[own])
    return [_Step(*values) for values in zip(*(c.tolist() for c in columns), strict=True)]


def _median(times: np.ndarray, steps: list[_Step]) -> _Step:
    return steps[int(np.argsort(times, kind="stable")[len(times) // 2])]


def _pair(base: _Step, new: _Step, what: str = "Steps") -> Pair:
    label = f"{what}: {base.number} ↔ {new.number}"
    return Pair(label, (base.start, new.start), max(base.length, new.length, 1))


def _first_records(base: Trace, new: Trace) -> Pair:
    (begin, length), (other, long) = _device_time(base), _device_time(new)
    return Pair(WITHOUT_STEPS, (begin, other), max(length, long, 1))


def _device_time(trace: Trace) -> tuple[int, int]:
    """Return begin and length of the device's time, of the whole trace where there is none."""
    rows = trace.rows_of(Kind.KERNEL, Kind.COPY, Kind.FILL)
    rows = rows[trace.timed[rows]]
    rows = rows if len(rows) else np.flatnonzero(trace.timed)
    if not len(rows):
        return 0, 0
    start = trace.slices.start[rows]
    return int(start.min()), int((start + trace.slices.dur[rows]).max() - start.min())
