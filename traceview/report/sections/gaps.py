"""Idle gaps: when each device had nothing to do, and what for."""

from __future__ import annotations

import numpy as np

from traceview import units
from traceview.analyses.gap_parts import CAUSES, THRESHOLDS
from traceview.analyses.gaps import NO_WAIT_RECORDED, Gaps, longest_gaps
from traceview.report.context import NO_KERNELS, Context
from traceview.report.time_charts import causes_chart
from traceview.report.view import (
    Block,
    Cell,
    ChartsView,
    Column,
    DefinitionsView,
    SectionView,
    TableView,
)
from traceview.report.wording import begin
from traceview.units import LABEL_LIMIT, duration, plural, safe, share

MEANINGS = {
    "profiler_overhead": "the profiler itself had the host",
    "allocation": "the host allocated or freed memory, loaded a module, or created a stream or an event",
    "data_loading": "a data loader's range was active, on any thread",
    "synchronisation": "the host waited in a synchronise call or a blocking copy",
    "host_late": "the host did anything else before it called the launch: Python, operators, its own work",
    "inside_launch": "the launch call itself took its time: first use, module load, a full queue, staging of a copy",
    "in_flight": "from the launch's return to the start of the work",
    "queued": "launched long before and not started: held by another stream, or by work that is not recorded",
    "turnaround": "the device went from one record to the next, both launched before",
    "inside_graph": "the same between two records of one graph launch",
    "unknown": "no launch is recorded for the work that ends the gap",
}
CAUSE_COLUMNS = (
    Column("cause", "Cause", "text"),
    Column("total", "Idle ms", "ms", "added parts of this cause", bar=True),
    Column("share", "Share of idle %", "share", "of the idle time of all devices"),
    Column("gaps", "Gaps", "count", "gaps that have such a part"),
    Column("inside_steps", "Inside steps ms", "ms", "in gaps inside a step's window on the device"),
    Column("outside_steps", "Outside ms", "ms"),
)
LENGTH_COLUMNS = (
    Column("from", "Length", "text"),
    Column("gaps", "Gaps", "count"),
    Column("total", "Idle ms", "ms", bar=True),
)
GAP_COLUMNS = (
    Column("start", "At ms", "ms", "opening, from the trace's first event"),
    Column("dur", "Length µs", "us", bar=True),
    Column("cause", "Cause", "text", "of the largest part"),
    Column("parts", "Parts", "text"),
    Column("before", "After", "name", "the work that ended as the gap opened"),
    Column("after", "Before", "name", "the work that closed it"),
    Column(
        "where", "Host in", "text", "innermost operator, annotation, Python frame of the largest host part"
    ),
)
UNKNOWN = (
    "Unknown is the time before work whose launch is not in the trace: work launched before the profiler started, "
    "or a trace without host calls. Record CPU activity beside the device's, and start the profiler before the work."
)
NO_GAPS = "The device was never idle between its first and its last record."
NO_GAPS_CHOSEN = "The device was never idle in the windows of the chosen steps."


def build(context: Context) -> SectionView:
    """Show idle time by cause, gaps by length, and the longest gaps with their parts."""
    analysis = context.analysis
    table = analysis.gaps
    if not len(analysis.gpu_time):
        return SectionView("gaps", "Idle gaps", empty=NO_KERNELS)
    if not len(table):
        return SectionView("gaps", "Idle gaps", empty=NO_GAPS_CHOSEN if analysis.chosen else NO_GAPS)
    note = (
        f"{plural(len(table), 'gap')}, {duration(int(table.dur.sum()))} together: stretches in which no stream of a "
        "device has work, cut into parts by what the host and the launch did meanwhile. The parts add up to the gap."
    )
    if not analysis.utilisation_reliable:
        note = f"Device records are missing, so some of this may not have been idle. {note}"
    unknown = int(table.unknown.sum())
    if unknown:
        note += f" {share(unknown / int(table.dur.sum()))} of it is unknown. {UNKNOWN}"
    chart = causes_chart(analysis.gap_causes, int(table.dur.sum()))
    blocks: list[Block] = [ChartsView((chart,))] if chart else []
    blocks += [_causes(context), _longest(context), _lengths(context)]
    return SectionView("gaps", "Idle gaps", note, (*blocks, DefinitionsView("Causes", definitions())))


def definitions() -> tuple[tuple[str, str], ...]:
    """Return each cause with its meaning and its threshold."""
    limits = {cause: f" (at most {duration(ns)} {measured})" for cause, ns, measured in THRESHOLDS}
    return tuple((label, MEANINGS[column] + limits.get(label, "")) for column, label in CAUSES)


def _causes(context: Context) -> TableView:
    table = context.analysis.gap_causes
    rows: list[tuple[Cell, ...]] = [
        (str(table.cause[i]), *(getattr(table, c.key)[i].item() for c in CAUSE_COLUMNS[1:]))
        for i in range(len(table))
        if int(table.total[i])
    ]
    return TableView("gap-causes", "causes of idle time", CAUSE_COLUMNS, tuple(rows), sort=1, page=15)


def _lengths(context: Context) -> TableView:
    table = context.analysis.gap_lengths
    rows: list[tuple[Cell, ...]] = []
    for i in np.flatnonzero(table.gaps).tolist():
        end = int(table.longest[i])
        text = f"{duration(int(table.shortest[i]))} to {duration(end)}" if end >= 0 else "longer"
        rows.append((text, int(table.gaps[i]), int(table.total[i])))
    return TableView("gap-lengths", "classes of length", LENGTH_COLUMNS, tuple(rows), sort=2, page=15)


def _longest(context: Context) -> TableView:
    table = context.analysis.gaps
    order = longest_gaps(table, min(context.options.top, 200))
    rows = [_row(context, table, i) for i in order.tolist()]
    rest = len(table) - len(rows)
    others = ""
    if rest:
        left = int(table.dur.sum()) - int(table.dur[order].sum())
        others = f"Others ({rest:,} gaps): {duration(left)}."
    columns: tuple[Column, ...] = GAP_COLUMNS
    if len(context.analysis.gpu_time) > 1:
        columns += (Column("device", begin(context.device), "text"),)
    cells = tuple(row[: len(columns)] for row in rows)
    windows = tuple((int(table.start[i]), int(table.start[i] + table.dur[i])) for i in order.tolist())
    return TableView(
        "gaps", "longest gaps", columns, cells, sort=1, page=10, others=others, windows=windows, shows="this gap"
    )  # fmt: skip


def shown(context: Context, name: str) -> str:
    """Return a name as a cell of text: one line, no home folder unless paths are asked for."""
    return units.shown(name, LABEL_LIMIT, context.options.show_paths)


def _row(context: Context, table: Gaps, i: int) -> tuple[Cell, ...]:
    found = [(int(getattr(table, column)[i]), label) for column, label in CAUSES]
    texts = [f"{label} {duration(ns)}" for ns, label in sorted(found, key=lambda x: -x[0]) if ns]
    if len(texts) == 1:
        texts = ["all of it"]
    if int(table.queued[i]):
        texts.append(safe(str(table.wait[i])) or NO_WAIT_RECORDED)
    where = [str(getattr(table, key)[i]) for key in ("op", "annotation", "python")]
    return (
        int(table.start[i]),
        int(table.dur[i]),
        str(table.cause[i]),
        "; ".join(texts),
        context.names.add(str(table.before[i])),
        context.names.add(str(table.after[i])),
        " · ".join(shown(context, w) for w in where if w),
        safe(str(table.device[i])),
    )
