"""Who launched what: for every exact slice of device work in the timeline its call, operator and delays.

One number each per slice, in the order of the items, most of them small or repeated: they cost some
four bytes a slice. The page finds the launching slice by its thread and start.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.analyses.grouping import combined, compact
from traceview.events import Kind, Trace
from traceview.report.clock import Clock
from traceview.report.lanes import HOST_TIER, Drawn, thread_label
from traceview.report.lod import Items
from traceview.report.names import NameBook
from traceview.units import shown

Numbers = npt.NDArray[np.int64]
NOT_FIRST, NO_DELAY, WHOLE_LATENCY, DELAY = range(4)
"""Values of `delay`: not the first record of its launch, none, equal to the latency, from here on itself."""


def origins(
    analysis: Analysis, drawn: Drawn, items: Items, names: NameBook, clock: Clock
) -> dict[str, Numbers]:
    """Return the columns; times in units of the clock, texts as numbers in the dictionary of names.

    `origin` (0: no launch known, else 1 + a place in the columns origin_*), `latency` (start less start
    of the call, zigzag), `call` (1 + length of a call that is not drawn exactly, else 0), `delay`,
    `launched` (1 + zigzag of the step from the correlation before, 0: none). origin_op is 1 + the
    operator, origin_lane 1 + the lane of the thread.
    """
    trace, s = analysis.trace, analysis.trace.slices
    rows = items.source[
        (items.number == 1) & np.isin(s.kind[items.source], (Kind.KERNEL, Kind.COPY, Kind.FILL))
    ]
    link = s.link[rows].astype(np.int64)
    known = np.flatnonzero(link >= 0)
    if not len(rows):
        return {}
    launch = link[known]
    latency, call, origin, delay = (np.zeros(len(rows), np.int64) for _ in range(4))
    latency[known] = clock.at(s.start[rows[known]]) - clock.at(s.start[launch])
    delay[known] = s.start[rows[known]] - s.start[launch]
    exact = np.zeros(len(s), bool)
    exact[items.source[items.number == 1]] = True
    length = clock.at(s.start[launch] + s.dur[launch]) - clock.at(s.start[launch])
    call[known] = np.where(exact[launch], 0, length + 1)
    place, columns = _callers(trace, drawn, launch, names)
    origin[known] = place + 1
    return {
        "origin": origin,
        "latency": zigzag(latency),
        "call": call,
        "delay": _delays(analysis, rows, delay, clock),
        "launched": _correlations(trace, rows),
        **columns,
    }


def zigzag(values: Numbers) -> Numbers:
    """Fold negative numbers between the positive ones: 0, -1, 1, -2 become 0, 1, 2, 3."""
    folded: Numbers = (values << 1) ^ (values >> 63)
    return folded


def _callers(
    trace: Trace, drawn: Drawn, launch: Numbers, names: NameBook
) -> tuple[Numbers, dict[str, Numbers]]:
    """Return the place of each launch among the distinct (call, operator, thread), and these as columns."""
    s = trace.slices
    lane, operator = _operators(trace, drawn, launch)
    calls, call = compact(s.name[launch], len(trace.names))
    operators, of_operator = compact(operator + 1, len(trace.names) + 1)
    tracks, track = compact(s.track[launch], len(trace.tracks))
    left, right, pair = combined(call, of_operator, len(operators))
    pairs, places, origin = combined(pair, track, len(tracks))
    shown = np.zeros(len(tracks), np.int64)
    shown[track] = lane + 1
    name = [names.add(trace.names[c]) for c in calls.tolist()]
    op = [0 if c == 0 else 1 + names.add(trace.names[c - 1]) for c in operators.tolist()]
    thread = [names.add(_thread(trace, t)) for t in tracks.tolist()]
    return origin, {
        "origin_call": np.array(name, np.int64)[left[pairs]],
        "origin_op": np.array(op, np.int64)[right[pairs]],
        "origin_thread": np.array(thread, np.int64)[places],
        "origin_lane": shown[places],
    }


def _thread(trace: Trace, track: int) -> str:
    return shown(thread_label(trace.tracks[track]), 60, True)


def _operators(trace: Trace, drawn: Drawn, launch: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lane of each launch and the name of the innermost operator around it, -1 where not drawn.

    Rows of a lane hold what nests: the operator is sought upwards from the row of the launch.
    """
    s, bars = trace.slices, drawn.tiers[HOST_TIER]
    lane_of, operator = np.full(len(launch), -1, np.int64), np.full(len(launch), -1, np.int64)
    bar_of = np.full(len(s), -1, np.int32)
    bar_of[bars.source] = np.arange(len(bars), dtype=np.int32)
    bar = bar_of[launch]
    row = np.where(bar >= 0, bars.row[bar] if len(bars) else -1, -1)
    is_op = s.kind[bars.source] == (Kind.OP if (s.kind[bars.source] == Kind.OP).any() else Kind.OTHER)
    for number, lane in enumerate(drawn.lanes):
        own = np.flatnonzero((row >= lane.first) & (row < lane.first + lane.rows))
        lane_of[own] = number
        edges = np.searchsorted(bars.row, np.arange(lane.first, lane.first + lane.rows + 1))
        for level in range(lane.rows - 2, -1, -1) if len(own) else ():
            below = own[(row[own] > lane.first + level) & (operator[own] < 0)]
            first, last = int(edges[level]), int(edges[level + 1])
            at = first - 1 + np.searchsorted(bars.start[first:last], s.start[launch[below]], "right")
            inside = at >= first
            inside[inside] &= bars.end[at[inside]] >= (s.start + s.dur)[launch[below[inside]]]
            inside[inside] &= is_op[at[inside]]
            operator[below[inside]] = s.name[bars.source[at[inside]]]
    return lane_of, operator


def _delays(analysis: Analysis, rows: Numbers, latency: Numbers, clock: Clock) -> Numbers:
    """Code the start delays; `latency` in ns."""
    pairs = analysis.launches.pairs
    delay_of = np.full(len(analysis.trace.slices), -2, np.int64)
    delay_of[pairs.kernel] = pairs.start_delay
    delay = delay_of[rows]
    chosen: Numbers = np.where(delay == latency, WHOLE_LATENCY, clock.length(delay) + DELAY)
    return np.where(delay < 0, np.where(delay == -1, NO_DELAY, NOT_FIRST), chosen)


def _correlations(trace: Trace, rows: Numbers) -> Numbers:
    ids = trace.arg("correlation").lookup(rows, -1).astype(np.int64)
    return stepped(np.where(ids < 2**51, ids, -1))


def stepped(ids: Numbers) -> Numbers:
    """Return 1 + the folded step from each known number (0 or more) to the next, 0 for unknown ones."""
    known = np.flatnonzero(ids >= 0)
    steps = np.zeros(len(ids), np.int64)
    steps[known] = 1 + zigzag(np.diff(ids[known], prepend=0))
    return steps


def unstepped(steps: Numbers) -> Numbers:
    """Return the numbers of which `stepped` made steps, -1 for unknown ones."""
    known = np.flatnonzero(steps)
    folded = steps[known] - 1
    ids = np.full(len(steps), -1, np.int64)
    ids[known] = np.cumsum((folded >> 1) ^ -(folded & 1))
    return ids
