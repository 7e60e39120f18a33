"""What the device did for each annotated phase: ranges of the host, projected by what they launched.

A device record belongs to every annotation that encloses its launch on the launching thread. The
device's time for a range runs from its first to its last record, whatever other ranges do meanwhile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from traceview.analyses.axes import shifts
from traceview.analyses.grouping import compact, sums, texts
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind
from traceview.tables import Table, column

STEP = re.compile(r"^ProfilerStep#\d+$")


@dataclass(frozen=True, eq=False)
class Phases(Table):
    """Hold one row per annotation name, by first appearance; ranges of one name are added up.

    The device columns hold 0 for a phase that launched nothing.
    """

    name: np.ndarray = column("name of the annotation", "text")
    depth: np.ndarray = column("annotations around its first range", "count")
    calls: np.ndarray = column("ranges of this name", "count")
    host: np.ndarray = column("added host time of the ranges", "ns")
    launches: np.ndarray = column("launches inside the ranges", "count")
    span: np.ndarray = column("added time from first to last device record of each range", "ns")
    compute: np.ndarray = column("union of its compute kernels, per range", "ns")
    collective: np.ndarray = column("its collectives under none of its compute kernels", "ns")
    copy: np.ndarray = column("its copies and fills under none of its kernels", "ns")
    idle: np.ndarray = column("span in which none of its records runs; other work may", "ns")


def phases(workspace: Workspace) -> Phases:
    """Return the phases of a trace."""
    trace, nesting, work = workspace.trace, workspace.nesting, workspace.work
    kind = trace.slices.kind[nesting.rows]
    ranges = np.flatnonzero(kind == Kind.ANNOTATION)
    place = np.full(len(kind) + 1, -1, np.int64)
    place[ranges] = np.arange(len(ranges))
    linked = np.flatnonzero(work.link >= 0)
    record, of_range = _enclosing(workspace, nesting.at(work.link[linked]), place)
    record = linked[record]
    span, parts = _projected(workspace, record, of_range, len(ranges))
    calls = np.flatnonzero(
        (kind == Kind.LAUNCH) & ((trace.slices.flags[nesting.rows] & Flag.NESTED_CALL) == 0)
    )
    _, around_call = _enclosing(workspace, calls, place)
    launched = np.bincount(around_call, minlength=len(ranges))
    rows = nesting.rows[ranges]
    used, group = compact(trace.slices.name[rows], len(trace.names))
    labels = [STEP.sub("ProfilerStep*", trace.names[n]) for n in used.tolist()]  # as key_averages() has them
    names = list(dict.fromkeys(labels))
    place_of = {name: i for i, name in enumerate(names)}
    group = np.array([place_of[label] for label in labels], np.int64)[group]
    first = np.full(len(names), len(trace), np.int64)
    np.minimum.at(first, group, rows)
    depth = np.zeros(len(names), np.int64)
    around = _annotations_above(workspace, ranges, place)
    depth[group[::-1]] = around[::-1]  # the first range of a name is written last
    figures = (trace.slices.dur[rows], launched, span, *parts)
    added = [sums(group, values, len(names)) for values in figures]
    calls_of = np.bincount(group, minlength=len(names)) if len(rows) else np.zeros(0, np.int64)
    table = Phases(texts(names), depth, calls_of, *added)
    return table.take(np.argsort(first, kind="stable"))


def _enclosing(workspace: Workspace, at: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs (index into `at`, range) of positions and the annotations above them."""
    parent = workspace.nesting.parent
    index = np.arange(len(at))
    found: list[np.ndarray] = []
    pairs: list[np.ndarray] = []
    at = parent[at] if len(at) else at
    while len(index):
        alive = at >= 0
        index, at = index[alive], at[alive]
        hit = place[at] >= 0
        found.append(index[hit])
        pairs.append(place[at[hit]])
        at = parent[at]
    empty = np.empty(0, np.int64)
    return (np.concatenate(found) if found else empty, np.concatenate(pairs) if pairs else empty)


def _annotations_above(workspace: Workspace, ranges: np.ndarray, place: np.ndarray) -> np.ndarray:
    index, _ = _enclosing(workspace, ranges, place)
    return np.bincount(index, minlength=len(ranges))


def _projected(
    workspace: Workspace, record: np.ndarray, of_range: np.ndarray, count: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return per range the device span, and its parts: compute, collective, copy, idle (they add up)."""
    work = workspace.work
    order = np.lexsort((work.start[record], of_range))
    record, of_range = record[order], of_range[order]
    kernel = work.kind[record] == Kind.KERNEL
    compute = _covered(workspace, record, of_range, workspace.compute[record], count)
    kernels = _covered(workspace, record, of_range, kernel, count)
    busy = _covered(workspace, record, of_range, np.ones(len(record), bool), count)
    first = np.zeros(count, np.int64)
    last = np.zeros(count, np.int64)
    first[of_range[::-1]] = work.start[record[::-1]]
    np.maximum.at(last, of_range, work.end[record])
    span = last - first
    return span, (compute, kernels - compute, busy - kernels, span - busy)


def _covered(
    workspace: Workspace, record: np.ndarray, of_range: np.ndarray, mask: np.ndarray, count: int
) -> np.ndarray:
    """Return the length of the union of each range's records (sorted by range, then start)."""
    record, of_range = record[mask], of_range[mask]
    if not len(record):
        return np.zeros(count, np.int64)
    work = workspace.work
    # each range in a stretch of its own, so that one running maximum serves all
    base = shifts(of_range, work.start[record], work.end[record], count)[of_range]
    start, end = base + work.start[record], base + work.end[record]
    reach = np.maximum.accumulate(end)
    before = np.concatenate(([0], reach[:-1]))
    return sums(of_range, np.maximum(end - np.maximum(start, before), 0), count)
