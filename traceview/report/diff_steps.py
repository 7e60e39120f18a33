"""The section of a comparison's page that shows the samples of both sides, and how they were judged."""

from __future__ import annotations

from traceview.diff.claims import COUNTS
from traceview.diff.compare import Diff
from traceview.report.diff_text import NAMES, change_text, headline_keys
from traceview.report.view import Block, Cell, ChartsView, ChartView, Column, SectionView, TableView
from traceview.units import count, duration

_MOST = 1_000
_SECONDARY = ("wall", "compute", "exposed_comm", "exposed_copy", "launches", "launch_cpu")
_HEAD = (
    Column("place", "#", "count", hidden=True),
    Column("what", "Per step", "text"),
    Column("base", "Base", "text", "median of the compared steps"),
    Column("new", "New", "text", "median of the compared steps"),
    Column("delta", "Change", "text", "difference of the medians"),
    Column("low", "At least", "text", "95 % bootstrap interval of the change"),
    Column("high", "At most", "text", "95 % bootstrap interval of the change"),
    Column("told", "Verdict", "text"),
    Column("p", "p", "number", "rank test", hidden=True),
)


def steps_section(diff: Diff, chart: ChartView | None) -> SectionView | None:
    """Show the samples of both sides; None without steps."""
    if not diff.headlines:
        return None
    blocks: list[Block] = [ChartsView((chart,))] if chart is not None else []
    judged = tuple((i + 1, *_judged(diff, key)) for i, key in enumerate(headline_keys(diff)))
    blocks += [TableView("headlines", "headlines", _HEAD, judged, 0), _samples(diff)]
    note = "Complete steps with a device window; their spread is the reason to believe a change or not."
    return SectionView("steps", "Steps", note, tuple(blocks))


def _samples(diff: Diff) -> TableView:
    keys = headline_keys(diff)
    columns = (
        Column("side", "Side", "text"),
        Column("step", "Step", "count"),
        *(
            Column(
                key, _label(key) if key in COUNTS else f"{_label(key)} ms", "count" if key in COUNTS else "ms",
                hidden=key in _SECONDARY,
            )
            for key in keys
        ),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for name, measured in zip(("base", "new"), diff.measured, strict=True):
        found = [measured.headlines[k] for k in keys]
        rows += [(name, step, *(int(c[i]) for c in found)) for i, step in enumerate(measured.steps)]
    return TableView("samples", "compared steps", columns, tuple(rows[:_MOST]), 0, page=25)


def _label(key: str) -> str:
    return f"{NAMES[key][:1].upper()}{NAMES[key][1:]}"


def _judged(diff: Diff, key: str) -> tuple[Cell, ...]:
    judged = diff.headlines[key]
    counted = key in COUNTS
    found = judged.interval
    ends = [change_text(v, counted) for v in (found.low, found.high)] if found else ["–", "–"]
    sides = [count(round(v)) if counted else duration(v) for v in (judged.base, judged.new)]
    return (_label(key), *sides, change_text(judged.delta, counted), *ends, verdict_of(diff, key), judged.p)


def verdict_of(diff: Diff, key: str) -> str:
    """Return what is claimed of a headline, or why nothing is."""
    judged = diff.headlines[key]
    if not judged.delta:
        return "same"
    return "larger than the noise" if judged.claimed else f"~ {judged.reason}"
