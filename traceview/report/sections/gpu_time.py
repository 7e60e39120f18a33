"""GPU time: what each device did during its span, adding up to it to the nanosecond."""

from __future__ import annotations

from dataclasses import replace

from traceview.analyses.results import GpuTime
from traceview.report.context import Context, no_device
from traceview.report.utilisation import utilisation
from traceview.report.view import Block, ChartsView, SectionView, SplitBar, SplitPart, SplitView
from traceview.report.wording import FIRST_TO_LAST, begin, missing_records, only_recorded, splits
from traceview.units import duration, plural, safe, share, shown

MOST_DEVICES = 8
PARTS = (
    ("compute", "compute", "compute", "union of the compute kernels"),
    ("exposed_collective", "exposed collective", "collective", "collectives while no compute kernel runs"),
    ("exposed_copy", "exposed copy", "copy", "copies while neither compute nor collective runs"),
    ("exposed_fill", "exposed fill", "fill", "fills while nothing else runs"),
    ("idle", "idle", "idle", "no device work at all"),
)
"""Column of GpuTime, label, colour token, meaning."""
NOT_RECORDED = ("idle or not recorded", "unknown", "no device work was recorded")
"""The same of idle time where device records are missing."""


def build(context: Context) -> SectionView:
    """Split the time of every device, the first eight of many: of its step windows, and from first to last work."""
    table, title = context.analysis.gpu_time, begin(f"{context.device} time")
    if not len(table):
        return SectionView("gpu-time", title, empty=no_device(context.analysis))
    found = splits(context.analysis)
    bars = tuple(_bar(context, *split, i) for split in found for i in range(min(len(split[0]), MOST_DEVICES)))
    hidden = max(len(split[0]) for split in found) - MOST_DEVICES
    note = (
        "Priority compute, collective, copy, fill: what runs under something of higher priority is hidden "
        "by it, the rest is exposed. The five parts add up to the time of the bar"
        + (
            ": the windows of the steps on the device, or its time from first to last work."
            if context.analysis.in_windows
            else ", from first to last work."
        )
    )
    if only_recorded(context.analysis):
        note += f" Only what was recorded is shown, without shares: {missing_records(context.analysis)}."
    more = f"{plural(hidden, 'further device')} not shown." if hidden > 0 else ""
    blocks: tuple[Block, ...] = (SplitView(bars, more),)
    if not only_recorded(context.analysis):
        made = utilisation(context, {str(d): device_label(context, str(d)) for d in table.device})
        blocks += (ChartsView((made[0],)), made[1]) if made else ()
    return SectionView("gpu-time", title, safe(note), blocks)


def _bar(context: Context, table: GpuTime, within: str, i: int) -> SplitBar:
    recorded, span = only_recorded(context.analysis), int(table.span[i])
    where = "from its first to its last device record" if within == FIRST_TO_LAST else "in step windows"
    base = f"{duration(span)} {where}"
    parts = []
    for column, label, token, meaning in PARTS:
        ns = int(getattr(table, column)[i])
        part = ns / span if span else 0.0
        made = SplitPart(label, token, part, share(part), duration(ns), meaning)
        if recorded and column == "idle":
            made = SplitPart(*NOT_RECORDED[:2], part, "", duration(ns), NOT_RECORDED[2])
        parts.append(replace(made, share="") if recorded else made)
    whole = f"at least what was recorded, in {base}" if recorded else f"100 % = {base}"
    return SplitBar(device_label(context, str(table.device[i])), whole, tuple(parts))


def device_label(context: Context, key: str) -> str:
    """Return the name of a device as the page shows it: GPU 0 · NVIDIA H100, of several ranks GPU 1/0."""
    known = {d.key: d.name for d in context.trace.devices}
    name = known.get(key) or known.get(key.rpartition("/")[2])
    label = begin(f"{context.device} {key}")
    return shown(f"{label} · {name}" if name else label, paths=context.options.show_paths)
