"""Synchronisation: where the host waited for the device, and what that may have cost."""

from __future__ import annotations

import numpy as np

from traceview.events import Kind, Trace
from traceview.report.context import Context
from traceview.report.longest import Window, longest_records
from traceview.report.sections.gaps import shown
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.units import duration, plural

COLUMNS = (
    Column("name", "Call", "text"),
    Column("kind", "Kind", "text", "what is waited for; item: a wait inside .item()"),
    Column("op", "Operator", "text"),
    Column("annotation", "Annotation", "text"),
    Column("calls", "Calls", "count"),
    Column("host_time", "Host ms", "ms", "time of the calls on the host; no measure of damage"),
    Column("damage", "Idle caused, at most, ms", "ms", "an upper bound", bar=True),
    Column("gaps", "Gaps", "count", "gaps with such damage"),
    Column("inside_steps", "In steps", "count", "calls that began inside a step"),
)
_TEXTS = ("name", "kind", "op", "annotation")
EMPTY = (
    "No synchronise call and no blocking copy in this trace. Where host calls are missing, record "
    "ProfilerActivity.CPU beside the device's activity."
)
NOTE = (
    "A device goes idle only as a wait returns: the damage of a wait that covers a gap's opening is at most the gap's "
    "slices of waiting and of a late host, and at most the time for which the host had been blocked by then. Data "
    "loading and allocation are not charged to it."
)


def build(context: Context) -> SectionView:
    """Show waits by the idle time that they may have caused."""
    table = context.analysis.syncs
    shown_rows = [i for i in range(len(table)) if not table.final[i]]
    rows: list[tuple[Cell, ...]] = [
        (
            *(shown(context, str(getattr(table, key)[i])) for key in _TEXTS),
            *(getattr(table, c.key)[i].item() for c in COLUMNS[len(_TEXTS) :]),
        )
        for i in shown_rows
    ]
    set_aside = int(table.host_time[table.final].sum()) if len(table) else 0
    aside = f"The profiler's own last synchronise ({duration(set_aside)}) is set aside." if set_aside else ""
    if not rows:
        return SectionView("synchronisation", "Synchronisation", empty=f"{EMPTY} {aside}".strip())
    top = rows[: context.options.top]
    if len(rows) > len(top):
        aside = f"{plural(len(rows) - len(top), 'further place')} not shown. {aside}".strip()
    names, final = ([str(n) for n in table.name[rows_]] for rows_ in (shown_rows[: len(top)], table.final))
    view = TableView(
        "syncs", "waits of the host", COLUMNS, tuple(top), sort=6, page=10, others=aside,
        windows=_longest(context.trace, names, final), shows="the longest call of this name",
    )  # fmt: skip
    return SectionView("synchronisation", "Synchronisation", NOTE, (view,))


def _longest(trace: Trace, names: list[str], final: list[str]) -> tuple[Window | None, ...]:
    """Return where the longest call of each name is; the profiler's own last ones, of the names `final`, stay out."""
    kinds = (Kind.RUNTIME, Kind.LAUNCH, Kind.SYNC_RECORD)
    last = []
    for name in set(final):
        rows = trace.rows_of(*kinds)
        own = rows[trace.slices.name[rows] == trace.names.index(name)]
        if len(own):
            last.append(int(own[np.argmax(trace.slices.start[own])]))
    return longest_records(trace, kinds, names, last)
