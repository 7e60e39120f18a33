"""Where slices lie in a viewer: a process and a thread for each track, and what names them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from traceview.events import Track

_WRITTEN_ALIKE = ("", "kineto", "chrome")
_NUMBER = re.compile(r"-?[1-9][0-9]{0,17}|0")


class Lane(NamedTuple):
    """Hold pid and tid as JSON texts, and the names shown for them ("": none)."""

    pid: str
    tid: str
    process: str
    thread: str


def lanes_of(tracks: Sequence[Track], dialect: str = "") -> list[Lane]:
    """Return the lane of each track, so that reading them again gives the same tracks.

    An export is written as PyTorch's profiler writes: names by which other dialects are recognised
    must not stand in it as they were.
    """
    ranks = {t.scope: t.device.partition("/")[0] for t in tracks if t.scope and t.device}
    foreign = "" if dialect in _WRITTEN_ALIKE else dialect
    return [
        _stream(t, ranks.get(t.scope, "")) if t.is_device else _thread(t, _rank(t, ranks), foreign)
        for t in tracks
    ]


def _rank(track: Track, ranks: dict[int, str]) -> str:
    return ranks.get(track.scope, f"rank{track.scope}") if track.scope else ""


def _stream(track: Track, rank: str) -> Lane:
    device = track.device or ""
    pid = _pid(device.partition("/")[2] if rank else device, rank)
    return Lane(pid, id_json(track.stream or ""), track.process, track.thread)


def _thread(track: Track, rank: str, foreign: str) -> Lane:
    first, _, rest = track.process.partition(" ")
    process, pid = (first, rest) if rest else ("", first)
    tid = track.label.removeprefix("thread").removeprefix(" ")
    named = tid.removesuffix(f" ({track.thread})")
    if foreign:
        process, pid = f"{process.lstrip('/')} ({foreign})" if process else "", pid.lower()
    return Lane(_pid(pid, rank), id_json(named), process, track.thread if named != tid else "")


def _pid(pid: str, rank: str) -> str:
    return json.dumps(f"[{rank}] {pid}") if rank else id_json(pid)


def id_json(text: str) -> str:
    """Return an id as JSON: a number where it is one."""
    return text if _NUMBER.fullmatch(text) else json.dumps(text)


def naming_events(lanes: Sequence[Lane], tracks: Sequence[Track]) -> Iterator[str]:
    """Yield the metadata events that name and order processes and threads; devices come first."""
    named: set[str] = set()
    hosts = {lane.pid for lane, t in zip(lanes, tracks, strict=True) if not t.is_device}
    for order, (lane, track) in enumerate(zip(lanes, tracks, strict=True)):
        if lane.pid not in named and not (track.is_device and lane.pid in hosts):
            named.add(lane.pid)
            if lane.process:
                yield _naming("process_name", lane.pid, "0", f'"name":{json.dumps(lane.process)}')
            yield _naming("process_sort_index", lane.pid, "0", f'"sort_index":{order}')
        if lane.thread:
            yield _naming("thread_name", lane.pid, lane.tid, f'"name":{json.dumps(lane.thread)}')
        yield _naming("thread_sort_index", lane.pid, lane.tid, f'"sort_index":{order}')


def _naming(name: str, pid: str, tid: str, args: str) -> str:
    return f'{{"ph":"M","name":"{name}","pid":{pid},"tid":{tid},"args":{{{args}}}}}'
