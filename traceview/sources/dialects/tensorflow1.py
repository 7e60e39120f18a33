"""TensorFlow 1 timeline: "stream:all" repeats "stream:N" and "memcpy"; "/job:…/device:GPU:0" is dispatch.

The rows of the /job devices show time inside OpKernel::Compute on the host, that is enqueueing.
"""

from __future__ import annotations

import re

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts

_LANE = re.compile(r"^/device:GPU:(\d+)/(stream:\S+|memcpy)")


def _recognises(hints: Hints) -> bool:
    return any(_LANE.match(p) for p in hints.processes)


def _classify(lane: LaneFacts) -> LaneClass:
    found = _LANE.match(lane.process)
    if found:
        device, place = found.groups()
        if place == "stream:all":
            return LaneClass(Kind.DERIVED, device, place)
        return LaneClass(
            Kind.COPY if place == "memcpy" else Kind.KERNEL,
            device,
            place.removeprefix("stream:"),
            place != "memcpy",
        )
    return LaneClass(Kind.OP if lane.process.startswith("/job:") else Kind.OTHER)


TENSORFLOW1 = Dialect("tensorflow1", "TensorFlow 1 timeline", _recognises, _classify)
