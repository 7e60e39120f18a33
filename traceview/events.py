"""The columns of a trace, and what they promise.

Time is int64 nanoseconds from the trace's first timed event (`Trace.origin_ns`). Rows are sorted by
start, then by track, longer first, then by their place in the file; durations one unit of the last digit apart
count as equal there, so that a child rounded up stays behind its parent. Every array of a Trace is
read-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traceview.tables import Table, column
from traceview.units import public_label, shown

if TYPE_CHECKING:
    import pandas as pd


class Kind(IntEnum):
    """Say what a slice is; decided once, by the dialect."""

    KERNEL = 1
    COPY = 2
    FILL = 3
    DEVICE_NOTE = 4  # an annotation projected to the device: a mark, no work
    SYNC_RECORD = 5  # the device's record of a wait
    DERIVED = 6  # lanes that repeat other lanes: "XLA Ops", "stream:all", "Overlap Analysis"
    OP = 10
    ANNOTATION = 11  # record_function, ProfilerStep, NVTX-like ranges
    PYTHON = 12
    LAUNCH = 13  # a host call that enqueues kernels or a graph
    RUNTIME = 14  # any other runtime or driver call: copy, synchronise, malloc
    OVERHEAD = 15  # the profiler's own time
    SPAN = 16  # marks of the whole window ("PyTorch Profiler (0)")
    OTHER = 17


_KIND_NAMES = {int(k): k.name.lower() for k in Kind}
DEVICE_WORK = (Kind.KERNEL, Kind.COPY, Kind.FILL)
HOST_CALLS = (Kind.LAUNCH, Kind.RUNTIME)


class Flag(IntFlag):
    """Mark a row that needs care."""

    UNTIMED = 1  # a device record without time (ts = dur = 0): its start means nothing
    DUPLICATE = 2  # the second copy of one device record
    UNFINISHED = 4  # still running when the profiler stopped
    NESTED_CALL = 8  # a driver call inside a runtime call: part of it
    GRAPH = 16  # a device record launched by a graph, or a graph launch


@dataclass(frozen=True)
class Track:
    """Name a host thread or a device stream. `scope` tells apart merged ranks or processes."""

    label: str
    process: str
    thread: str
    is_device: bool
    device: str | None = None
    stream: str | None = None
    scope: int = 0
    order: int = 0


@dataclass(frozen=True)
class Device:
    """Describe a device; `properties` are those of the file's white list."""

    key: str
    name: str | None = None
    properties: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sparse:
    """Hold an argument that only some rows carry.

    `rows` ascend; `values` are int64 or float64, or codes into `texts` where that is given. Ids are
    opaque: texts and ids beyond int64 are interned as codes below -2^61.
    """

    rows: np.ndarray
    values: np.ndarray
    texts: list[str] | None = None

    def lookup(self, rows: np.ndarray, missing: float) -> np.ndarray:
        """Return the value (or code) of each row, `missing` where the row has none."""
        found = np.full(len(rows), missing, self.values.dtype if self.texts is None else np.int64)
        if len(self.rows):
            at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            hit = self.rows[at] == rows
            found[hit] = self.values[at[hit]]
        return found

    def text(self, row: int) -> str | None:
        """Return the text of one row, None where it has none."""
        code = int(self.lookup(np.array([row]), -1)[0])
        return None if self.texts is None or code < 0 else self.texts[code]


@dataclass(frozen=True, eq=False)
class Slices(Table):
    """Hold one row per slice: something with a start and a duration on a track."""

    start: np.ndarray = column("start, from the trace's origin", "ns")
    dur: np.ndarray = column("duration, never negative", "ns")
    name: np.ndarray = column("code into Trace.names", "code")
    track: np.ndarray = column("code into Trace.tracks", "code")
    kind: np.ndarray = column("a Kind", "code")
    category: np.ndarray = column("code into Trace.categories: cat as written", "code")
    flags: np.ndarray = column("bits of Flag", "code")
    link: np.ndarray = column("for device work the row of the host call that launched it, -1 for none", "id")


@dataclass(frozen=True, eq=False)
class Steps(Table):
    """Hold the annotated steps (ProfilerStep#N), by start."""

    number: np.ndarray = column("the number in the name", "id")
    start: np.ndarray = column("start", "ns")
    dur: np.ndarray = column("host wall time", "ns")
    row: np.ndarray = column("row of the slice", "id")


@dataclass(frozen=True, eq=False)
class Flows(Table):
    """Hold the ends of flow arrows."""

    time: np.ndarray = column("time of this end", "ns")
    track: np.ndarray = column("track of this end", "code")
    id: np.ndarray = column("opaque id of the arrow", "id")
    side: np.ndarray = column("0 start, 1 step, 2 finish", "code")
    category: np.ndarray = column("code into Trace.categories", "code")


@dataclass(frozen=True, eq=False)
class Marks(Table):
    """Hold the instants that are no memory records."""

    time: np.ndarray = column("time", "ns")
    track: np.ndarray = column("track", "code")
    name: np.ndarray = column("code into Trace.names", "code")


@dataclass(frozen=True, eq=False)
class Counters(Table):
    """Hold the samples of counters."""

    time: np.ndarray = column("time", "ns")
    name: np.ndarray = column("code into Trace.names", "code")
    series: np.ndarray = column("name of the series", "text")
    value: np.ndarray = column("sample", "number")


@dataclass(frozen=True, eq=False)
class Memory(Table):
    """Hold the allocator's records; -1 where a record lacks a value."""

    time: np.ndarray = column("time", "ns")
    track: np.ndarray = column("track", "code")
    device_type: np.ndarray = column("0 CPU, 1 CUDA, as the framework counts", "code")
    device: np.ndarray = column("device id", "id")
    address: np.ndarray = column("address", "id")
    bytes: np.ndarray = column("allocated (positive) or freed (negative)", "bytes")
    allocated: np.ndarray = column("total allocated after it", "bytes")
    reserved: np.ndarray = column("total reserved after it", "bytes")


@dataclass(frozen=True)
class Noted:
    """Hold what NAME.capture.json beside a file says. A profiler records some of it too; then that counts.

    None: it does not say. `device` is "" where no CUDA device was there; `sized` with a `world_size` of None means
    that nobody told the capture how many ranks there were.
    """

    texts: Mapping[str, str] = field(default_factory=dict)  # every condition, short and fit to show
    device: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, bool] = field(default_factory=dict)
    rank: int | None = None
    world_size: int | None = None
    sized: bool = False


@dataclass(frozen=True)
class Metadata:
    """Hold the white list of a file's metadata; nothing else of it is stored."""

    dialect: str = ""
    label: str = ""  # the file's base name without its suffixes
    trace_name: str | None = None  # base name only
    synthetic: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)
    switches: Mapping[str, bool] = field(default_factory=dict)
    rank: int | None = None
    world_size: int | None = None
    backend: str | None = None
    base_ns: int | None = None
    schema_version: str | None = None
    display_unit: str | None = None
    noted: Noted = field(default_factory=Noted)  # in NAME.capture.json beside the file

    @property
    def conditions(self) -> Mapping[str, str]:
        """Return what was noted beside the file, by name."""
        return self.noted.texts


@dataclass(frozen=True)
class Account:
    """Account for every event: events_read == used + the sum of ignored."""

    events_read: int
    used: int
    ignored: Mapping[str, int] = field(default_factory=dict)
    mended: Mapping[str, int] = field(default_factory=dict)
    dropped_device_events: int = 0


@dataclass(frozen=True)
class Notice:
    """Say something about the data: a code that the documentation explains, "warning" or "info"."""

    code: str
    level: str
    count: int
    message: str
    place: str | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """Hold one trace: columns, tables, names, and the account of what was read."""

    slices: Slices
    names: list[str]
    tracks: tuple[Track, ...]
    categories: list[str]
    args: Mapping[str, Sparse]
    devices: tuple[Device, ...]
    steps: Steps
    flows: Flows
    marks: Marks
    counters: Counters
    memory: Memory
    meta: Metadata
    account: Account
    notices: tuple[Notice, ...]
    origin_ns: int
    open_ranges: tuple[str, ...] = ()
    closed_ranges: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))  # rows of B/E pairs
    cut: bool = False

    def __len__(self) -> int:
        return len(self.slices)

    @cached_property
    def timed(self) -> np.ndarray:
        """Return which rows carry a real time (bool per row)."""
        mask: np.ndarray = (self.slices.flags & Flag.UNTIMED) == 0
        return mask

    @cached_property
    def span_ns(self) -> int:
        """Return the time from the first to the last timed slice, in ns."""
        rows = self.timed
        if not rows.any():
            return 0
        start, dur = self.slices.start[rows], self.slices.dur[rows]
        return int((start + dur).max() - start.min())

    @cached_property
    def unit_ns(self) -> int:
        """Return one unit of the last digit of the file's times, in ns: 1000 or 1."""
        return last_digit_ns(self.slices.start, self.slices.dur)

    def rows_of(self, *kinds: Kind) -> np.ndarray:
        """Return the rows of these kinds, without duplicates of device records."""
        kind = self.slices.kind
        mask = kind == kinds[0]
        for other in kinds[1:]:
            mask |= kind == other
        return np.flatnonzero(mask & ((self.slices.flags & Flag.DUPLICATE) == 0))

    def arg(self, name: str) -> Sparse:
        """Return an argument's column, an empty one where the trace has none."""
        empty = np.empty(0, np.int64)
        return self.args.get(name) or Sparse(empty.astype(np.int32), empty)

    def name_of(self, row: int) -> str:
        """Return the full name of a row."""
        return self.names[int(self.slices.name[row])]

    @property
    def events(self) -> pd.DataFrame:
        """Return every slice as a pandas frame: times in ns, names as categoricals."""
        import pandas as pd

        s = self.slices
        tables = {
            "name": (s.name, self.names),
            "kind": (s.kind, [_KIND_NAMES.get(k, "") or f"({k})" for k in range(max(Kind) + 1)]),
            "track": (s.track, _distinct([t.label for t in self.tracks])),
            "category": (s.category, self.categories),
        }
        coded = {
            column: pd.Categorical.from_codes(codes.astype(np.int64), pd.Index(texts, dtype=object))
            for column, (codes, texts) in tables.items()
        }
        return pd.DataFrame({"start": s.start, "dur": s.dur, **coded, "link": s.link, "flags": s.flags})

    def _repr_html_(self) -> str:
        import html

        facts = {
            "label": public_label(self.meta.label),
            "dialect": self.meta.dialect,
            "slices": f"{len(self):,}",
            "span": f"{self.span_ns / 1e6:,.3f} ms",
            "devices": shown(", ".join(d.name or d.key for d in self.devices)) or "none",
        }
        rows = "".join(f"<tr><th>{k}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
        return f"<table>{rows}</table>"


def last_digit_ns(start: np.ndarray, dur: np.ndarray) -> int:
    """Return 1000 where all times are whole microseconds, as files before 2023 have them, else 1."""
    for times in (start, dur):
        if (times[:1000] % 1000).any() or (times % 1000).any():
            return 1
    return 1000


def _distinct(labels: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    distinct = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        distinct.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return distinct
