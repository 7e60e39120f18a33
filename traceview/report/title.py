"""The title, and the facts under it, without host and user names."""

from __future__ import annotations

from traceview.events import Trace
from traceview.report.view import Chip, ReportOptions
from traceview.units import TEXT_LIMIT, count, duration, plural, public_label, shown


def default_title(trace: Trace, show_paths: bool = False) -> str:
    """Return label, rank and device."""
    meta = trace.meta
    parts = [public_label(meta.label, show_paths) or "trace"]
    if meta.rank is not None:
        parts.append(f"rank {meta.rank}")
    if devices := device_names(trace, show_paths):
        parts.append(devices)
    return " · ".join(parts)


def device_names(trace: Trace, show_paths: bool = False) -> str:
    """Return the devices' names, equal ones once: 2 × NVIDIA H100."""
    number: dict[str, int] = {}
    for device in trace.devices:
        if device.name:
            number[device.name] = number.get(device.name, 0) + 1
    names = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in number.items())
    return shown(names, TEXT_LIMIT, show_paths)


def title(trace: Trace, options: ReportOptions) -> str:
    """Return the title that was asked for, else the default one."""
    return shown(options.title, 500, True) if options.title else default_title(trace, options.show_paths)


def chips(trace: Trace) -> tuple[Chip, ...]:
    """Return the facts under the title."""
    meta = trace.meta
    found = [
        ("trace", duration(trace.span_ns)),
        ("events", count(trace.account.events_read)),
        ("steps", steps(trace)),
        ("rank", f"{meta.rank} of {meta.world_size}" if meta.rank is not None and meta.world_size else ""),
        ("framework", ", ".join(f"{k} {v}" for k, v in list(meta.versions.items())[:3])),
        ("batch", meta.conditions.get("batch", "")),
        ("precision", meta.conditions.get("precision", "")),
        ("throttling", meta.conditions.get("throttling", "").replace("none seen", "")),
        ("format", meta.dialect),
        ("synthetic", "made by a generator" if meta.synthetic else ""),
    ]
    return tuple(Chip(label, shown(text)) for label, text in found if text)


def steps(trace: Trace) -> str:
    """Say which steps a trace holds: 3–10 (8)."""
    number = trace.steps.number
    if not len(number):
        return ""
    if len(number) == 1:
        return str(int(number[0]))
    return f"{int(number.min())}–{int(number.max())} ({plural(len(number), 'step')})"
