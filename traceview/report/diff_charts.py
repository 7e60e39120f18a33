"""Charts of a comparison, as plain plotly figures: the waterfall, and the samples of both sides."""

from __future__ import annotations

from traceview.diff.changes import categories, partition
from traceview.diff.compare import Diff
from traceview.report.figures import bar_chart_axis, escaped_label
from traceview.report.view import ChartView
from traceview.units import duration, shown

_TOKENS = {"up": "collective", "down": "norm", "whole": "other"}


def waterfall(diff: Diff) -> ChartView | None:
    """Show base, the change of each part, and new as bars; None where nothing was measured."""
    bars = partition(diff) or categories(diff)
    base, new = float(sum(b.base for b in bars)) / 1e6, float(sum(b.new for b in bars)) / 1e6
    if not base and not new:
        return None
    labels, starts, lengths, tokens, texts = ["base"], [0.0], [base], ["other"], [duration(base * 1e6)]
    at = base
    for bar in bars:
        delta = float(bar.delta) / 1e6
        labels.append(shown(bar.label, 40))
        starts.append(min(at, at + delta))
        lengths.append(abs(delta))
        tokens.append(_TOKENS["up" if delta > 0 else "down"])
        texts.append(f"{'+' if delta > 0 else '−' if delta < 0 else '±'}{duration(abs(delta) * 1e6)}")
        at += delta
    labels.append("new")
    starts.append(0.0)
    lengths.append(new)
    tokens.append("other")
    texts.append(duration(new * 1e6))
    height = 80 + 34 * len(labels)
    figure = {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "base": starts,
                "x": lengths,
                "y": list(range(len(labels))),
                "text": [escaped_label(t) for t in texts],
                "textposition": "outside",
                "cliponaxis": False,
                "customdata": [escaped_label(f"{a}: {b}") for a, b in zip(labels, texts, strict=True)],
                "hovertemplate": "%{customdata}<extra></extra>",
                "meta": {"tokens": tokens},
            }
        ],
        "layout": {
            "height": height,
            "bargap": 0.35,
            "showlegend": False,
            "xaxis": {"title": {"text": "ms"}, "rangemode": "tozero", "fixedrange": True},
            "yaxis": bar_chart_axis(labels),
        },
    }
    alt = "; ".join(f"{a} {b}" for a, b in zip(labels, texts, strict=True))
    return ChartView(
        "chart-waterfall",
        "From base to new",
        "Each bar is a change; the tables below hold the numbers.",
        alt,
        height,
        figure,
    )


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
    return ChartView("chart-steps", "Step times", "One point a complete step.", alt, 220, figure)
