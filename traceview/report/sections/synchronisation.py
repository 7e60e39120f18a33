"""Synchronisation: where the host waited for the device, and what that may have cost."""

from __future__ import annotations

from traceview.report.context import Context
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
    rows: list[tuple[Cell, ...]] = [
        (
            *(shown(context, str(getattr(table, key)[i])) for key in _TEXTS),
            *(getattr(table, c.key)[i].item() for c in COLUMNS[len(_TEXTS) :]),
        )
        for i in range(len(table))
        if not table.final[i]
    ]
    set_aside = int(table.host_time[table.final].sum()) if len(table) else 0
    aside = f"The profiler's own last synchronise ({duration(set_aside)}) is set aside." if set_aside else ""
    if not rows:
        return SectionView("synchronisation", "Synchronisation", empty=f"{EMPTY} {aside}".strip())
    top = rows[: context.options.top]
    if len(rows) > len(top):
        aside = f"{plural(len(rows) - len(top), 'further place')} not shown. {aside}".strip()
    view = TableView("syncs", "waits of the host", COLUMNS, tuple(top), sort=6, page=10, others=aside)
    return SectionView("synchronisation", "Synchronisation", NOTE, (view,))
