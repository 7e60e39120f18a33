"""Any other Chrome trace: host ranges, and device work only where `cat` says so."""

from __future__ import annotations

from traceview.events import Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts
from traceview.sources.dialects.kineto import ON_DEVICE
from traceview.sources.spellings import CATEGORIES


def _recognises(_: Hints) -> bool:
    return True


def _classify(lane: LaneFacts) -> LaneClass:
    kind = CATEGORIES.get(lane.cat, Kind.OTHER)
    if kind in ON_DEVICE:
        return LaneClass(kind, lane.pid, lane.tid)
    return LaneClass(kind)


CHROME = Dialect("chrome", "Chrome trace", _recognises, _classify, calls_by_name=True)
