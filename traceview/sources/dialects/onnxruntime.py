"""ONNX Runtime: Node and Session are host time (on CUDA mostly launch time); cat Kernel is the device.

A name that ends in "_kernel_time" is a host node, no kernel. Kernels carry no correlation.
"""

from __future__ import annotations

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts


def _recognises(hints: Hints) -> bool:
    return "node" in hints.categories and "session" in hints.categories


def _classify(lane: LaneFacts) -> LaneClass:
    if lane.cat == "kernel":
        return LaneClass(Kind.KERNEL, "0", lane.tid, by_name=True)
    return LaneClass(
        {"node": Kind.OP, "session": Kind.ANNOTATION, "api": Kind.RUNTIME}.get(lane.cat, Kind.OTHER)
    )


ONNXRUNTIME = Dialect("onnxruntime", "ONNX Runtime profile", _recognises, _classify)
