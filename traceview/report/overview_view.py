"""Runs side by side as the data of a page, as text, and as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from traceview import __version__
from traceview.diff.document import us
from traceview.diff.overview import FIGURES, Overview
from traceview.report.diff_text import NAMES
from traceview.report.diff_work import whole_numbers
from traceview.report.text_blocks import Block
from traceview.report.view import Cell, Chip, Column, Form, Report, ReportOptions, SectionView, TableView
from traceview.units import LABEL_LIMIT, count, duration, plural, safe, shown

SCHEMA = "traceview.compare/1"
COUNTED = ("launches", "syncs")
_SECONDARY = ("exposed_comm", "exposed_copy", "syncs")
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
        "not_comparable": [list(reasons) for reasons in found.refused],
        "best": {_key(k): list(places) for k, places in found.best.items()},
        "operators": [
            {"op": o.op, "us": [us(t) for t in o.times], "calls": [float(c) for c in o.calls]}
            for o in found.operators
        ],
    }


def _key(figure: str) -> str:
    return figure if figure in COUNTED else f"{figure}_us"


def overview_blocks(found: Overview, top: int) -> list[Block]:
    """Return runs side by side for the terminal; * marks the best."""
    runs = range(len(found.runs))
    letters = tuple(_letter(i) for i in runs)
    head = [f"{plural(len(found.runs), 'run')}, figures {_PER[found.per]}"]
    for i, run in enumerate(found.runs):
        device = run.device or "device not recorded"
        steps = f" · {plural(run.steps, 'complete step')}" if found.per == "step" else ""
        head.append(safe(f"  {_letter(i)}  {run.label} · {device}{steps}"))
    head += _refusals(found)
    figures = tuple(
        (
            NAMES[key],
            *(_text(key, r.figures[key], i in found.best.get(key, ())) for i, r in enumerate(found.runs)),
        )
        for key in FIGURES
        if any(run.figures[key] for run in found.runs)
    )
    lines = tuple(
        (
            shown(line.op, _WIDE),
            *(
                f"{duration(float(t))} × {_calls(c)}" if c else "–"
                for t, c in zip(line.times, line.calls, strict=True)
            ),
        )
        for line in found.operators[:top]
    )
    rest = len(found.operators) - top
    after = (f"  and {plural(rest, 'more operator')}",) if rest > 0 else ()
    align = "<" + ">" * len(letters)
    return [
        Block(tuple(head)),
        Block(
            ("Figures:" if any(found.refused) else "Figures, * marks the best:",),
            ("", *letters),
            figures,
            align,
        ),
        Block(("Device time by operator:",), ("", *letters), lines, align, after),
    ]


def _refusals(found: Overview) -> list[str]:
    """Say of each run that cannot be compared with the first why that is."""
    return [
        safe(
            f"{_letter(i)} cannot be compared with {_letter(0)}: {'; '.join(reasons)}. None is marked as the best."
        )
        for i, reasons in enumerate(found.refused)
        if reasons
    ]


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place)


def _head(key: str) -> str:
    name = f"{NAMES[key][:1].upper()}{NAMES[key][1:]}"
    return name if key in COUNTED else f"{name} ms"


def _text(key: str, value: float | None, best: bool) -> str:
    if value is None:
        return "–"
    return ("* " if best else "") + (count(round(value)) if key in COUNTED else duration(value))


def _calls(number: Fraction) -> str:
    """Return how many calls a time is of, per unit."""
    return count(int(number)) if number.denominator == 1 else f"{float(number):,.1f}"


def build_overview(found: Overview, options: ReportOptions) -> Report:
    """Turn runs side by side into the data of a page."""
    used = [k for k in FIGURES if any(run.figures[k] is not None for run in found.runs)]
    columns = (
        Column("run", "Run", "text"), Column("label", "Trace", "text"), Column("device", "Device", "text"),
        Column("steps", "Steps", "count", "complete ones", hidden=found.per != "step"),
        *(Column(k, _head(k), "count" if k in COUNTED else "ms", hidden=k in _SECONDARY) for k in used),
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
    note = " ".join((note, *_refusals(found)))
    sections = (
        SectionView("runs", "Runs", note, (TableView("runs", "runs", columns, tuple(rows), 0),)),
        SectionView("operators", "Operators", "Device time of the work launched directly by each operator.", (_operators(found, options.top),)),
    )  # fmt: skip
    fastest = found.best.get("step_time") or found.best.get("kernel_time") or ()
    verdict = (
        f"{', '.join(_letter(i) for i in fastest)} of {plural(len(found.runs), 'run')} took the least time."
        if fastest
        else f"{plural(len(found.runs), 'run')} side by side; {'not all can be compared' if any(found.refused) else 'none is best by time'}."
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
    calls: Form = "count" if whole_numbers(c for o in found.operators for c in o.calls) else "number"
    columns = (
        Column("op", "Operator", "text"),
        *(Column(f"t{i}", f"{_letter(i)} ms", "ms", bar=True) for i in runs),
        *(Column(f"c{i}", f"{_letter(i)} calls", calls, hidden=True) for i in runs),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            shown(line.op, LABEL_LIMIT),
            *(float(t) if c else None for t, c in zip(line.times, line.calls, strict=True)),
            *(float(c) for c in line.calls),
        )
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
