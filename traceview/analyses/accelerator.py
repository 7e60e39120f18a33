"""What to call the device of a trace."""

from __future__ import annotations

from traceview.events import Trace

_OTHER_DIALECTS = {"ascend"}
_OTHER_DEVICES = ("ascend", "mtia", "tpu", "npu")


def device_word(trace: Trace) -> str:
    """Return "GPU", or "device" where the trace is of another accelerator."""
    texts = [*trace.categories, *(d.name or "" for d in trace.devices)]
    other = any(t.lower().startswith(_OTHER_DEVICES) for t in texts)
    return "device" if other or trace.meta.dialect in _OTHER_DIALECTS else "GPU"
