"""Cut idle gaps into parts with a cause each.

Of the gap that a record ends: (a) from its opening to the start of the record's launch, each instant
goes to the first of STATES that is active on the host, else the host was late; (b) then the time inside
the launch call; (c) from the call's end to the gap's end, in flight up to LONGEST_FLIGHT_NS, beyond that
all of it queued; (d) where the launch had returned before the gap opened, a turnaround of the device up
to LONGEST_TURNAROUND_NS (inside a graph where one graph launch made both records), beyond that queued;
(e) without a launch, unknown. All points are clipped to the gap, so the parts add up to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traceview.analyses.grouping import sums
from traceview.analyses.host_states import ALLOCATION, LOADING, PROFILER, STATES
from traceview.intervals import Intervals

LONGEST_FLIGHT_NS = 100_000
LONGEST_TURNAROUND_NS = 100_000
THRESHOLDS = (
    (
        "launch in flight",
        LONGEST_FLIGHT_NS,
        "from the launch's return to the record's start; longer is queued",
    ),
    (
        "device turnaround",
        LONGEST_TURNAROUND_NS,
        "between two records both launched before; longer is queued",
    ),
)
"""Cause, length in ns above which it is another, what is measured."""

HOST_LATE, INSIDE_LAUNCH, IN_FLIGHT, QUEUED = "host_late", "inside_launch", "in_flight", "queued"
TURNAROUND, INSIDE_GRAPH, UNKNOWN = "turnaround", "inside_graph", "unknown"
CAUSES: tuple[tuple[str, str], ...] = (
    ("profiler_overhead", PROFILER),
    ("allocation", ALLOCATION),
    ("data_loading", LOADING),
    ("synchronisation", "synchronisation or blocking copy"),
    (HOST_LATE, "host late"),
    (INSIDE_LAUNCH, "inside the launch call"),
    (IN_FLIGHT, "launch in flight"),
    (QUEUED, "queued, not started"),
    (TURNAROUND, "device turnaround"),
    (INSIDE_GRAPH, "inside graph"),
    (UNKNOWN, "unknown"),
)
"""Column of Gaps, and what people call it; in this order ties are broken."""
HOST_CAUSES = len(STATES) + 1  # the first of CAUSES: those of (a)
_PLACE = {column: i for i, (column, _) in enumerate(CAUSES)}


class Holes(NamedTuple):
    """Hold gaps, by device, then time, in ns; `called`, `returned` are those of the launch, -1 for none."""

    opening: np.ndarray
    closing: np.ndarray
    called: np.ndarray
    returned: np.ndarray
    linked: np.ndarray  # bool: a launch is recorded
    same_graph: np.ndarray  # bool: the records before and after come from one graph launch
    shift: np.ndarray  # ns from the trace's times to the axis where each rank has a stretch of its own

    @property
    def reached(self) -> np.ndarray:
        """Return when the launch was called, clipped to the gap: where (a) ends."""
        reached: np.ndarray = np.minimum(np.maximum(self.called, self.opening), self.closing)
        return reached


class Pieces(NamedTuple):
    """Hold the pieces of the parts (a): gap, place in CAUSES, start and length in ns, by gap, then time."""

    hole: np.ndarray
    cause: np.ndarray
    start: np.ndarray
    length: np.ndarray


def late_launch(holes: Holes) -> np.ndarray:
    """Return which gaps are ended by a launch that had not returned when they opened."""
    late: np.ndarray = holes.linked & (holes.returned > holes.opening)
    return late


def pieces(holes: Holes, states: dict[str, Intervals]) -> Pieces:
    """Cut the parts (a) at the edges of what the host was doing: `states`, on the axis of the ranks."""
    some = np.flatnonzero(late_launch(holes) & (holes.called > holes.opening))
    first, last = (time[some] + holes.shift[some] for time in (holes.opening, holes.reached))
    edges = np.unique(np.concatenate([edge for spans in states.values() for edge in spans]))
    begun = np.searchsorted(edges, first, "right")
    count = np.searchsorted(edges, last, "left") - begun + 1  # of pieces: one more than edges inside
    hole = np.repeat(np.arange(len(some)), count)
    ends = np.cumsum(count) - 1
    start, end = np.empty(len(hole), np.int64), np.empty(len(hole), np.int64)
    inner = np.ones(len(hole), bool)
    inner[ends] = False
    at = (np.arange(len(hole)) - (ends - count + 1)[hole] + begun[hole])[inner]
    end[inner], end[ends] = edges[at], last
    start[ends - count + 1] = first
    start[1:][inner[:-1]] = end[:-1][inner[:-1]]
    cause = np.full(len(hole), _PLACE[HOST_LATE], np.int8)
    for place in reversed(range(len(STATES))):
        spans = states[STATES[place]]
        running = np.searchsorted(spans.start, start, "right") > np.searchsorted(spans.end, start, "right")
        cause[running] = place
    return Pieces(some[hole], cause, start - holes.shift[some[hole]], end - start)


def parts(holes: Holes, cut: Pieces) -> np.ndarray:
    """Return the parts of each gap in ns, one row per cause in the order of CAUSES."""
    count, length = len(holes.opening), holes.closing - holes.opening
    found = np.zeros((len(CAUSES), count), np.int64)
    for place in range(HOST_CAUSES):
        own = cut.cause == place
        found[place] = sums(cut.hole[own], cut.length[own], count)
    found[_PLACE[UNKNOWN]] = np.where(holes.linked, 0, length)
    late = late_launch(holes)
    reached = holes.reached
    returned = np.minimum(np.maximum(holes.returned, reached), holes.closing)
    waited = np.where(late, holes.closing - returned, 0)
    flying = waited <= LONGEST_FLIGHT_NS
    found[_PLACE[INSIDE_LAUNCH]] = np.where(late, returned - reached, 0)
    found[_PLACE[IN_FLIGHT]] = np.where(flying, waited, 0)
    found[_PLACE[QUEUED]] = np.where(flying, 0, waited)
    early = holes.linked & ~late
    short = early & (length <= LONGEST_TURNAROUND_NS)
    found[_PLACE[TURNAROUND]] = np.where(short & ~holes.same_graph, length, 0)
    found[_PLACE[INSIDE_GRAPH]] = np.where(short & holes.same_graph, length, 0)
    found[_PLACE[QUEUED]] += np.where(early & ~short, length, 0)
    return found


def longest(cut: Pieces, largest: np.ndarray) -> np.ndarray:
    """Return for each gap the longest piece of its largest host cause, -1 where it has none."""
    found = np.full(len(largest), -1, np.int64)
    own = np.flatnonzero(cut.cause == largest[cut.hole])
    order = own[np.lexsort((-own, cut.length[own], cut.hole[own]))]  # at ties the earliest comes last
    found[cut.hole[order]] = order  # of equal indices numpy keeps the last
    return found
