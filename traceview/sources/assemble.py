"""Make a Trace of the columns of a document: classify, pair, link, sort, account."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from traceview.events import DEVICE_WORK, HOST_CALLS, Device, Flag, Kind, Slices, Steps, Trace, TraceBuilder
from traceview.sources import linking, pairs, side_tables
from traceview.sources.decimals import MISSING
from traceview.sources.dialects import Dialect
from traceview.sources.lanes import LaneTable, read_lanes
from traceview.sources.metadata import read_devices, read_metadata
from traceview.sources.notices import Facts, account, notices
from traceview.sources.raw import UNNAMED, Argument, Raw, is_id
from traceview.sources.reader import Document
from traceview.sources.spellings import DEVICE_NAMES, GRAPH_LAUNCH, HOST_CALL, LAUNCH, STEP
from traceview.sources.tracks import TrackTable, make_tracks


@dataclass
class _Rows:
    """Hold the slices that are kept, in file order, while they are being decided."""

    place: np.ndarray  # the row in the collected columns
    lane: np.ndarray
    name: np.ndarray
    start: np.ndarray
    dur: np.ndarray
    kind: np.ndarray
    flags: np.ndarray


def assemble(document: Document, file_name: str) -> Trace:
    """Return the Trace of a document."""
    raw = document.raw
    lanes = read_lanes(document)
    paired = _pair(raw, lanes)
    rows = _kept(raw, lanes)
    _kinds_by_name(rows, raw.names, lanes)
    index = np.full(len(raw.lane) + 1, -1, np.int32)
    index[rows.place] = np.arange(len(rows.place), dtype=np.int32)
    args = {name: _renumbered(a, index) for name, a in raw.args.items() if not name.startswith("memory_") or name == "memory_details"}
    tracks = make_tracks(lanes, rows.lane, args)
    link = _links(rows, args, raw, lanes, tracks)
    _flag_rows(rows, args, link, tracks, raw.names)
    timed = (rows.flags & Flag.UNTIMED) == 0
    origin = int(rows.start[timed].min()) if timed.any() else 0
    start = np.where(timed, rows.start - origin, 0)
    builder = TraceBuilder(raw.names, tracks.tracks, lanes.categories)
    raw.lane = raw.name = raw.ts = raw.dur = np.empty(0, np.int64)  # the trace has its own copies
    builder.slices(
        Slices(start, rows.dur, rows.name, tracks.track, rows.kind, lanes.category[rows.lane], rows.flags, link)
    )
    return _finish(document, file_name, lanes, builder, _Finish(rows, args, tracks, origin, paired, index))


@dataclass
class _Paired:
    closed: np.ndarray  # rows of ranges that ended
    open_names: list[str]
    unmatched_ends: int


@dataclass
class _Finish:
    rows: _Rows
    args: dict[str, Argument]
    tracks: TrackTable
    origin: int
    paired: _Paired
    index: np.ndarray


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
    closed = result.end >= 0
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


def _kept(raw: Raw, lanes: LaneTable) -> _Rows:
    kept = raw.dur != MISSING
    place = np.flatnonzero(kept).astype(np.int32)
    if kept.all():
        lane, name, start, dur = raw.lane, raw.name, raw.ts, raw.dur
    else:
        lane, name, start, dur = raw.lane[place], raw.name[place], raw.ts[place], raw.dur[place]
    return _Rows(place, lane, name, start, dur, lanes.kind[lane], np.zeros(len(place), np.uint8))


def _kinds_by_name(rows: _Rows, names: list[str], lanes: LaneTable) -> None:
    """Decide by name what lanes leave open: launches among calls, copies among kernels."""
    dialect: Dialect = lanes.dialect
    mixed = lanes.by_name[rows.lane]
    if mixed.any():
        for pattern, kind in reversed(DEVICE_NAMES):
            rows.kind[mixed & _matching(pattern, rows.name, names, mixed)] = kind
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
    return hit[name]


def _renumbered(
    argument: Argument, index: np.ndarray
) -> Argument:
    rows, values, texts = argument
    placed = index[rows]
    kept = placed >= 0
    return (placed, values, texts) if kept.all() else (placed[kept], values[kept], texts)


def _links(
    rows: _Rows,
    args: dict[str, Argument],
    raw: Raw,
    lanes: LaneTable,
    tracks: TrackTable,
) -> np.ndarray:
    count = len(rows.kind)
    links = np.full(count, -1, np.int32)
    call_rows = np.flatnonzero((rows.kind == Kind.LAUNCH) | (rows.kind == Kind.RUNTIME))
    work = np.flatnonzero(np.isin(rows.kind, DEVICE_WORK))
    if len(call_rows):
        ends = rows.start[call_rows] + rows.dur[call_rows]
        calls = linking.Calls(call_rows, tracks.track[call_rows], rows.start[call_rows], ends)
        outer = linking.outer_calls(calls)
        inner = outer != np.arange(len(outer))
        rows.flags[call_rows[inner]] |= np.uint8(Flag.NESTED_CALL)
        if len(work) and "correlation" in args:
            dense = np.full(count, MISSING)
            dense[args["correlation"][0]] = args["correlation"][1]
            work_id, call_id = _scoped(dense, work, call_rows, lanes.scope[rows.lane])
            has = np.flatnonzero(dense[work] != MISSING)
            with_id = np.flatnonzero(dense[call_rows] != MISSING)
            found = linking.link(work_id[has], rows.start[work[has]], call_id[with_id], rows.start[call_rows[with_id]])
            hit = found >= 0
            links[work[has[hit]]] = call_rows[outer[with_id[found[hit]]]]
    if len(work) and not (links >= 0).any() and len(raw.flows[0]):
        links = side_tables.links_by_flow(raw, rows.start, tracks.track, work, lanes).astype(np.int32)
    kernels = np.flatnonzero(rows.kind == Kind.KERNEL)
    launching = links[kernels]
    launching = launching[launching >= 0]
    promoted = launching[rows.kind[launching] == Kind.RUNTIME]
    rows.kind[promoted] = Kind.LAUNCH  # whatever its name, a call whose id a kernel carries launched it
    return links


def _scoped(dense: np.ndarray, work: np.ndarray, calls: np.ndarray, scope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ids that are equal only within one scope."""
    if not scope.any():
        return dense[work], dense[calls]
    both = np.concatenate([work, calls])
    _, id_code = np.unique(dense[both], return_inverse=True)
    code = id_code * (int(scope.max()) + 1) + scope[both]
    return code[: len(work)], code[len(work) :]


def _flag_rows(
    rows: _Rows,
    args: dict[str, Argument],
    link: np.ndarray,
    tracks: TrackTable,
    names: list[str],
) -> None:
    work = np.flatnonzero(np.isin(rows.kind, DEVICE_WORK))
    untimed = work[(rows.start[work] == 0) & (rows.dur[work] == 0)]
    rows.flags[untimed] |= np.uint8(Flag.UNTIMED)
    if "finished" in args:
        at, codes, texts = args["finished"]
        if texts and "false" in texts:
            rows.flags[at[codes == texts.index("false")]] |= np.uint8(Flag.UNFINISHED)
    launches = np.isin(rows.kind, HOST_CALLS)
    graph_call = launches & _matching(GRAPH_LAUNCH, rows.name, names, launches)
    rows.flags[graph_call] |= np.uint8(Flag.GRAPH)
    linked = work[link[work] >= 0]
    rows.flags[linked[graph_call[link[linked]]]] |= np.uint8(Flag.GRAPH)
    if "graph_node" in args:
        nodes = args["graph_node"]
        inside = nodes[0][nodes[1] != 0]
        rows.flags[inside[np.isin(rows.kind[inside], DEVICE_WORK)]] |= np.uint8(Flag.GRAPH)
    if "correlation" in args:
        _flag_duplicates(rows, args["correlation"], work, tracks)


def _flag_duplicates(
    rows: _Rows, correlation: Argument, work: np.ndarray, tracks: TrackTable
) -> None:
    ids = np.full(len(rows.kind), MISSING)
    ids[correlation[0]] = correlation[1]
    candidates = work[((rows.flags[work] & (Flag.GRAPH | Flag.UNTIMED)) == 0) & (ids[work] != MISSING)]
    candidates = candidates[np.argsort(rows.start[candidates], kind="stable")]
    if len(candidates) > 1:
        keys = (ids[candidates], tracks.track[candidates], rows.name[candidates])
        repeated = linking.duplicates(rows.start[candidates], rows.dur[candidates], keys)
        rows.flags[candidates[repeated]] |= np.uint8(Flag.DUPLICATE)


def _finish(document: Document, file_name: str, lanes: LaneTable, builder: TraceBuilder, parts: _Finish) -> Trace:
    raw = document.raw
    rows, args = parts.rows, parts.args
    sparse = {
        name: builder.sparse(*args[name][:2], None if is_id(name) else args[name][2])
        for name in list(args)
        if name != "finished"
    }
    devices = _devices(document, parts.tracks)
    facts = Facts(
        untimed_kernels=int(((rows.flags & Flag.UNTIMED) != 0).sum()),
        duplicates=int(((rows.flags & Flag.DUPLICATE) != 0).sum()),
        negative=int(sum(raw.negative_by_lane.values())),
        dropped_device=_dropped_device(raw, lanes),
        open_ranges=len(parts.paired.open_names),
        unmatched_ends=parts.paired.unmatched_ends,
    )
    side = side_tables.SideTables(raw, lanes, parts.tracks, parts.origin)
    return builder.build(
        args=sparse,
        devices=devices,
        steps=_steps(raw.names, rows, builder, parts.origin),
        flows=side.flows(),
        marks=side.marks(),
        counters=side.counters(),
        memory=side.memory(),
        meta=read_metadata(document.metadata, file_name, lanes.dialect.name),
        account=account(document, facts),
        notices=notices(document, facts),
        origin_ns=parts.origin,
        open_ranges=tuple(parts.paired.open_names),
        closed_ranges=builder.moved(parts.index[parts.paired.closed]),
        cut="truncated_input" in document.log.counts,
    )


def _dropped_device(raw: Raw, lanes: LaneTable) -> int:
    dropped = raw.untimed_by_lane + raw.negative_by_lane
    return sum(n for lane, n in dropped.items() if int(lanes.kind[lane]) in DEVICE_WORK)


def _devices(document: Document, tracks: TrackTable) -> tuple[Device, ...]:
    known = read_devices(document.metadata)
    used = dict.fromkeys(t.device for t in tracks.tracks if t.is_device and t.device is not None)
    listed = {key: known.get(key, known.get(key.rpartition("/")[2]) or Device(key)) for key in used}
    return tuple(Device(key, d.name, d.properties) for key, d in listed.items()) or tuple(known.values())


def _steps(names: list[str], rows: _Rows, builder: TraceBuilder, origin: int) -> Steps:
    numbers = {code: int(m[1]) for code, name in enumerate(names) if (m := STEP.match(name))}
    found = np.flatnonzero((rows.kind == Kind.ANNOTATION) | (rows.kind == Kind.OP)) if numbers else np.empty(0, np.int64)
    found = found[np.isin(rows.name[found], list(numbers))] if len(found) else found
    order = np.argsort(rows.start[found], kind="stable")
    found = found[order]
    number = np.array([numbers[c] for c in rows.name[found].tolist()], np.int64)
    return Steps(number, rows.start[found] - origin, rows.dur[found], builder.moved(found))

