"""Charts as plotly figures: the only door to plotly.

Figures are plain dictionaries in plotly's schema, which a test holds against go.Figure: building the
objects at run time would cost more than all the rest of the page. Without a template, colours are
tokens in `meta`, which the page turns into its theme's colours.
plotly reads labels as HTML: every text from a trace goes through `_label`.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.assets import asset
from traceview.events import Kind, Trace
from traceview.report import palette
from traceview.report.labels import LONGEST, Labels, fitted
from traceview.report.queues import Queue
from traceview.report.view import ChartView
from traceview.report.wording import begin, device_word
from traceview.units import count, duration, middle, milliseconds, plural, share, shown

LIBRARY = "templates/vendor/plotly-basic.min.js"
_BARS = 12
_BAR_HEIGHT = 34
_LABEL = 36
_NARROW = 18  # on a phone
LINES = (
    "gemm",
    "collective",
    "norm",
    "attention",
    "copy",
    "other",
)  # colours of lines, which differ by dashes too
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SHORTEST_NS = 100  # shorter kernels count into the first bin


def library_version(path: Path | None = None) -> str:
    """Return the version that the vendored plotly.js says it has."""
    with (path or asset(LIBRARY)).open(encoding="utf-8") as file:
        found = re.search(r"v(\d+\.\d+\.\d+)", file.read(400))
    return found.group(1) if found else "unknown"


def check_library(path: Path | None = None) -> None:
    """Warn when the figures come from another major version than the library that draws them."""
    from plotly.offline import get_plotlyjs_version

    vendored, expected = library_version(path), get_plotlyjs_version()
    if vendored.split(".")[0] != expected.split(".")[0]:
        warnings.warn(
            f"charts may look wrong: the page carries plotly.js {vendored}, the installed plotly package "
            f"makes figures for {expected}",
            stacklevel=2,
        )


def _label(text: str) -> str:
    """Make a text safe where plotly would read tags in it."""
    return shown(text, LONGEST, True).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped_label(text: str) -> str:
    """Make a text safe where plotly would read tags in it."""
    return _label(text)


def bar_chart_axis(labels: list[str], narrow: bool = False) -> dict[str, Any]:
    """Return the axis of horizontal bars with these labels, from the top; `narrow` as it is on a phone."""
    return _bar_axis(labels, _NARROW if narrow else _LABEL)


def _bar_axis(labels: list[str], limit: int) -> dict[str, Any]:
    """Return a category axis with numeric places, so that equal labels stay apart."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [_label(t) for t in fitted(labels, limit)],
        "autorange": "reversed",
        "fixedrange": True,
        "ticklabelstandoff": 6,
    }


def _bars(values: list[float], tokens: list[str], texts: list[list[str]], name: str) -> dict[str, Any]:
    """Return horizontal bars; of each bar's texts the hover shows one a line."""
    lines = "<br>".join(f"%{{customdata[{i}]}}" for i in range(len(texts[0]) if texts else 0))
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": values,
        "y": list(range(len(values))),
        "customdata": [[_label(t) for t in lines_of_bar] for lines_of_bar in texts],
        "hovertemplate": f"{lines}<extra></extra>",
        "meta": {"tokens": tokens},
    }


def launch_and_kernel_time(analysis: Analysis, cost: dict[str, float], labels: Labels) -> ChartView | None:
    """Compare, for the top kernels, the host time of their launches with their time on the device."""
    kernels, device = analysis.kernels, device_word(analysis.trace)
    if not cost or not len(kernels):
        return None
    top = [str(n) for n in kernels.name[:_BARS]]
    gpu = [int(v) for v in kernels.sum[:_BARS]]
    cpu = [cost.get(n, 0.0) for n in top]
    shown = [labels.of(n) for n in top]
    gpu_texts, cpu_texts = [], []
    for i, label in enumerate(shown):
        calls = plural(int(kernels.calls[i]), "call")
        part = share(float(kernels.share[i]))
        gpu_texts.append([label, f"{milliseconds(gpu[i])} on the {device}: {part} of kernel time, {calls}"])
        cpu_texts.append([label, f"{milliseconds(cpu[i])} on the CPU to launch {calls}"])
    height = 90 + _BAR_HEIGHT * len(top)
    figure = {
        "data": [
            _bars([v / 1e6 for v in gpu], ["gemm"], gpu_texts, f"{device} kernel time"),
            {
                **_bars([v / 1e6 for v in cpu], ["collective"], cpu_texts, "CPU launch time"),
                "marker": {"pattern": {"shape": "/", "size": 6, "solidity": 0.25}},
            },
        ],
        "layout": {
            "barmode": "group",
            "bargap": 0.3,
            "height": height,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            "xaxis": {"title": {"text": "ms"}, "rangemode": "tozero", "fixedrange": True},
            "yaxis": _bar_axis(shown, _LABEL),
            "meta": {"narrow": [_label(t) for t in fitted(shown, _NARROW)]},
        },
    }
    return ChartView(
        "chart-launch",
        f"CPU launch time beside {device} kernel time",
        f"The top {len(top)} kernels. Where launching takes as long as running, the CPU sets the pace.",
        f"Bars for {len(top)} kernels: {duration(sum(gpu))} on the {device}, {duration(sum(cpu))} to launch.",
        height,
        figure,
        table="kernels",
    )


def time_by_category(analysis: Analysis) -> ChartView:
    """Show device time by category as bars."""
    table, device = analysis.categories, device_word(analysis.trace)
    names = [str(c) for c in table.category]
    labels, others = [shown(c, _LABEL * 2) for c in names], palette.added(analysis)
    values = [int(v) / 1e6 for v in table.sum]
    texts = [
        [label, f"{milliseconds(int(ns))}: {share(float(part))} of device work, {plural(int(calls), 'call')}"]
        for label, ns, part, calls in zip(labels, table.sum, table.share, table.calls, strict=True)
    ]
    tokens = [palette.token(c, others) for c in names]
    figure = {
        "data": [_bars(values, tokens, texts, f"{device} time")],
        "layout": {
            "height": 80 + _BAR_HEIGHT * len(labels),
            "bargap": 0.35,
            "showlegend": False,
            "xaxis": {"title": {"text": "ms, summed"}, "rangemode": "tozero", "fixedrange": True},
            "yaxis": _bar_axis(labels, 2 * _LABEL),
            "meta": {"narrow": [_label(t) for t in fitted(labels, _NARROW)]},
        },
    }
    return ChartView(
        "chart-categories",
        f"{begin(device)} time by category",
        "Summed durations of kernels, copies and fills.",
        "; ".join(f"{label} {numbers}" for label, numbers in texts),
        80 + _BAR_HEIGHT * len(labels),
        figure,
        table="categories",
    )


def kernel_lengths(trace: Trace) -> ChartView | None:
    """Show how many kernels are how long, in bins of a logarithmic scale."""
    rows = trace.rows_of(Kind.KERNEL)
    lengths = trace.slices.dur[rows[trace.timed[rows]]]
    if not len(lengths):
        return None
    number, edges = _log_bins(lengths)
    centres = (edges[1:] + edges[:-1]) / 2
    texts = [
        f"{duration(10**low)} to {duration(10**high)}: {count(n)} kernels"
        for n, low, high in zip(number.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    ticks = list(range(int(np.floor(edges[0])), int(np.ceil(edges[-1])) + 1))
    figure = {
        "data": [
            {
                "type": "bar",
                "x": centres.round(4).tolist(),
                "y": number.tolist(),
                "width": float(edges[1] - edges[0]),
                "customdata": texts,
                "hovertemplate": "%{customdata}<extra></extra>",
                "meta": {"tokens": ["elementwise"]},
            }
        ],
        "layout": {
            "height": 300,
            "bargap": 0.04,
            "xaxis": {
                "title": {"text": "kernel duration, logarithmic"},
                "tickvals": ticks,
                "ticktext": [duration(10**t).replace(".00", "") for t in ticks],
                "fixedrange": True,
            },
            "yaxis": {"title": {"text": "kernels"}, "fixedrange": True},
        },
    }
    alt = (
        f"Histogram of {count(len(lengths))} kernel durations, median {duration(float(np.median(lengths)))}."
    )
    return ChartView(
        "chart-lengths", "Kernel durations", "How many kernels are how long; the table has wider classes.", alt, 300, figure, "kernel-lengths"
    )  # fmt: skip


def queue_depth(lines: list[tuple[str, Queue]], span: tuple[int, int]) -> ChartView:
    """Draw how many records of each stream wait, as steps over time; `span` (ns) is drawn."""
    first, last = (ns / 1e6 for ns in span)
    data = []
    for i, (label, q) in enumerate(lines):
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": _label(middle(label, _LABEL)),
                "x": [*(t / 1e6 for t in q.time.tolist()), last],
                "y": [*q.depth.tolist(), q.depth.tolist()[-1]],
                "line": {"shape": "hv", "width": 1.5, "dash": DASHES[i % len(DASHES)]},
                "hovertemplate": "%{y} waiting at %{x:.3f} ms",
                "meta": {"tokens": [LINES[i % len(LINES)]]},
            }
        )
    figure = {
        "data": data,
        "layout": {
            "height": 280,
            "showlegend": len(lines) > 1,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "xaxis": {"title": {"text": "ms from the trace's first event"}, "range": [first, last]},
            "yaxis": {"title": {"text": "records waiting"}, "rangemode": "tozero", "fixedrange": True},
        },
    }
    alt = "; ".join(f"{label}: at most {count(q.most)} waiting" for label, q in lines)
    note = "Records launched and not begun, the deepest of each stretch. Drag to zoom; the same stands in the table below."
    return ChartView(
        "chart-queue", "Queue depth over time", note, shown(alt, LONGEST), 280, figure, "queue-over-time"
    )


def _log_bins(lengths: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    logs = np.log10(np.maximum(lengths, _SHORTEST_NS))
    low, high = float(np.floor(logs.min() * 10) / 10), float(np.ceil(logs.max() * 10 + 0.001) / 10)
    return np.histogram(logs, bins=max(round((high - low) * 10), 1), range=(low, high))
