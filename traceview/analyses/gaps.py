"""When each device did nothing at all, and why.

A gap is a stretch of a device's span in which none of its streams has work. gap_parts cuts it into
parts by cause.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from traceview.analyses.gap_parts import (
    CAUSES,
    HOST_CAUSES,
    INSIDE_LAUNCH,
    QUEUED,
    Holes,
    longest,
    parts,
    pieces,
)
from traceview.analyses.gap_slices import GapSlices, slices_of, with_calls
from traceview.analyses.grouping import by_size, sums, texts
from traceview.analyses.host_states import HostStates
from traceview.analyses.stream_waits import waits_of
from traceview.analyses.windows import Windows
from traceview.analyses.workspace import Workspace
from traceview.events import Flag
from traceview.intervals import union
from traceview.tables import Table, column

LENGTH_EDGES_NS = (0, *(m * 10**e for e in range(3, 9) for m in (1, 3)), 10**9)
_PLACE = {column: i for i, (column, _) in enumerate(CAUSES)}
NO_WAIT_RECORDED = "unrecorded device work, another stream or another device"


@dataclass(frozen=True, eq=False)
class Gaps(Table):
    """Hold one row per idle gap, by device, then start. The parts by cause add up to dur."""

    device: np.ndarray = column("device, scoped by rank where the file has several", "text")
    start: np.ndarray = column("opening: end of the work before", "ns")
    dur: np.ndarray = column("length: until any stream of the device has work again", "ns")
    before: np.ndarray = column("name of the work that ended as it opened", "text")
    after: np.ndarray = column("name of the work that ends it", "text")
    launch: np.ndarray = column("row of the host call that launched that work, -1 for none", "id")
    step: np.ndarray = column("place of the step whose window on this device holds it, -1 for none", "id")
    profiler_overhead: np.ndarray = column("part: the profiler had the host", "ns")
    allocation: np.ndarray = column("part: the host allocated, freed or loaded code", "ns")
    data_loading: np.ndarray = column("part: a data loader had the host", "ns")
    synchronisation: np.ndarray = column("part: the host synchronised or copied while blocked", "ns")
    host_late: np.ndarray = column("part: the host did other things before the launch", "ns")
    inside_launch: np.ndarray = column("part: inside the launch call", "ns")
    in_flight: np.ndarray = column("part: launched, on its way, at most 100 us", "ns")
    queued: np.ndarray = column("part: launched, and not started for longer than that", "ns")
    turnaround: np.ndarray = column("part: launched before the gap, which lasts at most 100 us", "ns")
    inside_graph: np.ndarray = column("part: the same, within one graph launch", "ns")
    unknown: np.ndarray = column("part: no launch recorded", "ns")
    cause: np.ndarray = column("cause of the largest part", "text")
    op: np.ndarray = column("innermost operator in the longest slice of the largest host part", "text")
    annotation: np.ndarray = column("innermost annotation there, steps left out", "text")
    python: np.ndarray = column("innermost Python frame there, where recorded", "text")
    wait: np.ndarray = column("where work was queued: the stream wait recorded before its launch", "text")


@dataclass(frozen=True, eq=False)
class _Found:
    """Hold gaps and their device: places in Workspace.work of the records before and after, and rows."""

    holes: Holes
    device: np.ndarray
    before: np.ndarray
    after: np.ndarray
    launch: np.ndarray
    figures: np.ndarray
    slices: GapSlices
    told: np.ndarray  # the slice whose stack stands for the gap, -1 for none


def gaps(workspace: Workspace) -> Gaps:
    """Return every idle gap of every device, with its parts."""
    found = workspace.once(_found)
    return _table(workspace, found, workspace.once(Windows.found).spans.at(found.holes.opening, found.device))


def gap_slices(workspace: Workspace) -> GapSlices:
    """Return the slices of all gaps in which the host sets the pace, each with the host's stack."""
    return workspace.once(_found).slices


def _found(workspace: Workspace) -> _Found:
    states = workspace.once(HostStates.found)
    before, after = _neighbours(workspace)
    holes, launch = _holes(workspace, before, after)
    cut = pieces(holes, states.spans(workspace))
    figures = parts(holes, cut)
    cut = with_calls(cut, holes, figures[_PLACE[INSIDE_LAUNCH]])
    cut, slices = slices_of(workspace, states, cut, holes, launch)
    # the longest slice of the largest part: of what the host did before the launch, or of the launch call
    told = longest(cut, np.argmax(figures[: HOST_CAUSES + 1], axis=0))
    device = workspace.work.device[after]
    return _Found(holes, device, before, after, launch, figures, slices, told)


def _neighbours(workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return the records before and after each gap, as places in `work`, by device, then time.

    Before stands what began last of all that ended there; after, the first of what starts there, one with
    a launch where any has.
    """
    work, (start, end) = workspace.work, workspace.apart
    none = np.empty(0, np.int64)
    if not len(start):
        return none, none
    busy = union(start, end)
    count, limits = len(workspace.devices), np.iinfo(np.int64)
    first, last = np.full(count, limits.max), np.full(count, limits.min)
    np.minimum.at(first, work.device, start)
    np.maximum.at(last, work.device, end)
    some = first <= last
    # records without length may lie before and behind the rest of their device
    opening = np.sort(np.concatenate((first[some], busy.end)))
    closing = np.sort(np.concatenate((busy.start, last[some])))
    real = closing > opening
    opening, closing = opening[real], closing[real]
    by_start, by_end = (np.argsort(time, kind="stable") for time in (start, end))
    before = by_end[np.searchsorted(end[by_end], opening, "right") - 1]
    low, high = (np.searchsorted(start[by_start], closing, side) for side in ("left", "right"))
    linked = np.append(np.flatnonzero(work.link[by_start] >= 0), len(start))
    candidate = linked[np.searchsorted(linked, low)]
    return before, by_start[np.where(candidate < high, candidate, low)]


def _holes(workspace: Workspace, before: np.ndarray, after: np.ndarray) -> tuple[Holes, np.ndarray]:
    """Return the gaps between records, and the rows of the launches that end them, -1 for none."""
    work, s = workspace.work, workspace.trace.slices
    launch = work.link[after]
    linked = launch >= 0
    same = linked & (work.link[before] == launch)
    same[same] = (s.flags[work.row[after[same]]] & Flag.GRAPH) != 0
    called = np.where(linked, s.start[launch], -1)
    returned = np.where(linked, called + s.dur[launch], -1)
    shift = workspace.scope_shift[workspace.scope_of_device[work.device[after]]]
    return Holes(work.end[before], work.start[after], called, returned, linked, same, shift), launch


def _table(workspace: Workspace, found: _Found, step: np.ndarray) -> Gaps:
    names = np.append(texts(workspace.trace.names), "")
    code, work = workspace.trace.slices.name, workspace.work
    largest = np.argmax(found.figures, axis=0) if len(step) else np.empty(0, np.int64)

    def named(rows: np.ndarray) -> np.ndarray:
        chosen: np.ndarray = names[np.where(rows >= 0, code[rows], -1)]
        return chosen

    def told(texts: np.ndarray) -> np.ndarray:
        chosen: np.ndarray = np.append(texts, "")[found.told]
        return chosen

    figures = dict(zip((column for column, _ in CAUSES), found.figures, strict=True))
    queued = np.flatnonzero(found.figures[_PLACE[QUEUED]] > 0)
    wait = np.full(len(step), "", object)
    wait[queued] = waits_of(workspace, found.after[queued], workspace.once(HostStates.found).waits)
    return Gaps(
        device=texts(workspace.devices)[found.device],
        start=found.holes.opening,
        dur=found.holes.closing - found.holes.opening,
        before=names[work.name[found.before]],
        after=names[work.name[found.after]],
        launch=found.launch.astype(np.int64),
        step=step,
        **figures,
        cause=texts(label for _, label in CAUSES)[largest],
        op=told(found.slices.op),
        annotation=told(found.slices.annotation),
        python=told(found.slices.python),
        wait=wait,
    )


def gaps_of_steps(
    table: Gaps, slices: GapSlices, steps: np.ndarray, place: np.ndarray
) -> tuple[Gaps, GapSlices]:
    """Return the gaps inside the windows of some steps (places, in order), and their slices.

    `place` leads from rows of the trace to those of another. No gap lies across the edge of a window:
    it begins and ends as a record begins, the last one ends with a record that nothing outlasts.
    """
    held = np.flatnonzero(np.isin(table.step, steps))
    of_gap = np.full(len(table), -1, np.int64)
    of_gap[held] = np.arange(len(held))
    found, kept = table.take(held), slices.take(np.flatnonzero(of_gap[slices.gap] >= 0))
    found = replace(found, step=np.searchsorted(steps, found.step), launch=place[found.launch])
    return found, replace(kept, gap=of_gap[kept.gap])


@dataclass(frozen=True, eq=False)
class GapCauses(Table):
    """Hold one row per cause, largest total first; the totals add up to the idle time of all devices."""

    cause: np.ndarray = column("cause of the parts", "text")
    total: np.ndarray = column("added parts of this cause", "ns")
    gaps: np.ndarray = column("gaps that have such a part", "count")
    inside_steps: np.ndarray = column(
        "of the total, in gaps inside a step's window on the gap's device", "ns"
    )
    outside_steps: np.ndarray = column("the rest", "ns")
    share: np.ndarray = column("total by the idle time of all devices", "share")


def gap_causes(table: Gaps) -> GapCauses:
    """Return what the idle time of all devices went to; every cause has a row."""
    idle = int(table.dur.sum())
    inside = table.step >= 0
    values = [getattr(table, name) for name, _ in CAUSES]
    total = np.array([v.sum() for v in values], np.int64)
    within = np.array([v[inside].sum() for v in values], np.int64)
    some = np.array([np.count_nonzero(v) for v in values], np.int64)
    labels = texts(label for _, label in CAUSES)
    found = GapCauses(labels, total, some, within, total - within, total / max(idle, 1))
    return found.take(by_size(total, labels))


@dataclass(frozen=True, eq=False)
class GapLengths(Table):
    """Hold a histogram of gaps by length, shortest first; every class of LENGTH_EDGES_NS has a row."""

    shortest: np.ndarray = column("lengths from here", "ns")
    longest: np.ndarray = column("to below here, -1 for no end", "ns")
    gaps: np.ndarray = column("gaps of this length", "count")
    total: np.ndarray = column("their added lengths", "ns")


def gap_lengths(table: Gaps) -> GapLengths:
    """Return how many gaps have which length, and what they add up to."""
    edges = np.array(LENGTH_EDGES_NS, np.int64)
    place = np.searchsorted(edges, table.dur, "right") - 1
    number = np.bincount(place, minlength=len(edges)).astype(np.int64)
    return GapLengths(edges, np.append(edges[1:], -1), number, sums(place, table.dur, len(edges)))


def longest_gaps(table: Gaps, most: int) -> np.ndarray:
    """Return the places of the longest gaps, longest first."""
    order: np.ndarray = np.lexsort((table.start, -table.dur))[:most]
    return order
