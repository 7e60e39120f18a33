"""Runs side by side as the data of a page, as text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from traceview import __version__
from traceview.diff.document import us
from traceview.diff.overview import FIGURES, Overview
from traceview.report.diff_text import NAMES, safe_lines
from traceview.report.view import Cell, Chip, Column, Report, ReportOptions, SectionView, TableView
from traceview.units import LABEL_LIMIT, count, duration, plural, shown

SCHEMA = "traceview.compare/1"
COUNTED = ("launches", "syncs")
_PER = {"step": "per complete step: medians of runs, means of operators", "total": "of the whole runs"}
_WIDE = 36


def overview_document(found: Overview) -> dict[str, Any]:
    """Return runs side by side as JSON; times in µs."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "per": found.per,
        "runs": [
            {
                "label": run.label,
                "device": run.device,
                "steps": run.steps,
                **{
                    _key(k): None if v is None else v if k in COUNTED else us(v)
                    for k, v in run.figures.items()
                },
            }
            for run in found.runs
        ],
        "best": {_key(k): list(places) for k, places in found.best.items()},
        "operators": [
            {"op": o.op, "us": [us(t) for t in o.times], "calls": [float(c) for c in o.calls]}
            for o in found.operators
        ],
    }


def _key(figure: str) -> str:
    return figure if figure in COUNTED else f"{figure}_us"


def overview_text(found: Overview, top: int) -> str:
    """Return runs side by side as plain lines; * marks the best."""
    return safe_lines(_lines(found, top))


def _lines(found: Overview, top: int) -> Iterator[str]:
    used = [k for k in FIGURES if any(run.figures[k] for run in found.runs)]
    yield f"{plural(len(found.runs), 'run')}, figures {_PER[found.per]}"
    for i, run in enumerate(found.runs):
        yield f"  {_letter(i)}  {run.label} · {run.device or 'device not recorded'} · {plural(run.steps, 'complete step')}"
    yield ""
    yield f"  {'':{_WIDE}}" + "".join(f"{_letter(i):>14}" for i in range(len(found.runs)))
    for key in used:
        cells = (
            _text(key, run.figures[key], i in found.best.get(key, ())) for i, run in enumerate(found.runs)
        )
        yield f"  {NAMES[key]:{_WIDE}}" + "".join(f"{cell:>14}" for cell in cells)
    yield ""
    for line in found.operators[:top]:
        times = "".join(f"{duration(float(t)) if t else '–':>14}" for t in line.times)
        yield f"  {shown(line.op, _WIDE - 2):{_WIDE}}{times}"
    if len(found.operators) > top:
        yield f"  and {count(len(found.operators) - top)} more operators"
    yield "* best"


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place)


def _text(key: str, value: float | None, best: bool) -> str:
    if value is None:
        return "–"
    return ("* " if best else "") + (count(round(value)) if key in COUNTED else duration(value))


def build_overview(found: Overview, options: ReportOptions) -> Report:
    """Turn runs side by side into the data of a page."""
    used = [k for k in FIGURES if any(run.figures[k] is not None for run in found.runs)]
    columns = (
        Column("run", "Run", "text"), Column("label", "Trace", "text"), Column("device", "Device", "text"),
        Column("steps", "Steps", "count", "complete ones"),
        *(Column(k, NAMES[k] if k in COUNTED else f"{NAMES[k]} ms", "count" if k in COUNTED else "ms") for k in used),
        Column("best", "Best", "text", "figures of which this run has the least"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            _letter(i), shown(run.label, LABEL_LIMIT), shown(run.device or "–"), run.steps, *(run.figures[k] for k in used),
            ", ".join(NAMES[k] for k in used if i in found.best.get(k, ())),
        )
        for i, run in enumerate(found.runs)
    ]  # fmt: skip
    note = f"Figures are {_PER[found.per]}. Across devices times compare; shares of bandwidth or occupancy do not."
    sections = (
        SectionView("runs", "Runs", note, (TableView("runs", "runs", columns, tuple(rows), 0),)),
        SectionView("operators", "Operators", "Device time of the work launched directly by each operator.", (_operators(found, options.top),)),
    )  # fmt: skip
    fastest = found.best.get("step_time") or found.best.get("kernel_time") or ()
    verdict = (
        f"{', '.join(_letter(i) for i in fastest)} of {plural(len(found.runs), 'run')} took the least time."
        if fastest
        else f"{plural(len(found.runs), 'run')} side by side; none is best by time."
    )
    chips = tuple(Chip(_letter(i), shown(run.label, LABEL_LIMIT)) for i, run in enumerate(found.runs))
    return Report(
        options.title or f"{plural(len(found.runs), 'run')} compared",
        verdict,
        chips,
        sections=sections,
        version=__version__,
        schema="traceview.compare-report/1",
    )


def _operators(found: Overview, top: int) -> TableView:
    runs = range(len(found.runs))
    columns = (
        Column("op", "Operator", "text"),
        *(Column(f"t{i}", f"{_letter(i)} ms", "ms") for i in runs),
        *(Column(f"c{i}", f"{_letter(i)} calls", "number") for i in runs),
    )
    rows: list[tuple[Cell, ...]] = [
        (shown(line.op, LABEL_LIMIT), *(float(t) for t in line.times), *(float(c) for c in line.calls))
        for line in found.operators[:top]
    ]
    rest = len(found.operators) - len(rows)
    return TableView(
        "operators",
        "operators",
        columns,
        tuple(rows),
        1,
        others=f"{count(rest)} further operators." if rest > 0 else "",
    )
