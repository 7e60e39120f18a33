"""PyTorch's autograd profiler before Kineto: a list; pids "CPU functions" and "CUDA functions".

Names are equal on both sides, so only the pid tells them apart; flows "cpu_to_cuda" link them.
"""

from __future__ import annotations

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts


def _recognises(hints: Hints) -> bool:
    return "CUDA functions" in hints.pids or "CPU functions" in hints.pids


def _classify(lane: LaneFacts) -> LaneClass:
    if lane.pid == "CUDA functions":
        return LaneClass(Kind.KERNEL, lane.tid, "0", by_name=True)  # its tid is the device
    return LaneClass(Kind.OP if lane.pid == "CPU functions" else Kind.OTHER)


AUTOGRAD = Dialect("autograd", "PyTorch autograd profiler", _recognises, _classify)
