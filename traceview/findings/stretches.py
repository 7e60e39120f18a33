"""The stretch of the trace to look at, for findings whose time is not one gap: the worst of what they count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from traceview.analyses import Analysis
from traceview.events import Kind, Trace
from traceview.intervals import subtract, union

Window = tuple[int, int]
DENSE = 50  # short kernels of a stretch


def longest_exposed(analysis: Analysis) -> Window | None:
    """Return the longest stretch in which a device runs collectives and no compute kernel."""
    trace, s = analysis.trace, analysis.trace.slices
    rows = _timed(trace, Kind.KERNEL)
    collective = _of_names(trace, rows, set(analysis.collectives.name.tolist()).__contains__)
    best: Window | None = None
    for device in {t.device for t in trace.tracks}:
        own = np.isin(s.track[rows], [i for i, t in enumerate(trace.tracks) if t.device == device])
        talks, computes = rows[own & collective], rows[own & ~collective]
        if not len(talks):
            continue
        alone = subtract(*(union(s.start[r], s.start[r] + s.dur[r]) for r in (talks, computes)))
        if len(alone.start):
            i = int(np.argmax(alone.end - alone.start))
            found = int(alone.start[i]), int(alone.end[i])
            best = found if best is None or found[1] - found[0] > best[1] - best[0] else best
    return best


def longest_record(analysis: Analysis, kind: Kind, wanted: Callable[[str], bool]) -> Window | None:
    """Return the longest record of a kind whose name is wanted, the first of equals."""
    trace, s = analysis.trace, analysis.trace.slices
    rows = _timed(trace, kind)
    rows = rows[_of_names(trace, rows, wanted)]
    if not len(rows):
        return None
    row = int(rows[np.argmax(s.dur[rows])])
    return int(s.start[row]), int(s.start[row] + s.dur[row])


def densest(analysis: Analysis, shortest_than: int) -> Window | None:
    """Return the stretch of a stream in which short kernels follow one another fastest: DENSE of them, or all."""
    trace, s = analysis.trace, analysis.trace.slices
    rows = _timed(trace, Kind.KERNEL)
    rows = rows[s.dur[rows] < shortest_than]
    rows = rows[np.lexsort((s.start[rows], s.track[rows]))]
    track, start, end = s.track[rows], s.start[rows], s.start[rows] + s.dur[rows]
    if not len(rows):
        return None
    ahead = min(DENSE, int(np.bincount(track).max())) - 1
    first = np.flatnonzero(track[: len(rows) - ahead] == track[ahead:])
    at = int(first[np.argmin(end[first + ahead] - start[first])])
    return int(start[at]), int(end[at + ahead])


def _timed(trace: Trace, kind: Kind) -> np.ndarray:
    rows = trace.rows_of(kind)
    timed: np.ndarray = rows[trace.timed[rows]]
    return timed


def _of_names(trace: Trace, rows: np.ndarray, wanted: Callable[[str], bool]) -> np.ndarray:
    codes = trace.slices.name[rows]
    known = np.zeros(len(trace.names), bool)
    used = np.flatnonzero(np.bincount(codes, minlength=1)) if len(codes) else codes
    known[used] = [wanted(trace.names[code]) for code in used.tolist()]
    mask: np.ndarray = known[codes]
    return mask
