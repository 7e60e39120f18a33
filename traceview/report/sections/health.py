"""Health: how far the trace can be trusted, and what was not recorded."""

from __future__ import annotations

import numpy as np

from traceview.analyses.health import HOW_TO_RECORD, Health
from traceview.report.context import Context
from traceview.report.sections.gaps import shown
from traceview.report.view import (
    Block,
    Cell,
    Column,
    DefinitionsView,
    Fact,
    FactsView,
    SectionView,
    TableView,
)
from traceview.units import count, duration, plural, share

COVERAGE = (
    Column("number", "Step", "text"),
    Column("launches", "Launches", "count"),
    Column("complete", "Device records", "text", "complete: 99 % of its launches have one"),
)
UNRECORDED = (
    Column("start", "At ms", "ms", "from the trace's first event"),
    Column("dur", "For ms", "ms", bar=True),
    Column("call", "Waiting call", "text"),
)
NOTE = "What limits the figures above. Nothing is extrapolated: where records are missing, times are those recorded."
MOST_ROWS = 200
_HOW_WITH_XLA = {
    "shapes": "XLA writes no shapes into this file",
    "stacks": "record the Python tracer (python_tracer_level=1 of jax.profiler.ProfileOptions)",
    "memory": "take jax.profiler.save_device_memory_profile beside it",
    "device": "record where the profiler may read the device, and end after the result is there (block_until_ready)",
    "steps": "put jax.profiler.StepTraceAnnotation around each iteration",
}


def build(context: Context) -> SectionView:
    """Show coverage, broken records, what was not recorded and how to record it."""
    found = context.analysis.health
    blocks: list[Block] = [FactsView("", _facts(context, found))]
    if len(found.unrecorded):
        blocks.append(_unrecorded(context, found))
    if len(found.steps):
        blocks.append(_coverage(found))
    how = _HOW_WITH_XLA if context.of_xla else HOW_TO_RECORD
    missing = tuple(
        (f"{name}: not recorded", f"{how.get(name, HOW_TO_RECORD[name])}.")
        for name, there in found.recorded.items()
        if not there
    )
    if missing:
        blocks.append(DefinitionsView("Not recorded", missing))
    return SectionView("health", "Trace health", NOTE, tuple(blocks))


def _facts(context: Context, found: Health) -> tuple[Fact, ...]:
    coverage = context.analysis.coverage
    facts = [
        Fact(
            "Launches with device records",
            f"{coverage.present:,} of {coverage.expected:,}",
            f"{plural(coverage.capture, 'launch', 'launches')} under capture and {coverage.tail:,} in the last "
            "millisecond are set aside",
        ),
        Fact(
            "Profiler's own time",
            duration(found.overhead),
            f"union of {plural(found.overhead_calls, 'recorded stretch', 'recorded stretches')}",
        ),
    ]
    said = (
        (
            found.unlinked_work,
            "Device work without a launch",
            "launched before the trace, or launches not recorded",
        ),
        (found.duplicates, "Duplicate records", "counted once"),
        (found.untimed, "Records without a time", "counted, kept out of all times"),
        (found.overlong, "Overlong records", f"{duration(found.overlong_clipped)} clipped in rankings"),
        (found.clock_skew, "Kernels before their launch", "clocks of host and device differ"),
        (found.launches_lost, "Launches without a record", "neither captured nor in the last millisecond"),
        (found.unfinished, "Unfinished slices", "still open when the trace ended"),
    )
    facts += [Fact(label, count(number), text) for number, label, text in said if number]
    if found.graph_share:
        facts.append(
            Fact("Kernel time from graphs", share(found.graph_share), "kernels started by graph launches")
        )
    states = (
        (found.cut, "The file is cut", "the end is missing"),
        (found.cpu_only, "Only the host", "neither device work nor launches"),
        (found.capture_run, "A capture run", "over 20 % of the launches cannot have records: no utilisation"),
    )
    return (*facts, *(Fact(label, "yes", text) for holds, label, text in states if holds))


def _unrecorded(context: Context, found: Health) -> TableView:
    table = found.unrecorded
    order = np.argsort(-table.dur, kind="stable")[:MOST_ROWS]
    rows: list[tuple[Cell, ...]] = [
        (int(table.start[i]), int(table.dur[i]), shown(context, str(table.call[i]))) for i in order.tolist()
    ]
    base = (
        "The host waited for the device, which shows no work: possibly unrecorded device work, not idle time."
    )
    windows = tuple((int(table.start[i]), int(table.start[i] + table.dur[i])) for i in order.tolist())
    return TableView(
        "unrecorded", "waits without work", UNRECORDED, tuple(rows), sort=1, page=10, base=base, windows=windows, shows="this wait"
    )  # fmt: skip


def _coverage(found: Health) -> TableView:
    table = found.steps
    rows: list[tuple[Cell, ...]] = [
        (
            str(int(table.number[i])),
            int(table.launches[i]),
            "complete" if table.complete[i] else "no launch" if not table.launches[i] else "incomplete",
        )
        for i in range(min(len(table), MOST_ROWS))
    ]
    rest = len(table) - len(rows)
    others = f"{rest:,} further steps." if rest else ""
    return TableView("coverage", "launches by step", COVERAGE, tuple(rows), sort=1, page=10, others=others)
