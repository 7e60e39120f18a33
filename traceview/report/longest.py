"""Where the longest record of each name is: what the row of a name shows in the timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceview.analyses.grouping import combined
from traceview.analyses.phases import STEP
from traceview.events import Kind, Trace

Window = tuple[int, int]
_ANY_STEP = "ProfilerStep*"  # as key_averages() has them


THE_LONGEST = "the longest record of this name"


def longest_records(
    trace: Trace, kinds: Sequence[Kind], names: Sequence[str], without: Sequence[int] = ()
) -> tuple[Window | None, ...]:
    """Return start and end (ns) of the longest timed record of these kinds for each name, the first of equals.

    Names of steps are one name, ProfilerStep*. The rows of `without` are set aside.
    """
    place = {name: i for i, name in enumerate(names)}
    steps = place.get(_ANY_STEP, -1)
    group = np.array(
        [steps if steps >= 0 and STEP.match(n) else place.get(n, -1) for n in trace.names], np.int64
    )
    rows = trace.rows_of(*kinds)
    rows = rows[~np.isin(rows, without)] if len(without) else rows
    return _longest(trace, rows, group[trace.slices.name[rows]], [place[name] for name in names])


def longest_on_streams(trace: Trace, keys: Sequence[tuple[str, str, str]]) -> tuple[Window | None, ...]:
    """Return the same for kernels by device, stream and name."""
    place = {key: i for i, key in enumerate(keys)}
    rows, s = trace.rows_of(Kind.KERNEL), trace.slices
    names, tracks, code = combined(s.name[rows], s.track[rows], len(trace.tracks))
    found = []
    for name, at in zip(names.tolist(), tracks.tolist(), strict=True):
        track = trace.tracks[at]
        found.append(place.get((track.device or "", track.stream or "", trace.names[name]), -1))
    return _longest(trace, rows, np.array(found, np.int64)[code], list(range(len(keys))))


def _longest(
    trace: Trace, rows: np.ndarray, group: np.ndarray, wanted: list[int]
) -> tuple[Window | None, ...]:
    s = trace.slices
    known = (group >= 0) & trace.timed[rows]
    rows, group = rows[known], group[known]
    best = np.full(max(wanted, default=0) + 1, -1, np.int64)
    dur, most = s.dur[rows], np.full(len(best), -1, np.int64)
    np.maximum.at(most, group, dur)
    longest = np.flatnonzero(dur == most[group])[::-1]
    best[group[longest]] = rows[longest]  # of equal indices numpy keeps the last
    found = best[wanted].tolist()
    return tuple((int(s.start[r]), int(s.start[r] + s.dur[r])) if r >= 0 else None for r in found)
