"""A slim Chrome trace: chosen slices as chrome://tracing and Perfetto open them, and this tool reads again.

Times are decimal texts of microseconds, exact to the nanosecond. Each link from a launch to its work is
an arrow of its own. Metadata and arguments are white lists; nothing else of the file is in here.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np

from traceview import __version__
from traceview.events import DEVICE_WORK, Flag, Kind, Trace
from traceview.report.slim_args import Arguments
from traceview.report.slim_lanes import Lane, id_json, lanes_of, naming_events
from traceview.sources.metadata import device_numbers, version_keys
from traceview.sources.spellings import CATEGORIES
from traceview.units import hide_home

CHUNK = 1 << 14  # slices written at a time
_VERSION = re.compile(r"[\w.+-]{1,40}")  # no path, no address
_CATEGORY = {
    Kind.KERNEL: "kernel",
    Kind.COPY: "gpu_memcpy",
    Kind.FILL: "gpu_memset",
    Kind.DEVICE_NOTE: "gpu_user_annotation",
    Kind.SYNC_RECORD: "cuda_sync",
    Kind.OP: "cpu_op",
    Kind.ANNOTATION: "user_annotation",
    Kind.PYTHON: "python_function",
    Kind.LAUNCH: "cuda_runtime",
    Kind.RUNTIME: "cuda_runtime",
    Kind.OVERHEAD: "overhead",
    Kind.SPAN: "Trace",
    Kind.OTHER: "other",
}
_ON_DEVICE = (*DEVICE_WORK, Kind.DEVICE_NOTE, Kind.SYNC_RECORD)


def write_slim(file: BinaryIO, slim: Slim, packed: bool) -> None:
    """Write a slim trace, packed with gzip or plain; equal input gives equal bytes."""
    if not packed:
        file.writelines(slim.blocks())
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as out:
        for block in slim.blocks():
            out.write(block)


@dataclass(frozen=True)
class Slim:
    """Hold what to write of a trace: rows in ascending order, and how they were chosen, for the reader."""

    trace: Trace
    rows: np.ndarray
    show_paths: bool = False
    chosen: dict[str, Any] = field(default_factory=dict)

    def blocks(self) -> Iterator[bytes]:
        """Yield the text of the trace, piece by piece."""
        tracks = self.trace.tracks
        used = np.unique(self.trace.slices.track[self.rows]).tolist()
        head = json.dumps(self._head())[:-1]
        naming = naming_events([self._lanes[i] for i in used], [tracks[i] for i in used])
        yield f'{head}, "traceEvents": [\n'.encode()
        yield ",\n".join(naming).encode()
        mark = b",\n" if used else b""
        for first in range(0, len(self.rows), CHUNK):
            yield mark + ",\n".join(self._events(self.rows[first : first + CHUNK])).encode()
            mark = b",\n"
        yield b"\n]}\n"

    def _head(self) -> dict[str, Any]:
        meta, keys = self.trace.meta, version_keys()
        ranks = {"rank": meta.rank, "world_size": meta.world_size, "backend": meta.backend}
        found: dict[str, Any] = {
            "schemaVersion": 1,
            "synthetic": meta.synthetic or None,
            "deviceProperties": [
                {"id": json.loads(id_json(d.key)), "name": d.name, **device_numbers(d.properties)}
                for d in self.trace.devices
            ],
            "distributedInfo": {k: v for k, v in ranks.items() if v is not None},
            **{keys[t]: text for t, text in meta.versions.items() if t in keys and _VERSION.fullmatch(text)},
            **{name: int(on) for name, on in meta.switches.items()},
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": meta.base_ns,
            "traceview": {"version": __version__, **self.chosen},
        }
        return {key: value for key, value in found.items() if value not in (None, {}, [])}

    @cached_property
    def _lanes(self) -> list[Lane]:
        return lanes_of(self.trace.tracks, self.trace.meta.dialect)

    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.trace, self.show_paths)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {}

    @cached_property
    def _heads(self) -> dict[tuple[int, int, int], str]:
        return {}

    def _name(self, code: int) -> str:
        text = self._names.get(code)
        if text is None:
            name = self.trace.names[code]
            text = self._names[code] = json.dumps(name if self.show_paths else hide_home(name))
        return text

    def _place(self, kind: int, category: int, track: int) -> str:
        """Return category, pid and tid of a slice as JSON members."""
        key = (kind, category, track)
        text = self._heads.get(key)
        if text is None:
            lane = self._lanes[track]
            word = json.dumps(category_of(Kind(kind), self.trace.categories[category]))
            text = self._heads[key] = f'"cat":{word},"pid":{lane.pid},"tid":{lane.tid}'
        return text

    def _events(self, rows: np.ndarray) -> Iterator[str]:
        s, trace = self.trace.slices, self.trace
        whole = trace.unit_ns == 1000
        args = self._arguments.of(rows)
        columns = (s.kind, s.category, s.track, s.name, s.start, s.dur, s.flags, s.link)
        for i, (kind, category, track, name, start, dur, flags, link) in enumerate(
            zip(*(c[rows].tolist() for c in columns), strict=True)
        ):
            own = args[i]
            if kind in _ON_DEVICE:
                lane = self._lanes[track]
                own += [f'"device":{_inner(lane.pid)}', f'"stream":{lane.tid}']
            if flags & Flag.UNFINISHED:
                own.append('"finished":false')
            at = microseconds(0 if flags & Flag.UNTIMED else trace.origin_ns + start, whole)
            body = f',"args":{{{",".join(own)}}}' if own else ""
            place = self._place(kind, category, track)
            yield (
                f'{{"ph":"X",{place},"name":{self._name(name)},"ts":{at},"dur":{microseconds(dur, whole)}{body}}}'
            )
            if link >= 0 and kind in DEVICE_WORK and not flags & Flag.UNTIMED:
                yield from self._arrow(int(rows[i]), link, (at, whole))

    def _arrow(self, row: int, link: int, at: tuple[str, bool]) -> Iterator[str]:
        s = self.trace.slices
        lane, launch = self._lanes[int(s.track[row])], self._lanes[int(s.track[link])]
        begin = microseconds(self.trace.origin_ns + int(s.start[link]), at[1])
        arrow = f'"id":{row},"cat":"ac2g","name":"ac2g"'
        yield f'{{"ph":"s",{arrow},"pid":{launch.pid},"tid":{launch.tid},"ts":{begin}}}'
        yield f'{{"ph":"f","bp":"e",{arrow},"pid":{lane.pid},"tid":{lane.tid},"ts":{at[0]}}}'


def _inner(pid: str) -> str:
    """Return the device's own id of a pid that names its rank too."""
    return id_json(json.loads(pid).partition("] ")[2]) if pid.startswith('"[') else pid


def category_of(kind: Kind, written: str) -> str:
    """Return a category that is read as this kind: the one written where it is, else the usual one."""
    same = {kind, Kind.RUNTIME} if kind is Kind.LAUNCH else {kind}
    known = CATEGORIES.get(written.lower())
    if known in same or (kind is Kind.OTHER and known is None and written):
        return written
    return _CATEGORY[kind]


def microseconds(ns: int, whole: bool = False) -> str:
    """Return nanoseconds as a decimal text of microseconds, exactly; without decimals where the file had none."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}" if whole and not ns % 1000 else f"{sign}{ns // 1000}.{ns % 1000:03}"
