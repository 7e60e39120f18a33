"""Phases: what the device did for each annotated range of the host."""

from __future__ import annotations

from traceview.events import Kind
from traceview.report.context import Context
from traceview.report.longest import longest_records
from traceview.report.sections.gaps import shown
from traceview.report.view import Cell, Column, SectionView, TableView
from traceview.units import plural

COLUMNS = (
    Column("name", "Range", "text"),
    Column("depth", "Depth", "count", "annotations around its first range"),
    Column("calls", "Ranges", "count"),
    Column("host", "Host ms", "ms", "added time of the ranges on the host"),
    Column("launches", "Launches", "count", "launches inside the ranges"),
    Column("span", "Device span ms", "ms", "first to last record of each range, added", bar=True),
    Column("compute", "Compute ms", "ms", "union of its compute kernels"),
    Column("collective", "Collective ms", "ms", "its collectives under none of its compute kernels"),
    Column("copy", "Copy ms", "ms", "its copies and fills under none of its kernels"),
    Column("idle", "Idle ms", "ms", "of the span: none of its records runs; other work may"),
)
NOTE = (
    "A device record belongs to every range that encloses its launch on the launching thread, whenever it runs. Compute + "
    "collective + copy + idle = device span. Ranges nest, so rows do not add up."
)
EMPTY = (
    'No annotated range in this trace. Put record_function("forward") or an NVTX range around parts of a step, and see what '
    "the device did for each."
)


def build(context: Context) -> SectionView:
    """Show phases in the order in which they first appear."""
    table = context.analysis.phases
    if not len(table):
        return SectionView("phases", "Phases", empty=EMPTY)
    top = min(len(table), context.options.top)
    columns = COLUMNS if len(context.analysis.gpu_time) else COLUMNS[:4]
    rows: list[tuple[Cell, ...]] = [
        (shown(context, str(table.name[i])), *(getattr(table, c.key)[i].item() for c in columns[1:]))
        for i in range(top)
    ]
    others = f"{plural(len(table) - top, 'further name')}." if len(table) > top else ""
    sort = 5 if len(columns) > 5 else 3
    note = NOTE if len(columns) > 5 else "Time of the ranges on the host; no device work was recorded."
    windows = longest_records(context.trace, (Kind.ANNOTATION,), [str(n) for n in table.name[:top]])
    view = TableView(
        "phases", "phases", columns, tuple(rows), sort=sort, page=15, others=others,
        windows=windows, shows="the longest range of this name",
    )  # fmt: skip
    return SectionView("phases", "Phases", note, (view,))
