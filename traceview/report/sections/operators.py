"""Operators: host time and the device time they launched, as in key_averages()."""

from __future__ import annotations

from dataclasses import replace

from traceview.analyses.per_step import ON_DEVICE as DEVICE_SELF
from traceview.analyses.per_step import ON_HOST as HOST_SELF
from traceview.events import Kind
from traceview.report.context import Context
from traceview.report.longest import longest_records
from traceview.report.trends import per_step
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.report.wording import begin
from traceview.units import duration, shown

COLUMNS = (
    Column("name", "Operator", "name", "click it for the full name"),
    Column("kind", "Kind", "text", "operator, annotation, or a range of unknown kind"),
    Column("calls", "Calls", "count"),
    Column("cpu_self", "CPU self ms", "ms", "host time without child operators and runtime calls", bar=True),
    Column("cpu_total", "CPU total ms", "ms", "host time with children"),
)
ON_DEVICE = (
    Column("device_self", "{} self ms", "ms", "kernels, copies and fills launched directly", bar=True),
    Column("device_total", "{} total ms", "ms", "device work launched inside it on the same thread"),
)
HOST_ONLY = "Self is without child operators and runtime calls, total with them."
EMPTY = (
    "This trace holds no host operators. Record with ProfilerActivity.CPU beside the device's activity to see "
    "which operator launched what."
)


def build(context: Context) -> SectionView:
    """Show operators by device self time, where there is none by CPU self time."""
    table, device = context.analysis.operators, context.device
    named = [i for i in range(len(table)) if int(table.calls[i]) or int(table.device_self[i])]
    if not any(int(table.calls[i]) for i in named):
        return SectionView("operators", "Operators", empty=EMPTY)
    columns: tuple[Column, ...] = COLUMNS
    if len(context.analysis.gpu_time):
        columns += tuple(replace(c, label=begin(c.label.format(device))) for c in ON_DEVICE)
    sort = 5 if int(table.device_self.sum()) else 3
    key = table.device_self if sort == 5 else table.cpu_self
    named.sort(key=lambda i: -int(key[i]))
    top, rest = named[: context.options.top], named[context.options.top :]
    rows: list[tuple[Cell, ...]] = [
        (
            context.names.add(str(table.name[i])),
            shown(str(table.kind[i])),
            *(getattr(table, c.key)[i].item() for c in columns[2:]),
        )
        for i in top
    ]
    on_device = len(columns) > len(COLUMNS)
    note, base = _texts(device) if on_device else (HOST_ONLY, "")
    others = _others(context, rest, on_device) if rest else ""
    what = DEVICE_SELF if len(context.analysis.gpu_time) else HOST_SELF
    names = [str(table.name[i]) for i in top]
    trend = per_step(context.analysis, what, names)
    windows = longest_records(context.trace, (Kind.OP, Kind.ANNOTATION, Kind.OTHER), names)
    view = TableView(
        "operators", "operators", columns, tuple(rows), sort, others=others, base=base, trend=trend,
        windows=windows, shows="the longest call of this name",
    )  # fmt: skip
    return SectionView("operators", "Operators", note, (view,))


def _texts(device: str) -> tuple[str, str]:
    note = (
        f"Device time belongs to the innermost operator around the launching call; {device} self times add up "
        "to all device work, what no operator launched is “(no operator)”."
    )
    base = (
        f"{begin(device)} total is the work launched inside it on the same thread: what other threads launch "
        "meanwhile, as autograd does within a step, is not in the totals of ProfilerStep* and of annotations."
    )
    return note, base


def _others(context: Context, rest: list[int], on_device: bool) -> str:
    table = context.analysis.operators
    text = f"Others ({len(rest):,} names): {duration(int(table.cpu_self[rest].sum()))} CPU self"
    if on_device:
        text += f", {duration(int(table.device_self[rest].sum()))} {context.device} self"
    return f"{text}."
