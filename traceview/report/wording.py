"""Words that depend on the trace: what the device is called, and what may be claimed of it."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.events import Trace
from traceview.units import plural

_OTHER_DIALECTS = {"ascend"}
_OTHER_DEVICES = ("ascend", "mtia", "tpu", "npu")


def device_word(trace: Trace) -> str:
    """Return "GPU", or "device" where the trace is of another accelerator."""
    texts = [*trace.categories, *(d.name or "" for d in trace.devices)]
    other = any(t.lower().startswith(_OTHER_DEVICES) for t in texts)
    return "device" if other or trace.meta.dialect in _OTHER_DIALECTS else "GPU"


def begin(text: str) -> str:
    """Return a text as it stands at the beginning of a line."""
    return text[:1].upper() + text[1:]


def only_recorded(analysis: Analysis) -> bool:
    """Say whether device records are missing, so that times are those recorded and no shares of a span."""
    return len(analysis.gpu_time) > 0 and not analysis.utilisation_reliable


def missing_records(analysis: Analysis) -> str:
    """Say which device records are missing and why; empty where none are."""
    launches = analysis.launches
    if not launches.without_gpu:
        return ""
    head = (
        f"{launches.without_gpu:,} of {plural(launches.calls, 'launch', 'launches')} without a device record"
    )
    return f"{head}: {launches.without_reason}" if launches.without_reason else head


def recorded_none(analysis: Analysis) -> str:
    """Say that launches have no device record at all; empty where that is not so."""
    calls = analysis.launches.calls
    if len(analysis.gpu_time) or not calls:
        return ""
    device = device_word(analysis.trace)
    return f"No device records: {plural(calls, 'launch', 'launches')}, none recorded; {device} time unknown"
