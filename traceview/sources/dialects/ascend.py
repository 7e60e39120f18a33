"""Ascend msprof: no `cat`; "Ascend Hardware" streams are device work, the analysis lanes repeat it.

"HCCL" planes repeat the tasks that the hardware streams carry, "Overlap Analysis" sums them up.
"""

from __future__ import annotations

import re

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts

_STREAM = re.compile(r"^Stream (\d+)")


def _recognises(hints: Hints) -> bool:
    return bool({"Ascend Hardware", "Overlap Analysis", "CANN"} & hints.processes)


def _classify(lane: LaneFacts) -> LaneClass:
    stream = _STREAM.match(lane.thread)
    if lane.process == "Ascend Hardware":
        if stream:
            return LaneClass(Kind.KERNEL, "0", stream[1], by_name=True)
        return LaneClass(Kind.DERIVED, "0", lane.thread or lane.tid)
    if lane.label == "NPU":
        return LaneClass(Kind.DERIVED, "0", f"{lane.process} {lane.thread or lane.tid}")
    return LaneClass(Kind.RUNTIME if lane.process == "CANN" else Kind.OTHER)


ASCEND = Dialect("ascend", "Ascend msprof", _recognises, _classify)
