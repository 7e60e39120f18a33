"""Make a Trace of the columns of a document: classify, pair, link, sort, account."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from traceview.builder import TraceBuilder
from traceview.events import DEVICE_WORK, Device, Flag, Kind, Sparse, Steps, Trace
from traceview.sources import linking, pairs, side_tables
from traceview.sources.decimals import MISSING
from traceview.sources.dialects import Dialect
from traceview.sources.lanes import LaneTable, read_lanes
from traceview.sources.metadata import read_devices, read_metadata
from traceview.sources.notices import Facts, account, notices
from traceview.sources.raw import UNNAMED, Argument, Raw, is_id
from traceview.sources.reader import Document
from traceview.sources.schema import MEMORY_FIELDS
from traceview.sources.spellings import DEVICE_NAMES, GRAPH_LAUNCH, HOST_CALL, LAUNCH, STEP
from traceview.sources.tracks import TrackTable, ids_of, make_tracks

_IS_WORK = np.isin(np.arange(256), DEVICE_WORK)


@dataclass
class _Rows:
    """Hold the slices that are kept, in file order, while they are being decided."""

    lane: np.ndarray
    name: np.ndarray
    start: np.ndarray
    dur: np.ndarray
    kind: np.ndarray
    flags: np.ndarray


def assemble(document: Document, file_name: str) -> Trace:
    """Return the Trace of a document, whose columns are consumed."""
    raw = document.raw
    lanes = read_lanes(document)
    paired = _pair(raw, lanes)
    rows, index = _kept(raw, lanes)
    _kinds_by_name(rows, raw.names, lanes)
    args = {
        name: _renumbered(raw.args.pop(name), index) for name in list(raw.args) if name not in MEMORY_FIELDS
    }
    tracks = make_tracks(lanes, rows.lane, args)
    link = _links(rows, args, raw, lanes, tracks)
    _flag_rows(rows, args, link, tracks, raw.names)
    origin = _to_origin(rows)
    facts = _facts(raw, rows, lanes, paired)
    steps = _steps(raw.names, rows)
    closed = paired.closed if index is None else index[paired.closed]
    builder = TraceBuilder(raw.names, tracks.tracks, lanes.categories)
    columns = {
        "start": rows.start,
        "dur": rows.dur,
        "name": rows.name,
        "track": tracks.track,
        "kind": rows.kind,
        "category": lanes.category[rows.lane],
        "flags": rows.flags,
        "link": link,
    }
    del rows, index, link
    raw.drop_rows()
    tracks = tracks.without_rows()
    builder.slices(columns)
    side = side_tables.SideTables(raw, lanes, tracks, origin)
    return builder.build(
        args={name: _sparse(builder, name, args.pop(name)) for name in list(args) if name != "finished"},
        devices=_devices(document, tracks),
        steps=Steps(steps.number, steps.start, steps.dur, builder.moved(steps.row)),
        flows=side.flows(),
        marks=side.marks(),
        counters=side.counters(),
        memory=side.memory(),
        meta=read_metadata(document.metadata, file_name, lanes.dialect.name),
        account=account(document, facts),
        notices=notices(document, facts),
        origin_ns=origin,
        open_ranges=tuple(paired.open_names),
        closed_ranges=builder.moved(closed),
        cut="truncated_input" in document.log.counts,
    )


def _to_origin(rows: _Rows) -> int:
    """Make the first timed slice's start the origin of time, in place; return it in ns of the file."""
    untimed = (rows.flags & Flag.UNTIMED) != 0
    timed_starts = rows.start[~untimed] if untimed.any() else rows.start
    origin = int(timed_starts.min()) if len(timed_starts) else 0
    rows.start -= origin
    rows.start[untimed] = 0
    return origin


@dataclass
class _Paired:
    closed: np.ndarray  # rows of ranges that ended
    open_names: list[str]
    unmatched_ends: int


def _pair(raw: Raw, lanes: LaneTable) -> _Paired:
    """Give every begin its end, by writing the durations into the columns."""
    begin_rows, begin_place = raw.begins
    end_time, end_lane, end_name, end_place = raw.ends
    if not len(begin_rows) and not len(end_time):
        return _Paired(begin_rows, [], 0)
    unnamed = raw.names.index(UNNAMED) if UNNAMED in raw.names else -1
    thread = lanes.thread
    begins = pairs.Ends(
        raw.ts[begin_rows], thread[raw.lane[begin_rows]], _named(raw.name[begin_rows], unnamed), begin_place
    )
    ends = pairs.Ends(end_time, thread[end_lane], _named(end_name, unnamed), end_place)
    result = pairs.pair(begins, ends)
    closed = result.end != pairs.NEVER
    raw.dur[begin_rows[closed]] = result.end[closed] - raw.ts[begin_rows[closed]]
    open_names = [raw.names[n] for n in raw.name[begin_rows[~closed]].tolist()]
    raw.used -= len(open_names) + result.unmatched_ends
    if open_names:
        raw.ignored["begin without an end"] += len(open_names)
    if result.unmatched_ends:
        raw.ignored["end without a begin"] += result.unmatched_ends
    return _Paired(begin_rows[closed], open_names, result.unmatched_ends)


def _named(names: np.ndarray, unnamed: int) -> np.ndarray:
    return np.where(names == unnamed, -1, names)


def _kept(raw: Raw, lanes: LaneTable) -> tuple[_Rows, np.ndarray | None]:
    """Return the slices, and where the rows of the columns went (None: nowhere, all are slices)."""
    lane, name, start, dur = raw.lane, raw.name, raw.ts, raw.dur
    index = None
    kept = dur != MISSING
    if not kept.all():
        place = np.flatnonzero(kept)
        index = np.full(len(dur), -1, np.int32)
        index[place] = np.arange(len(place), dtype=np.int32)
        lane, name, start, dur = lane[place], name[place], start[place], dur[place]
    return _Rows(lane, name, start, dur, lanes.kind[lane], np.zeros(len(lane), np.uint8)), index


def _kinds_by_name(rows: _Rows, names: list[str], lanes: LaneTable) -> None:
    """Decide by name what lanes leave open: launches among calls, copies among kernels."""
    dialect: Dialect = lanes.dialect
    mixed = lanes.by_name[rows.lane]
    if mixed.any():
        for pattern, kind in reversed(DEVICE_NAMES):
            rows.kind[mixed & _matching(pattern, rows.name, names, mixed)] = kind
    if dialect.settle:
        dialect.settle(rows.kind, rows.lane, rows.name, names, lanes.classes)
    if dialect.calls_by_name:
        other = rows.kind == Kind.OTHER
        rows.kind[other & _matching(HOST_CALL, rows.name, names, other)] = Kind.RUNTIME
    calls = rows.kind == Kind.RUNTIME
    rows.kind[calls & _matching(LAUNCH, rows.name, names, calls)] = Kind.LAUNCH


def _matching(pattern: re.Pattern[str], name: np.ndarray, names: list[str], among: np.ndarray) -> np.ndarray:
    """Return which rows have a name that matches, asking each distinct name once."""
    hit = np.zeros(len(names), bool)
    for code in np.flatnonzero(np.bincount(name[among], minlength=len(names))).tolist():
        hit[code] = pattern.search(names[code]) is not None
    matching: np.ndarray = hit[name]
    return matching


def _renumbered(argument: Argument, index: np.ndarray | None) -> Argument:
    """Return an argument by the rows of slices, in their order."""
    rows, values, texts = argument
    if index is not None:
        rows = index[rows]
        kept = rows >= 0
        rows, values = rows[kept], values[kept]
    if len(rows) > 1 and not bool((rows[1:] >= rows[:-1]).all()):
        order = np.argsort(rows, kind="stable")  # a batch brings the spellings one after the other
        rows, values = rows[order], values[order]
    return rows, values, texts


def _links(
    rows: _Rows, args: dict[str, Argument], raw: Raw, lanes: LaneTable, tracks: TrackTable
) -> np.ndarray:
    links = np.full(len(rows.kind), -1, np.int32)
    call_rows = np.flatnonzero((rows.kind == Kind.LAUNCH) | (rows.kind == Kind.RUNTIME))
    work = _work(rows)
    if len(call_rows):
        ends = rows.start[call_rows] + rows.dur[call_rows]
        calls = linking.Calls(call_rows, tracks.track[call_rows], rows.start[call_rows], ends)
        outer = linking.outer_calls(calls)
        rows.flags[call_rows[outer != np.arange(len(outer))]] |= np.uint8(Flag.NESTED_CALL)
        if len(work) and "correlation" in args:
            scope = lanes.scope[rows.lane] if len(lanes.scopes) > 1 else None
            has, work_id = ids_of(args["correlation"], work)
            with_id, call_id = ids_of(args["correlation"], call_rows)
            work_id, call_id = _scoped(scope, (work[has], work_id), (call_rows[with_id], call_id))
            found = linking.link(work_id, rows.start[work[has]], call_id, rows.start[call_rows[with_id]])
            hit = found >= 0
            links[work[has[hit]]] = call_rows[outer[with_id[found[hit]]]]
    if len(work) and len(raw.flows[0]) and not (links[work] >= 0).any():
        links = side_tables.links_by_flow(raw, rows.start, tracks.track, work, lanes).astype(np.int32)
    kernels = np.flatnonzero(rows.kind == Kind.KERNEL)
    launching = links[kernels]
    launching = launching[launching >= 0]
    promoted = launching[rows.kind[launching] == Kind.RUNTIME]
    rows.kind[promoted] = Kind.LAUNCH  # whatever its name, a call whose id a kernel carries launched it
    return links


def _work(rows: _Rows) -> np.ndarray:
    return np.flatnonzero(_IS_WORK[rows.kind])


def _scoped(
    scope: np.ndarray | None, work: tuple[np.ndarray, np.ndarray], calls: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return ids that are equal only within one scope, given (rows, ids) of the work and of the calls."""
    if scope is None:
        return work[1], calls[1]
    rows, ids = np.concatenate([work[0], calls[0]]), np.concatenate([work[1], calls[1]])
    _, id_code = np.unique(ids, return_inverse=True)
    code = id_code * (int(scope.max()) + 1) + scope[rows]
    return code[: len(work[0])], code[len(work[0]) :]


def _flag_rows(
    rows: _Rows, args: dict[str, Argument], link: np.ndarray, tracks: TrackTable, names: list[str]
) -> None:
    work = _work(rows)
    untimed = work[(rows.start[work] == 0) & (rows.dur[work] == 0)]
    rows.flags[untimed] |= np.uint8(Flag.UNTIMED)
    if "finished" in args:
        at, codes, texts = args["finished"]
        if texts and "false" in texts:
            rows.flags[at[codes == texts.index("false")]] |= np.uint8(Flag.UNFINISHED)
    launches = (rows.kind == Kind.LAUNCH) | (rows.kind == Kind.RUNTIME)
    graph_call = launches & _matching(GRAPH_LAUNCH, rows.name, names, launches)
    rows.flags[graph_call] |= np.uint8(Flag.GRAPH)
    linked = work[link[work] >= 0]
    rows.flags[linked[graph_call[link[linked]]]] |= np.uint8(Flag.GRAPH)
    if "graph_node" in args:
        at, nodes, _ = args["graph_node"]
        inside = at[nodes != 0]
        rows.flags[inside[_IS_WORK[rows.kind[inside]]]] |= np.uint8(Flag.GRAPH)
    if "correlation" in args:
        _flag_duplicates(rows, args["correlation"], work, tracks)


def _flag_duplicates(rows: _Rows, correlation: Argument, work: np.ndarray, tracks: TrackTable) -> None:
    candidates = work[(rows.flags[work] & (Flag.GRAPH | Flag.UNTIMED)) == 0]
    has, ids = ids_of(correlation, candidates)
    candidates = candidates[has]
    order = np.argsort(rows.start[candidates], kind="stable")
    candidates, ids = candidates[order], ids[order]
    if len(candidates) > 1:
        keys = (ids, tracks.track[candidates], rows.name[candidates])
        repeated = linking.duplicates(rows.start[candidates], rows.dur[candidates], keys)
        rows.flags[candidates[repeated]] |= np.uint8(Flag.DUPLICATE)


def _facts(raw: Raw, rows: _Rows, lanes: LaneTable, paired: _Paired) -> Facts:
    return Facts(
        untimed_kernels=int(((rows.flags & Flag.UNTIMED) != 0).sum()),
        duplicates=int(((rows.flags & Flag.DUPLICATE) != 0).sum()),
        negative=int(sum(raw.negative_by_lane.values())),
        dropped_device=_dropped_device(raw, lanes),
        open_ranges=len(paired.open_names),
        unmatched_ends=paired.unmatched_ends,
    )


def _sparse(builder: TraceBuilder, name: str, argument: Argument) -> Sparse:
    rows, values, texts = argument
    return builder.sparse(rows, values, None if is_id(name) else texts)


def _dropped_device(raw: Raw, lanes: LaneTable) -> int:
    dropped = raw.untimed_by_lane + raw.negative_by_lane
    return sum(n for lane, n in dropped.items() if int(lanes.kind[lane]) in DEVICE_WORK)


def _devices(document: Document, tracks: TrackTable) -> tuple[Device, ...]:
    known = read_devices(document.metadata)
    used = dict.fromkeys(t.device for t in tracks.tracks if t.is_device and t.device is not None)
    listed = {key: known.get(key, known.get(key.rpartition("/")[2]) or Device(key)) for key in used}
    return tuple(Device(key, d.name, d.properties) for key, d in listed.items()) or tuple(known.values())


def _steps(names: list[str], rows: _Rows) -> Steps:
    """Return the annotated steps, their rows in file order."""
    numbers = {code: int(m[1]) for code, name in enumerate(names) if (m := STEP.match(name))}
    found = (
        np.flatnonzero((rows.kind == Kind.ANNOTATION) | (rows.kind == Kind.OP))
        if numbers
        else np.empty(0, np.int64)
    )
    found = found[np.isin(rows.name[found], list(numbers))] if len(found) else found
    found = found[np.argsort(rows.start[found], kind="stable")]
    number = np.array([numbers[c] for c in rows.name[found].tolist()], np.int64)
    return Steps(number, rows.start[found], rows.dur[found], found)
