"""The title, and the facts under it, without host and user names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from traceview.events import Trace
from traceview.report.view import Chip, ReportOptions
from traceview.units import count, duration, hide_home, middle, plural, safe

# torch.profiler.tensorboard_trace_handler names a worker HOST_PID unless told otherwise
_HOST_AND_PID = re.compile(r"^.+_([1-9]\d*)\.\d{10,}$")
_STAMP = re.compile(r"\.\d{10,}$")


def public_label(label: str, show_paths: bool = False) -> str:
    """Return the label of a trace file without the host's name, its stamp and its folder."""
    if show_paths:
        return safe(label)
    name = PurePosixPath(label.replace("\\", "/")).name or label
    worker = _HOST_AND_PID.match(name)
    return safe(f"process {worker.group(1)}" if worker else hide_home(_STAMP.sub("", name)))


def default_title(trace: Trace, show_paths: bool = False) -> str:
    """Return label, rank and device."""
    meta = trace.meta
    parts = [middle(public_label(meta.label, show_paths) or "trace", 120)]
    if meta.rank is not None:
        parts.append(f"rank {meta.rank}")
    if devices := device_names(trace):
        parts.append(devices)
    return " · ".join(parts)


def device_names(trace: Trace) -> str:
    """Return the devices' names, equal ones once: 2 × NVIDIA H100."""
    number: dict[str, int] = {}
    for device in trace.devices:
        if device.name:
            number[device.name] = number.get(device.name, 0) + 1
    return safe(", ".join(name if n == 1 else f"{n} × {name}" for name, n in number.items()))


def title(trace: Trace, options: ReportOptions) -> str:
    """Return the title that was asked for, else the default one."""
    return safe(options.title) if options.title else default_title(trace, options.show_paths)


def chips(trace: Trace) -> tuple[Chip, ...]:
    """Return the facts under the title."""
    meta = trace.meta
    found = [
        ("trace", duration(trace.span_ns)),
        ("events", count(trace.account.events_read)),
        ("steps", steps(trace)),
        ("rank", f"{meta.rank} of {meta.world_size}" if meta.rank is not None and meta.world_size else ""),
        ("framework", ", ".join(f"{k} {v}" for k, v in list(meta.versions.items())[:3])),
        ("format", meta.dialect),
        ("synthetic", "made by a generator" if meta.synthetic else ""),
    ]
    return tuple(Chip(label, safe(text)) for label, text in found if text)


def steps(trace: Trace) -> str:
    """Say which steps a trace holds: 3–10 (8)."""
    number = trace.steps.number
    if not len(number):
        return ""
    if len(number) == 1:
        return str(int(number[0]))
    return f"{int(number.min())}–{int(number.max())} ({plural(len(number), 'step')})"
