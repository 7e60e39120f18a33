"""Launches: what the host paid to launch, beside what the device worked, and how long work waited."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.report import figures
from traceview.report.context import Context
from traceview.report.view import (
    Block,
    Cell,
    ChartsView,
    Column,
    DefinitionsView,
    Fact,
    FactsView,
    SectionView,
    TableView,
)
from traceview.report.wording import begin, device_word, only_recorded
from traceview.units import count, duration, plural, share

QUANTILES = (
    Column("measure", "Measure", "text"),
    Column("count", "Kernels", "count", "kernels that have this measure"),
    Column("min", "Min µs", "us"),
    Column("median", "Median µs", "us"),
    Column("p95", "p95 µs", "us"),
    Column("p99", "p99 µs", "us"),
    Column("max", "Max µs", "us"),
    Column("mean", "Mean µs", "us"),
)
CALLS = (
    Column("name", "Host call", "name"),
    Column("calls", "Calls", "count"),
    Column("cpu_sum", "CPU total ms", "ms", "host time of these calls", bar=True),
    Column("cpu_median", "CPU median µs", "us"),
    Column("kernels", "Kernels", "count", "kernels that these calls launched"),
)
MEASURES = (("latency", "launch latency"), ("queue_delay", "queue delay"), ("start_delay", "start delay"))
DEFINITIONS = (
    (
        "launch latency",
        "kernel start − launch start. Of a graph launch only its first device record has one.",
    ),
    (
        "queue delay",
        (
            "kernel start − launch end, where that is not negative. Kernels that start while the call still runs "
            "have none and are left out, not counted as zero: median and p95 are of the others."
        ),
    ),
    (
        "start delay",
        (
            "kernel start − the later of launch start and end of the work before it on its stream, at least 0: "
            "what the launch itself cost. A deep queue on a busy device has a large latency and no start delay, "
            "and is healthy."
        ),
    ),
)
_TEXTS = ("min", "median", "p95", "p99", "max", "mean")
EMPTY = (
    "No host call that launches kernels in this trace. Record with ProfilerActivity.CPU beside the device's "
    "activity, and not with a filter that drops runtime calls."
)


def build(context: Context) -> SectionView:
    """Show launch cost beside kernel time, the three delays, and the launching calls."""
    launches = context.analysis.launches
    if not launches.calls:
        return SectionView("launches", "Launches", empty=EMPTY)
    blocks: list[Block] = [FactsView("", _facts(context.analysis))]
    if chart := figures.launch_and_kernel_time(context.analysis, context.cost, context.labels):
        blocks.append(ChartsView((chart,)))
    rows: list[tuple[Cell, ...]] = []
    for key, label in MEASURES:
        measure = getattr(launches, key)
        if measure is not None:
            rows.append((label, measure.count, *(float(getattr(measure, k)) for k in _TEXTS)))
    if rows:
        blocks.append(TableView("delays", "measures", QUANTILES, tuple(rows), sort=0))
        blocks.append(DefinitionsView("", DEFINITIONS))
    blocks.append(_calls(context))
    note = (
        "The host enqueues, the device works later: these are two clocks running side by side, never one sum."
    )
    if not len(context.analysis.gpu_time):
        note = "What the host spent to launch; no device record says what came of it."
    return SectionView("launches", "Launches", note, tuple(blocks))


def _calls(context: Context) -> TableView:
    table = context.analysis.launches.by_call
    columns = CALLS if len(context.analysis.gpu_time) else CALLS[:-1]
    rows: list[tuple[Cell, ...]] = [
        (
            context.names.add(str(table.name[i])),
            *(getattr(table, c.key)[i].item() for c in columns[1:]),
        )
        for i in range(min(len(table), context.options.top))
    ]
    return TableView("launch-calls", "launching calls", columns, tuple(rows), sort=2, page=10)


def _facts(analysis: Analysis) -> tuple[Fact, ...]:
    launches = analysis.launches
    time = Fact(
        "CPU launch time",
        duration(launches.cpu_ns),
        f"host time inside {plural(launches.calls, 'launching call')}",
    )
    missing = Fact(
        "Launches without record",
        count(launches.without_gpu),
        launches.without_reason or ("" if launches.without_gpu else "every launch has its device record"),
    )
    return (time, *_device_facts(analysis), missing) if len(analysis.gpu_time) else (time, missing)


def _device_facts(analysis: Analysis) -> list[Fact]:
    launches, kernels, device = analysis.launches, analysis.kernels, device_word(analysis.trace)
    recorded = "recorded " if only_recorded(analysis) else ""
    facts = [
        Fact(
            begin(f"{device} kernel time"),
            duration(int(kernels.sum.sum())),
            f"summed over {plural(int(kernels.calls.sum()), f'{recorded}kernel')}; overlap counts twice",
        ),
        Fact(
            "Linked kernels",
            count(launches.linked),
            f"{plural(launches.unlinked, 'kernel')} without a launch in the trace",
        ),
        Fact(
            "Started during the call",
            count(launches.started_during_call),
            "kernels that start before their launch returned: they have no queue delay",
        ),
    ]
    if launches.negative:
        facts.append(
            Fact(
                "Clock skew",
                count(launches.negative),
                "kernels that start before their launch began: not measured",
            )
        )
    if launches.graph_launches:
        part = launches.graph_kernel_share
        facts.append(
            Fact(
                "Graph launches",
                count(launches.graph_launches),
                "" if part is None else f"their kernels hold {share(part)} of kernel time",
            )
        )
    return facts
