"""Steps: how long each took on the device and on the host, and what the device did meanwhile."""

from __future__ import annotations

from traceview.analyses.step_windows import (
    FEWEST_FOR_OUTLIERS,
    FEWEST_PERIODS,
    HOST_WALL,
    StepTime,
    StepWindows,
)
from traceview.analyses.steps import OUTLIER
from traceview.report.context import Context
from traceview.report.time_charts import steps_chart
from traceview.report.view import Block, Cell, ChartsView, Column, Fact, FactsView, SectionView, TableView
from traceview.units import LABEL_LIMIT, count, duration, plural, share, shown

COLUMNS = (
    Column("number", "Step", "count"),
    Column(
        "period",
        "Device period ms",
        "ms",
        "first record on the main stream to that of the next step",
        bar=True,
    ),
    Column("wall", "Host wall ms", "ms", "length of its mark on the host"),
    Column("compute", "Compute ms", "ms", "of the window: union of compute kernels"),
    Column("exposed_collective", "Collective ms", "ms", "of the window: exposed collectives"),
    Column("exposed_copy", "Copy ms", "ms", "of the window: exposed copies"),
    Column("exposed_fill", "Fill ms", "ms", "of the window: exposed fills"),
    Column(
        "idle",
        "Idle ms",
        "ms",
        "of the window: no device work; with the parts before it, it adds up to the window",
    ),
    Column("kernels", "Kernels", "count", "kernels it launched"),
    Column("kernel_sum", "Kernel sum ms", "ms", "their added durations"),
    Column("launches", "Launches", "count"),
    Column("outside", "Outside ms", "ms", "work it launched that ran outside its window"),
    Column("marks", "Remarks", "text"),
)
_ALWAYS = ("number", "wall")
"""Columns that are shown even where all of them are zero or empty; the others are left out then."""
_MARKS = (
    ("open_end", "open end"),
    ("outlier", "outlier"),
)
EMPTY = (
    "No steps in this trace. Call prof.step() after each iteration (torch.profiler.profile with a schedule), put "
    'record_function("train_step") around it, or choose the slices that mark a step with --step-name REGEX.'
)

EMPTY_XLA = (
    "No steps in this trace. Put jax.profiler.StepTraceAnnotation (tf.profiler.experimental.Trace) around each iteration, or "
    "choose the slices that mark a step with --step-name REGEX."
)


def build(context: Context) -> SectionView:
    """Show the step time with its basis, and the steps."""
    table, time = context.analysis.step_windows, context.analysis.step_time
    if not len(table):
        return SectionView("steps", "Steps", empty=EMPTY_XLA if context.of_xla else EMPTY)
    rows = [_row(table, i) for i in range(min(len(table), context.options.top))]
    others = f"{len(table) - len(rows):,} further steps." if len(table) > len(rows) else ""
    used = [i for i, c in enumerate(COLUMNS) if c.key in _ALWAYS or any(row[i] for row in rows)]
    columns, cells = tuple(COLUMNS[i] for i in used), tuple(tuple(row[i] for i in used) for row in rows)
    reliable = context.analysis.utilisation_reliable or not len(context.analysis.gpu_time)
    windows = tuple(_window(table, i) for i in range(len(rows)))
    chart = steps_chart(table, windows, reliable)
    blocks: tuple[Block, ...] = (
        FactsView("", _facts(table, time)),
        *((ChartsView((chart,)),) if chart else ()),
        TableView("steps", "steps", columns, cells, 0, others=others, windows=windows, shows="this step"),
    )
    return SectionView("steps", "Steps", _note(time, reliable), blocks)


def _window(table: StepWindows, i: int) -> tuple[int, int]:
    """Return what shows a step: its window on the device, else its mark on the host."""
    if int(table.window_start[i]) >= 0:
        return int(table.window_start[i]), int(table.window_end[i])
    return int(table.start[i]), int(table.start[i] + table.wall[i])


def _note(time: StepTime, reliable: bool) -> str:
    if time.basis is None:
        return "No step is complete: their launches lack device records, so no step time is told."
    note = (
        "A step's window runs from its first record on the device's main stream to the next step's first record "
        "there; the last one has no period and stays out of medians, as do incomplete steps and outliers (over "
        f"{OUTLIER} times the median of the others, told of {FEWEST_FOR_OUTLIERS} steps or more)."
    )
    if time.basis == HOST_WALL:
        note = f"Step time is wall time on the host: fewer than {FEWEST_PERIODS} steps have a device period."
    if time.differs and time.wall_median_ns is not None and time.period_median_ns is not None:
        note += (
            f" Host marks last {duration(time.wall_median_ns)}, device periods {duration(time.period_median_ns)} "
            "(medians): the host runs ahead or waits, so its marks are not step times."
        )
    if not reliable:
        note += " Device records are missing: idle means idle or not recorded."
    return note


def _facts(table: StepWindows, time: StepTime) -> tuple[Fact, ...]:
    facts = [
        Fact("Steps", count(len(table)), f"marked by {shown(str(table.name[0]), LABEL_LIMIT)} and the like")
    ]
    if time.median_ns is not None and time.p95_ns is not None and time.spread_ns is not None:
        base = f"{time.basis}, of {plural(time.count, 'step')}"
        facts += [
            Fact("Step time", duration(time.median_ns), f"median; {base}"),
            Fact("P95", duration(time.p95_ns), "of complete steps, outliers included"),
            Fact("Spread", duration(time.spread_ns), "75th less 25th percentile"),
        ]
    if time.outside_share is not None:
        facts.append(
            Fact("Outside", share(time.outside_share), "of the steps' device work, outside their windows")
        )
    return tuple(facts)


def _row(table: StepWindows, i: int) -> tuple[Cell, ...]:
    marks = [text for key, text in _MARKS if getattr(table, key)[i]]
    if not table.complete[i]:
        marks.append("incomplete")
    placed = int(table.window_start[i]) >= 0
    if not placed:
        marks.append("no window")
    figures = [getattr(table, c.key)[i].item() for c in COLUMNS[1:-1]]
    unknown = {"period": int(table.period[i]) < 0}
    parts = {"compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle", "outside"}
    cells = [
        None if unknown.get(c.key) or (c.key in parts and not placed) else v
        for c, v in zip(COLUMNS[1:-1], figures, strict=True)
    ]
    return (int(table.number[i]), *cells, ", ".join(marks))
