"""Words that depend on the trace: what the device is called, and what may be claimed of it."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.analyses.results import GpuTime
from traceview.units import plural

__all__ = [
    "FIRST_TO_LAST",
    "base_words",
    "begin",
    "device_word",
    "missing_records",
    "only_recorded",
    "recorded_none",
    "splits",
]

FIRST_TO_LAST = "first to last"


def begin(text: str) -> str:
    """Return a text as it stands at the beginning of a line."""
    return text[:1].upper() + text[1:]


def base_words(analysis: Analysis) -> str:
    """Say of which time busy and exposed shares are: "in step windows", or from first to last work."""
    return (
        "in step windows" if analysis.in_windows else f"from first to last {device_word(analysis.trace)} work"
    )


def splits(analysis: Analysis) -> tuple[tuple[GpuTime, str], ...]:
    """Return the splits of the devices' time, each with the words for what was split: the base of shares first."""
    whole = (analysis.gpu_time, FIRST_TO_LAST)
    if not analysis.in_windows:
        return (whole,)
    windows = (analysis.window_time, "step windows")
    # of chosen steps there is nothing but their windows
    return (windows,) if analysis.gpu_time is analysis.window_time else (windows, whole)


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
