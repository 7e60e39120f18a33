"""Launch behaviour: whether the host keeps ahead of the device, and how long kernels are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from traceview.analyses.launch_behaviour import LaunchBehaviour, QueueDepth
from traceview.report.context import NO_KERNELS, Context
from traceview.report.view import Block, Cell, Column, Fact, FactsView, SectionView, TableView
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
        blocks.append(_lengths(found))
    if len(found.depth):
        blocks.append(_depth(found.depth))
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


def _depth(table: QueueDepth) -> TableView:
    key = [f"{d}\0{s}" for d, s in zip(table.device.tolist(), table.stream.tolist(), strict=True)]
    edges = [0, *(i for i in range(1, len(key)) if key[i] != key[i - 1]), len(key)]
    rows: list[tuple[Cell, ...]] = []
    for first, last in pairwise(edges):
        name = (shown(str(table.device[first])), shown(str(table.stream[first])))
        rows.append((*name, int(table.depth[first:last].max())))
    return TableView("queue-depth", "stream queues", DEPTH, tuple(rows), sort=2, page=10)
