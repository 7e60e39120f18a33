"""Charts of where time went: each step, and idle time by cause. Patterns and labels say what colours say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceview.analyses.gaps import GapCauses
from traceview.analyses.step_windows import StepWindows
from traceview.report.figures import bar_chart_axis, escaped_label
from traceview.report.view import ChartView
from traceview.units import count, duration, milliseconds, plural, share

PARTS = (
    ("compute", ("compute",), "gemm", ""),
    ("exposed communication", ("exposed_collective",), "collective", "/"),
    ("exposed copies and fills", ("exposed_copy", "exposed_fill"), "copy", "\\"),
    ("idle", ("idle",), "idle", "."),
)
"""Label, columns of StepWindows, colour and pattern of the parts of a step's window, which add up to it."""
_TICKS, _FEW = 14, 6  # labels of an axis; a bar is no wider than one of so many
_HEIGHT = 320
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
_HOST_NOTE = "Wall time on the host; no step has a window on the device."


def steps_chart(
    table: StepWindows, windows: Sequence[tuple[int, int]], reliable: bool = True
) -> ChartView | None:
    """Show the window of each step as a stack of its parts; without windows its wall time on the host.

    `windows` (ns) are what a click on the bar of a step shows in the timeline; as many steps are drawn.
    """
    number = len(windows)
    placed = [i for i in range(number) if int(table.window_start[i]) >= 0]
    parts = PARTS if placed else (("host wall", ("wall",), "op", ""),)
    shown = placed or list(range(number))
    if not shown:
        return None
    stacks = [
        [sum(int(getattr(table, column)[i]) for column in columns) for i in shown]
        for _, columns, _, _ in parts
    ]
    labels = [label if reliable or label != "idle" else "idle or not recorded" for label, *_ in parts]
    names = [str(int(table.number[i])) for i in shown]
    data = [
        _stack(label, token, pattern, stack, names)
        for label, (_, _, token, pattern), stack in zip(labels, parts, stacks, strict=True)
        if sum(stack) or len(parts) == 1 or label.startswith("idle")
    ]
    note = "Of the step's window on the device, which the parts add up to." if placed else _HOST_NOTE
    whole = sum(map(sum, stacks))
    said = [
        f"{label} {share(sum(stack) / whole if whole else 0)}"
        for label, stack in zip(labels, stacks, strict=True)
    ]
    return ChartView(
        "chart-steps",
        "Where the time of each step went" if placed else "Time of each step",
        f"{_drawn(len(shown), len(table))}{note} Click a bar to show its step in the timeline.",
        f"A bar for each of {plural(len(shown), 'step')}, {duration(whole)} together: {', '.join(said)}.",
        _HEIGHT,
        {"data": data, "layout": _layout(names, [windows[i] for i in shown])},
        table="steps",
    )


def _drawn(number: int, of: int) -> str:
    return "" if number == of else f"{count(number)} of {count(of)} steps are drawn. "


def _stack(label: str, token: str, pattern: str, stack: list[int], names: list[str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": label,
        "x": list(range(len(stack))),
        "y": [ns / 1e6 for ns in stack],
        "customdata": [f"step {name} · {label} {milliseconds(ns)}" for name, ns in zip(names, stack, strict=True)],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"pattern": {"shape": pattern, "size": 6, "solidity": 0.25}},
        "meta": {"tokens": [token]},
    }  # fmt: skip


def _layout(names: list[str], windows: list[tuple[int, int]]) -> dict[str, Any]:
    every = -(-len(names) // _TICKS)
    ticks, spare = list(range(0, len(names), every)), max(_FEW - len(names), 0) / 2
    return {
        "height": _HEIGHT,
        "barmode": "stack",
        "bargap": 0.25 if len(names) < 60 else 0.05,
        "showlegend": True,
        "legend": _LEGEND,
        "xaxis": {
            "title": {"text": "step"},
            "tickvals": ticks,
            "ticktext": [names[i] for i in ticks],
            "range": [-0.6 - spare, len(names) - 0.4 + spare],
            "fixedrange": True,
        },
        "yaxis": {"title": {"text": "ms"}, "rangemode": "tozero", "fixedrange": True},
        "meta": {"windows": [list(w) for w in windows]},
    }


def causes_chart(table: GapCauses, whole: int) -> ChartView | None:
    """Show idle time by cause as bars, in gaps inside steps and outside; `whole` (ns) is all idle time."""
    rows = sorted((i for i in range(len(table)) if int(table.total[i])), key=lambda i: -int(table.total[i]))
    if not rows:
        return None
    causes = [str(table.cause[i]) for i in rows]
    data = []
    split = all(any(int(v) for v in column[rows]) for column in (table.inside_steps, table.outside_steps))
    for label, column, token, pattern in (
        ("in gaps inside steps" if split else "idle time", "inside_steps" if split else "total", "gemm", ""),
        ("in other gaps", "outside_steps", "launch", "/"),
    )[: 2 if split else 1]:
        values = [int(getattr(table, column)[i]) for i in rows]
        texts = [
            f"{cause}: {milliseconds(ns)} {label}" if split else f"{cause}: {milliseconds(ns)}"
            for cause, ns in zip(causes, values, strict=True)
        ]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": label,
                "x": [ns / 1e6 for ns in values],
                "y": list(range(len(rows))),
                "customdata": [escaped_label(t) for t in texts],
                "hovertemplate": "%{customdata}<extra></extra>",
                "marker": {"pattern": {"shape": pattern, "size": 6, "solidity": 0.25}},
                "meta": {"tokens": [token]},
            }
        )
    height = 90 + 28 * len(rows)
    said = [f"{c} {share(int(table.total[i]) / whole)}" for c, i in zip(causes, rows, strict=True)]
    layout = {
        "height": height,
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": split,
        "legend": _LEGEND,
        "xaxis": {"title": {"text": "idle ms"}, "rangemode": "tozero", "fixedrange": True},
        "yaxis": bar_chart_axis(causes),
    }
    return ChartView(
        "chart-causes",
        "Idle time by cause",
        f"{duration(whole)} in all, over all devices.",
        f"Bars of idle time by cause: {', '.join(said)}.",
        height,
        {"data": data, "layout": layout},
        table="gap-causes",
    )
