"""Words that depend on the trace: what the device is called, and what may be claimed of it."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.units import plural

__all__ = ["begin", "device_word", "missing_records", "only_recorded", "recorded_none"]


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
