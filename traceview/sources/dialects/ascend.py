"""Ascend msprof: no `cat`; "Ascend Hardware" streams are device work, the analysis lanes repeat it.

A collective is one slice of HCCL's "Communication Kernel" lane, waiting for its peers included, as a
NCCL kernel is. Its tasks (notify, wait, reduce, copy between devices) fill several hardware streams
and, once more, HCCL's planes: where the whole collective is recorded they are parts of it.
"Overlap Analysis" sums all of it up: Computing, Communication, Free.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts

_STREAM = re.compile(r"^Stream (\d+)")
_COLLECTIVES = "collectives"
_NOTIFY = re.compile(r"^NOTIFY_")
_TASK = re.compile(r"^(?:NOTIFY_|EVENT_|REDUCE_ASYNC|MEMCPY_ASYNC|RDMA|SDMA|WRITE_VALUE)")


def _recognises(hints: Hints) -> bool:
    return bool({"Ascend Hardware", "Overlap Analysis", "CANN"} & hints.processes)


def _classify(lane: LaneFacts) -> LaneClass:
    stream = _STREAM.match(lane.thread)
    if lane.process == "Ascend Hardware":
        if stream:
            return LaneClass(Kind.KERNEL, "0", stream[1], by_name=True)
        return LaneClass(Kind.DERIVED, "0", lane.thread or lane.tid)
    if lane.process == "HCCL" and lane.thread == "Communication Kernel":
        return LaneClass(Kind.KERNEL, "0", _COLLECTIVES)
    if lane.label == "NPU":
        return LaneClass(Kind.DERIVED, "0", f"{lane.process} {lane.thread or lane.tid}")
    return LaneClass(Kind.RUNTIME if lane.process == "CANN" else Kind.OTHER)


def _settle(
    kind: np.ndarray, lane: np.ndarray, name: np.ndarray, names: list[str], classes: Sequence[LaneClass]
) -> None:
    """Make the tasks of collectives parts of them, on the streams that notify, where collectives are whole."""
    whole = np.array([c.stream == _COLLECTIVES for c in classes], bool)
    if not whole[lane].any():
        return
    notifies = np.array([_NOTIFY.match(n) is not None for n in names], bool)
    task = np.array([_TASK.match(n) is not None for n in names], bool)
    on_stream = np.array([c.by_name for c in classes], bool)
    with_notify = np.zeros(len(classes), bool)
    with_notify[lane[notifies[name] & on_stream[lane]]] = True
    kind[with_notify[lane] & task[name]] = Kind.DERIVED


ASCEND = Dialect("ascend", "Ascend msprof", _recognises, _classify, _settle)
