"""PyTorch Kineto, 1.8 (2021: Kernel, Operator, Runtime, string tids) to 2.13: `cat` decides.

Device events carry the device as pid and the stream as tid; arguments repeat both and win. Streams
were "stream 7" in 2021. A process label or a pid never makes device work: CPU events may carry pid 0.
"""

from __future__ import annotations

from traceview.events import DEVICE_WORK, Kind
from traceview.sources.dialects.base import Dialect, Hints, LaneClass, LaneFacts
from traceview.sources.spellings import CATEGORIES

ON_DEVICE = (*DEVICE_WORK, Kind.DEVICE_NOTE, Kind.SYNC_RECORD)


def _recognises(hints: Hints) -> bool:
    own = set(CATEGORIES) - {"kernel", "runtime", "trace", "driver", "memcpy", "memset"}
    return bool(hints.categories & own) or bool(
        hints.categories & set(CATEGORIES) and "node" not in hints.categories
    )


def _classify(lane: LaneFacts) -> LaneClass:
    kind = CATEGORIES.get(lane.cat, Kind.OTHER)
    if kind in ON_DEVICE:
        return LaneClass(
            kind, lane.pid, lane.tid.removeprefix("stream").strip(), lane.cat == "mtia_ccp_events"
        )
    return LaneClass(kind)


KINETO = Dialect("kineto", "PyTorch profiler (Kineto)", _recognises, _classify)
