"""JAX and TensorFlow 2 (TSL): no `cat`; processes "/device:GPU:0", threads "Stream #13(Compute)".

Only the stream lanes are device work. TSL derives the others from them ("XLA Ops", "XLA Modules",
"Steps", "Framework Name Scope", "Source code"): adding them would count the work several times.
"""

from __future__ import annotations

import re

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts

_DEVICE = re.compile(r"^/device:(?:GPU|TPU|CUSTOM)[:\w]*?:?(\d+)", re.IGNORECASE)
_STREAM = re.compile(r"^Stream #(\S+?)(?:\(|$)")


def _recognises(hints: Hints) -> bool:
    return any(
        p.startswith("/host:") or (p.startswith("/device:") and "stream:" not in p) for p in hints.processes
    )


def _classify(lane: LaneFacts) -> LaneClass:
    device = _DEVICE.match(lane.process)
    if device:
        stream = _STREAM.match(lane.thread)
        if stream:
            return LaneClass(Kind.KERNEL, device[1], stream[1], by_name=True)
        return LaneClass(Kind.DERIVED, device[1], lane.thread or lane.tid)
    return LaneClass(Kind.OTHER)


XLA = Dialect("xla", "JAX / TensorFlow 2 (XLA)", _recognises, _classify, calls_by_name=True)
