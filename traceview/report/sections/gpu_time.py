"""GPU time: what each device did during its span, adding up to it to the nanosecond."""

from __future__ import annotations

from traceview.report.context import NO_GPU, Context
from traceview.report.view import SectionView, SplitBar, SplitPart, SplitView
from traceview.units import duration, plural, safe, share

MOST_DEVICES = 8
PARTS = (
    ("compute", "compute", "compute", "union of the compute kernels"),
    ("exposed_collective", "exposed collective", "collective", "collectives while no compute kernel runs"),
    ("exposed_copy", "exposed copy", "copy", "copies while neither compute nor collective runs"),
    ("exposed_fill", "exposed fill", "fill", "fills while nothing else runs"),
    ("idle", "idle", "idle", "no device work at all"),
)
"""Column of GpuTime, label, colour token, meaning."""


def build(context: Context) -> SectionView:
    """Split the span of every device, the busiest eight of many."""
    table = context.analysis.gpu_time
    if not len(table):
        return SectionView("gpu-time", "GPU time", empty=NO_GPU)
    bars = tuple(_bar(context, i) for i in range(min(len(table), MOST_DEVICES)))
    hidden = len(table) - len(bars)
    return SectionView(
        "gpu-time",
        "GPU time",
        note="Priority compute, collective, copy, fill: what runs under something of higher priority is hidden "
        "by it, the rest is exposed. The five parts add up to the span.",
        blocks=(SplitView(bars, f"{plural(hidden, 'further device')} not shown." if hidden else ""),),
    )


def _bar(context: Context, i: int) -> SplitBar:
    table = context.analysis.gpu_time
    span = int(table.span[i])
    base = f"100 % = {duration(span)}, from its first to its last device record"
    parts = []
    for column, label, token, meaning in PARTS:
        ns = int(getattr(table, column)[i])
        part = ns / span if span else 0.0
        parts.append(SplitPart(label, token, part, share(part), duration(ns), meaning))
    return SplitBar(device_label(context, str(table.device[i])), base, tuple(parts))


def device_label(context: Context, key: str) -> str:
    """Return the name of a device as the page shows it: GPU 0 · NVIDIA H100, of several ranks GPU 1/0."""
    known = {d.key: d.name for d in context.trace.devices}
    name = known.get(key) or known.get(key.rpartition("/")[2])
    return safe(f"GPU {key} · {name}" if name else f"GPU {key}")
