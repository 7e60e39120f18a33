"""Charts of a comparison, as plain plotly figures: the waterfall, and the samples of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from traceview.diff.changes import Bar, categories, partition, signed
from traceview.diff.compare import Diff
from traceview.report.figures import bar_chart_axis, escaped_label
from traceview.report.view import ChartView
from traceview.units import duration, shown

_LOOKS = {"more": ("collective", "/"), "less": ("norm", "x"), "whole": ("other", "")}
"""Colour and pattern of bars: more and less differ without their colours too, and in the sign beside them."""
_ROOM = 1.36  # of the longest bar: the text beside it


class _Drawn(NamedTuple):
    """Hold one bar: from where to where (ms), and what it is: a whole, more, or less."""

    label: str
    start: float
    length: float
    look: str
    text: str


def waterfall(diff: Diff) -> ChartView | None:
    """Show base, the change of each part, and new as bars; None where nothing was measured."""
    parts = partition(diff)
    bars = parts or categories(diff)
    drawn = _drawn([bar for bar in bars if bar.base or bar.new])
    if not drawn[0].length and not drawn[-1].length:
        return None
    height = 80 + 34 * len(drawn)
    labels = [bar.label for bar in drawn]
    axis = bar_chart_axis(labels)
    most = max(bar.start + bar.length for bar in drawn)
    figure = {
        "data": [t for look in _LOOKS if (t := _trace(drawn, look)) is not None],
        "layout": {
            "height": height,
            "barmode": "overlay",
            "showlegend": False,
            "xaxis": {"title": {"text": "ms"}, "range": [0, most * _ROOM], "fixedrange": True},
            "yaxis": {**axis, "autorange": False, "range": [len(drawn) - 0.4, -0.6]},
            "meta": {"narrow": bar_chart_axis(labels, narrow=True)["ticktext"]},
        },
    }
    return ChartView(
        "chart-waterfall",
        "From base to new",
        "Each bar in between is a change: striped is more time, crossed is less.",
        "; ".join(f"{bar.label} {bar.text}" for bar in drawn),
        height,
        figure,
        "parts" if parts else "categories",
    )


def _drawn(bars: Sequence[Bar]) -> list[_Drawn]:
    base, new = float(sum(b.base for b in bars)), float(sum(b.new for b in bars))
    found, at = [_Drawn("base", 0.0, base / 1e6, "whole", duration(base))], base
    for bar in bars:
        delta = float(bar.delta)
        look = "more" if delta > 0 else "less" if delta < 0 else "whole"
        start = min(at, at + delta) / 1e6
        found.append(_Drawn(shown(bar.label, 40), start, abs(delta) / 1e6, look, signed(delta)))
        at += delta
    return [*found, _Drawn("new", 0.0, new / 1e6, "whole", duration(new))]


def _trace(drawn: Sequence[_Drawn], look: str) -> dict[str, Any] | None:
    """Return the bars of one look as plotly draws them; None where there are none."""
    own = [(place, bar) for place, bar in enumerate(drawn) if bar.look == look]
    token, shape = _LOOKS[look]
    if not own:
        return None
    return {
        "type": "bar",
        "orientation": "h",
        "name": look,
        "base": [bar.start for _, bar in own],
        "x": [bar.length for _, bar in own],
        "width": 0.62,
        "y": [place for place, _ in own],
        "text": [escaped_label(bar.text) for _, bar in own],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [escaped_label(f"{bar.label}: {bar.text}") for _, bar in own],
        "hovertemplate": "%{customdata}<extra></extra>",
        **({"marker": {"pattern": {"shape": shape, "size": 7, "solidity": 0.3}}} if shape else {}),
        "meta": {"tokens": [token]},
    }


def step_strips(diff: Diff) -> ChartView | None:
    """Show the step times of both sides as points."""
    if "step_time" not in diff.headlines:
        return None
    data = []
    for place, (name, token, symbol) in enumerate(
        (("base", "other", "circle"), ("new", "collective", "diamond"))
    ):
        values = [v / 1e6 for v in diff.measured[place].headlines["step_time"].tolist()]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": values,
                "y": [place + 0.15 * ((i % 5) - 2) / 2 for i in range(len(values))],
                "marker": {"symbol": symbol, "size": 9, "opacity": 0.8},
                "hovertemplate": f"{name}: %{{x:.3f}} ms<extra></extra>",
                "meta": {"tokens": [token]},
            }
        )
    figure = {
        "data": data,
        "layout": {
            "height": 220,
            "showlegend": False,
            "xaxis": {"title": {"text": "step time, ms"}, "fixedrange": True},
            "yaxis": {
                "tickvals": [0, 1],
                "ticktext": ["base", "new"],
                "range": [1.5, -0.5],
                "fixedrange": True,
            },
        },
    }
    judged = diff.headlines["step_time"]
    alt = f"Step times: base median {duration(judged.base)}, new median {duration(judged.new)}."
    note = "One point a compared step; where the two clouds overlap, a difference proves little."
    return ChartView("chart-steps", "Step times", note, alt, 220, figure, "samples")
