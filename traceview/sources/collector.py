"""Turn decoded events into columns, a batch at a time, so that memory grows with columns only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import orjson
from msgspec.structs import astuple

from traceview.sources.columns import ArgumentColumn, Interner, opaque_ids
from traceview.sources.decimals import MISSING, nanoseconds
from traceview.sources.raw import PHASES, UNNAMED, Lane, Phase, Raw
from traceview.sources.schema import (
    ARGUMENTS,
    EMPTY,
    GROUP_OF_CATEGORY,
    GROUPS,
    UNDECODABLE,
    Event,
    GroupSchema,
    group_schema,
)

BATCH = 1 << 14
_SIDES = {"s": 0, "t": 1, "f": 2}
_LITERAL_EMPTY = re.compile(rb"(?:^|(?<=[\[,\s]))\{\s*\}")


_GROUP_NAMES = tuple(GROUPS)
_WIDE = _GROUP_NAMES.index("wide")
_NAMES_OF_META = frozenset(
    {"process_name", "thread_name", "process_labels", "process_sort_index", "thread_sort_index"}
)


@dataclass
class _Parts:
    """Collect arrays per column, to be joined once."""

    columns: int
    parts: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def join(self) -> tuple[np.ndarray, ...]:
        if not self.parts:
            return tuple(np.empty(0, np.int64) for _ in range(self.columns))
        joined = tuple(np.concatenate([p[i] for p in self.parts]) for i in range(self.columns))
        self.parts = []
        return joined


class Collector:
    """Take events in file order and keep what Raw describes."""

    def __init__(self) -> None:
        self._decode: Callable[[bytes], list[Event]] = msgspec.json.Decoder(list[Event]).decode
        self._lanes, self._names = _Lanes(), _Names()
        self._batch: tuple[list[Any], ...] = ([], [], [], [], [], [])
        self._phase_of_lane: list[int] = []
        self._group_of_lane: list[int] = []
        self._groups = [group_schema(g) for g in _GROUP_NAMES]
        self._args = {name: ArgumentColumn(a) for name, a in ARGUMENTS.items()}
        self._rows, self._begins = _Parts(4), _Parts(2)
        self._ends, self._flows, self._marks = _Parts(4), _Parts(4), _Parts(4)
        self._counters: tuple[list[Any], ...] = ([], [], [], [], [])
        self._labels: dict[str, dict[Any, str]] = {name: {} for name in _NAMES_OF_META}
        self._flow_ids = Interner()
        self._count = self._events_read = self._used = self._flushed = self._literal_empties = 0
        self.ignored: Counter[str] = Counter()
        self._untimed_by_lane: Counter[int] = Counter()
        self._negative_by_lane: Counter[int] = Counter()

    def add(self, piece: bytes) -> None:
        """Decode the text of an array of events and keep them; raise msgspec errors, keeping nothing."""
        self.extend(self._decode(piece), piece)

    def extend(self, events: Sequence[Event], text: bytes) -> None:
        """Keep decoded events, in order; `text` is what they were decoded from."""
        if not events:
            return
        ph, cat, name, pid, tid, ts, dur, ids, args = zip(*map(astuple, events), strict=True)
        lanes, names, stamps, durations, all_ids, all_args = self._batch
        try:
            lane_codes = list(map(self._lanes.__getitem__, zip(ph, cat, pid, tid, strict=True)))
            name_codes = list(map(self._names.__getitem__, name))
        except TypeError:  # a list or an object where a name or an id belongs
            for e in events:
                e.ph, e.cat, e.name, e.pid, e.tid = map(_hashable, (e.ph, e.cat, e.name, e.pid, e.tid))
            self.extend(events, text)
            return
        if None in ph:
            self._literal_empties += len(_LITERAL_EMPTY.findall(text))
        lanes += lane_codes
        names += name_codes
        stamps += ts
        durations += dur
        all_ids += ids
        all_args += args
        self._events_read += len(events)
        if len(lanes) >= BATCH:
            self._flush()

    def ignore(self, reason: str, count: int = 1) -> None:
        """Count events that were read but cannot be kept."""
        self._events_read += count
        self.ignored[reason] += count

    @property
    def events_read(self) -> int:
        """Return how many events were seen so far."""
        return self._events_read

    def _flush(self) -> None:
        lanes, names, stamps, durations, ids, args = self._batch
        self._batch = ([], [], [], [], [], [])
        if not lanes:
            return
        for ph, cat, pid, tid in self._lanes.keys_in_order[len(self._phase_of_lane) :]:
            empty = ph is None and cat is None and pid is None and tid is None
            phase = Phase.EMPTY if empty else Phase.NONE if ph is None else PHASES.get(ph, Phase.OTHER)
            self._phase_of_lane.append(phase)
            group = GROUP_OF_CATEGORY.get(str(cat).lower(), "wide")
            self._group_of_lane.append(_GROUP_NAMES.index(group))
        lane = np.fromiter(lanes, np.int32, len(lanes))
        batch = _Batch(
            self._flushed,
            lane,
            np.fromiter(names, np.int32, len(names)),
            nanoseconds(stamps),
            stamps,
            durations,
            ids,
            args,
        )
        self._flushed += len(lane)
        phases = np.array(self._phase_of_lane, np.uint8)[lane]
        counts = np.bincount(phases, minlength=len(Phase))
        for phase, handle in (
            (Phase.SLICE, self._slices),
            (Phase.BEGIN, self._slices),
            (Phase.END, self._end),
            (Phase.FLOW, self._flow),
            (Phase.MARK, self._mark),
            (Phase.COUNTER, self._counter),
            (Phase.META, self._meta),
        ):
            if counts[phase]:
                chosen = (
                    np.arange(len(lane)) if counts[phase] == len(lane) else np.flatnonzero(phases == phase)
                )
                handle(batch, chosen)
        self._ignore_phases(counts)

    def _ignore_phases(self, counts: np.ndarray) -> None:
        none = int(counts[Phase.NONE])
        if counts[Phase.EMPTY]:
            # `{}` is silent, and an object of nothing but unknown keys decodes like it: the text told them apart
            silent = min(self._literal_empties, int(counts[Phase.EMPTY]))
            self._literal_empties -= silent
            none += int(counts[Phase.EMPTY]) - silent
            if silent:
                self.ignored["empty object"] += silent
        if none:
            self.ignored["no phase"] += none
        if counts[Phase.OTHER]:
            self.ignored["phase not drawn (async, object, clock)"] += int(counts[Phase.OTHER])

    def _slices(self, batch: _Batch, chosen: np.ndarray) -> None:
        lane, ts = batch.lane[chosen], batch.ts[chosen]
        begin = self._phase_of_lane[lane[0]] == Phase.BEGIN
        if begin:
            dur = np.full(len(chosen), MISSING)
            bad = ts == MISSING
        else:
            texts = batch.durations
            dur = nanoseconds(texts if len(chosen) == len(texts) else [texts[i] for i in chosen.tolist()])
            bad = (ts == MISSING) | (dur == MISSING)
            negative = ~bad & (dur < 0)
            if negative.any():
                self._negative_by_lane.update(lane[negative].tolist())
                self.ignored["negative duration"] += int(negative.sum())
        if bad.any():
            self._untimed_by_lane.update(lane[bad].tolist())
            self.ignored["no start or no duration"] += int(bad.sum())
        drop = bad if begin else bad | negative
        if drop.any():
            keep = np.flatnonzero(~drop)
            lane, ts, dur, chosen = lane[keep], ts[keep], dur[keep], chosen[keep]
        first, self._count = self._count, self._count + len(chosen)
        self._rows.parts.append((lane, batch.name[chosen], ts, dur))
        if begin:
            self._begins.parts.append((np.arange(first, self._count), chosen + batch.first))
        self._used += len(chosen)
        self._arguments(batch, chosen, np.arange(first, self._count, dtype=np.int32))

    def _arguments(self, batch: _Batch, chosen: np.ndarray, rows: np.ndarray) -> None:
        groups = np.array(self._group_of_lane, np.uint8)[batch.lane[chosen]]
        for group in np.flatnonzero(np.bincount(groups)).tolist():
            inside = np.flatnonzero(groups == group)
            where = chosen[inside].tolist()
            raws = list(itemgetter(*where)(batch.args)) if len(where) > 1 else [batch.args[where[0]]]
            if raws.count(EMPTY):
                keep = [i for i, raw in enumerate(raws) if raw is not EMPTY]
                inside, raws = inside[keep], [raws[i] for i in keep]
            if raws:
                self._decode_group(self._groups[group], raws, rows[inside])

    def _decode_group(self, group: GroupSchema, raws: list[msgspec.Raw], rows: np.ndarray) -> None:
        text = b"[" + b",".join(raws) + b"]"
        try:
            decoded = group.strict(text)
            for argument, column in zip(
                group.arguments, zip(*map(astuple, decoded), strict=True), strict=True
            ):
                self._args[argument.name].add_strict(rows, column)
            return
        except UNDECODABLE:
            pass
        try:
            decoded = group.loose(text)
        except UNDECODABLE:  # null, a list, a number beyond double: keep the others
            decoded, kept_rows = [], []
            for raw, row in zip(raws, rows.tolist(), strict=True):
                try:
                    decoded.append(group.loose_one(raw))
                    kept_rows.append(row)
                except UNDECODABLE:
                    continue  # arguments are extras: the event itself stays
            rows = np.array(kept_rows, np.int32)
        if decoded:
            for argument, column in zip(
                group.arguments, zip(*map(astuple, decoded), strict=True), strict=True
            ):
                self._args[argument.name].add(rows, column)

    def _end(self, batch: _Batch, chosen: np.ndarray) -> None:
        timed = batch.ts[chosen] != MISSING
        if not timed.all():
            self.ignored["no start or no duration"] += int((~timed).sum())
            chosen = chosen[timed]
        self._ends.parts.append(
            (batch.ts[chosen], batch.lane[chosen], batch.name[chosen], chosen + batch.first)
        )
        self._used += len(chosen)

    def _flow(self, batch: _Batch, chosen: np.ndarray) -> None:
        side = np.array([_SIDES.get(ph, 0) for ph, *_ in self._lanes.keys_in_order], np.uint8)
        ids = opaque_ids([batch.ids[i] for i in chosen.tolist()], self._flow_ids)
        lane = batch.lane[chosen]
        self._flows.parts.append((batch.ts[chosen], lane, ids, side[lane]))
        self._used += len(chosen)

    def _mark(self, batch: _Batch, chosen: np.ndarray) -> None:
        timed = batch.ts[chosen] != MISSING
        if not timed.all():
            self.ignored["no start or no duration"] += int((~timed).sum())
            chosen = chosen[timed]
        first, self._count = self._count, self._count + len(chosen)
        rows = np.arange(first, self._count)
        self._marks.parts.append((batch.ts[chosen], batch.lane[chosen], batch.name[chosen], rows))
        self._used += len(chosen)
        self._arguments(batch, chosen, rows.astype(np.int32))
        # marks share the row numbers of slices while reading, so that arguments have one home
        blank = np.full(len(chosen), MISSING)
        self._rows.parts.append((batch.lane[chosen], batch.name[chosen], batch.ts[chosen], blank))

    def _counter(self, batch: _Batch, chosen: np.ndarray) -> None:
        for i in chosen.tolist():
            series = _loads(batch.args[i])
            for key, value in series.items():
                if isinstance(value, (int, float)) and batch.ts[i] != MISSING:
                    row = (int(batch.ts[i]), int(batch.lane[i]), int(batch.name[i]), str(key), float(value))
                    for column, item in zip(self._counters, row, strict=True):
                        column.append(item)
        self._used += len(chosen)

    def _meta(self, batch: _Batch, chosen: np.ndarray) -> None:
        lanes, names = self._lanes.keys_in_order, self._names.texts
        for i in chosen.tolist():
            name = names[batch.name[i]]
            self._used += 1
            if name not in _NAMES_OF_META:
                continue
            args = _loads(batch.args[i])
            value = args.get("name", args.get("labels", args.get("sort_index")))
            _, _, pid, tid = lanes[batch.lane[i]]
            key = pid if name.startswith("process") else (pid, tid)
            if value is not None:
                self._labels[name][key] = str(value)

    def finish(self) -> Raw:
        """Return everything collected; the collector is empty after that."""
        self._flush()
        lane, name, ts, dur = self._rows.join()
        args = {n: c.finish() for n, c in self._args.items()}
        return Raw(
            lanes=[Lane(*lane) for lane in self._lanes.keys_in_order],
            names=self._names.texts,
            lane=lane.astype(np.int32, copy=False),
            name=name.astype(np.int32, copy=False),
            ts=ts,
            dur=dur,
            begins=self._begins.join(),
            ends=self._ends.join(),
            flows=self._flows.join(),
            flow_ids=[str(k) for k in self._flow_ids],
            marks=self._marks.join(),
            counters=self._counters,
            args={n: a for n, a in args.items() if len(a[0])},
            labels=self._labels,
            events_read=self._events_read,
            events_seen=self._flushed,
            used=self._used,
            ignored=self.ignored,
            untimed_by_lane=self._untimed_by_lane,
            negative_by_lane=self._negative_by_lane,
        )


class _Lanes(dict[Any, int]):
    """Give every lane its code, and keep the lanes in the order of their codes."""

    def __init__(self) -> None:
        super().__init__()
        self.keys_in_order: list[tuple[Any, ...]] = []

    def __missing__(self, key: tuple[Any, ...]) -> int:
        code = self[key] = len(self.keys_in_order)
        self.keys_in_order.append(key)
        return code


class _Names(dict[Any, int]):
    """Give every name its code; a missing name is "(unnamed)", one that is no text becomes text."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, key: object) -> int:
        if isinstance(key, str):
            code = len(self.texts)
            self.texts.append(key)
        else:
            code = self[UNNAMED if key is None else str(key)]
        self[key] = code
        return code


class _Batch(NamedTuple):
    first: int
    lane: np.ndarray
    name: np.ndarray
    ts: np.ndarray
    stamps: list[msgspec.Raw]
    durations: list[msgspec.Raw]
    ids: list[Any]
    args: list[msgspec.Raw]


def _loads(raw: msgspec.Raw) -> dict[str, Any]:
    if not len(raw):
        return {}
    try:
        value = orjson.loads(bytes(raw))
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _hashable(value: object) -> object:
    return value if value is None or isinstance(value, (str, int, float)) else repr(value)
