"""Launch behaviour: whether the host keeps ahead of the device, and how long kernels are."""

from __future__ import annotations

import numpy as np

from traceview.analyses.launch_behaviour import LaunchBehaviour
from traceview.report import figures
from traceview.report.context import NO_KERNELS, Context
from traceview.report.queues import Queue, deepest, queues, thinned
from traceview.report.view import (
    Block,
    Cell,
    ChartsView,
    Column,
    Fact,
    FactsView,
    SectionView,
    TableView,
)
from traceview.report.wording import begin
from traceview.units import count, duration, plural, share, shown

LENGTHS = (
    Column("from", "Kernel length", "text"),
    Column("kernels", "Kernels", "count"),
    Column("sum", "Total ms", "ms", "their added durations", bar=True),
    Column("share", "Share %", "share", "of the summed kernel time"),
)
DEPTH = (
    Column("device", "Device", "text"),
    Column("stream", "Stream", "text"),
    Column("most", "Deepest queue", "count", "most records launched and not begun at one time", bar=True),
)
DRAWN, POINTS, STRETCHES = 6, 300, 20  # lines of the chart, points of each; rows of the table for each
OVER_TIME = (
    Column("begin", "From ms", "ms", "from the trace's first event"),
    Column("end", "To ms", "ms"),
    *DEPTH[:2],
    Column("most", "Deepest queue", "count", "most records launched and not begun in this stretch", bar=True),
)
NOTE = (
    "Start delays under idle time are an upper bound of what launching itself cost. A deep queue means that the host keeps "
    "ahead of the device."
)
EMPTY = (
    "No launch in this trace is linked to a kernel. Record ProfilerActivity.CPU beside the device's activity, and not with a "
    "filter that drops runtime calls."
)
TITLE = "Launch behaviour"


def build(context: Context) -> SectionView:
    """Show what launching cost, kernel lengths and queue depth."""
    found = context.analysis.launch_behaviour
    if not len(context.analysis.gpu_time):
        return SectionView("launch-behaviour", TITLE, empty=NO_KERNELS)
    blocks: list[Block] = []
    if found.shorter_share is not None or found.graph_launches:
        blocks.append(FactsView("", _facts(found, context)))
    if int(found.lengths.kernels.sum()):
        chart = figures.kernel_lengths(context.trace)
        blocks += [*((ChartsView((chart,)),) if chart else ()), _lengths(found)]
    if len(found.depth):
        lines = queues(found.depth)
        blocks += [_depth(lines), *_over_time(lines, context)]
    if not blocks:
        return SectionView("launch-behaviour", TITLE, empty=EMPTY)
    return SectionView("launch-behaviour", TITLE, NOTE, tuple(blocks))


def _facts(found: LaunchBehaviour, context: Context) -> tuple[Fact, ...]:
    facts = [
        Fact(
            "Start delays under idle",
            duration(found.delay_cost),
            "idle time between a launch and the start of its work, at most",
        )
    ]
    if found.shorter_share is not None:
        text = f"{plural(found.shorter_than_launch, 'kernel')} run shorter than the call that launched them"
        facts.append(Fact("Shorter than their launch", share(found.shorter_share), text))
    if found.graph_launches:
        mean = found.graph_kernels / found.graph_launches
        part = context.analysis.launches.graph_kernel_share
        text = f"{mean:,.0f} kernels each" + ("" if part is None else f", {share(part)} of the kernel time")
        facts.append(Fact("Graph launches", count(found.graph_launches), text))
    steps = context.analysis.step_windows.launches
    if len(steps):
        facts.append(
            Fact(
                "Launches per step",
                f"{float(np.median(steps)):,.0f}",
                f"median of {plural(len(steps), 'step')}",
            )
        )
    if found.without_operator:
        text = "linked kernels whose launch lies in no operator"
        facts.append(Fact("Without an operator", count(found.without_operator), text))
    return tuple(facts)


def _lengths(found: LaunchBehaviour) -> TableView:
    table, whole = found.lengths, max(int(found.lengths.sum.sum()), 1)
    rows: list[tuple[Cell, ...]] = []
    for i in np.flatnonzero(table.kernels).tolist():
        end, ns = int(table.longest[i]), int(table.sum[i])
        text = f"{duration(int(table.shortest[i]))} to {duration(end)}" if end >= 0 else "longer"
        rows.append((text, int(table.kernels[i]), ns, ns / whole))
    return TableView("kernel-lengths", "classes of kernel length", LENGTHS, tuple(rows), sort=2, page=15)


def _depth(found: list[Queue]) -> TableView:
    rows: list[tuple[Cell, ...]] = [(shown(q.device), shown(q.stream), q.most) for q in found]
    return TableView("queue-depth", "stream queues", DEPTH, tuple(rows), sort=2, page=10)


def _over_time(found: list[Queue], context: Context) -> tuple[Block, Block]:
    """Draw the deepest queues over time, and tell the same in a table."""
    top = sorted(found, key=lambda q: -q.most)[:DRAWN]
    span = min(int(q.time[0]) for q in top), max(int(q.time[-1]) for q in top) + 1
    edges = span[0] + np.arange(STRETCHES + 1) * (span[1] - span[0]) // STRETCHES
    rows: list[tuple[Cell, ...]] = []
    for queue in top:
        depth = deepest(queue, edges)
        first = np.flatnonzero(np.append(True, depth[1:] != depth[:-1]))  # neighbours alike are one row
        until = edges[np.append(first[1:], STRETCHES)].tolist()
        cells = zip(edges[first].tolist(), until, depth[first].tolist(), strict=True)
        names = (shown(queue.device), shown(queue.stream))
        rows += [(begin_at, end_at, *names, most) for begin_at, end_at, most in cells]
    rows.sort(key=lambda row: row[0] if isinstance(row[0], int) else 0)
    left = len(found) - len(top)
    others = f"{plural(left, 'further stream')} with shorter queues." if left else ""
    lines = [
        (f"{begin(context.device)} {shown(q.device)} · stream {shown(q.stream)}", thinned(q, POINTS))
        for q in top
    ]
    chart = figures.queue_depth(lines, span)
    windows = tuple((int(row[0] or 0), int(row[1] or 0)) for row in rows)
    table = TableView(
        "queue-over-time", "stretches", OVER_TIME, tuple(rows), sort=0, page=10, others=others, windows=windows, shows="this stretch"
    )  # fmt: skip
    return ChartsView((chart,)), table
