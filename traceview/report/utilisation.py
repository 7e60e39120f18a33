"""How busy each device is over time: the busy share of equal stretches, as a chart and as its table."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceview.events import Kind, Trace
from traceview.intervals import amount_before, union
from traceview.report.context import Context
from traceview.report.figures import DASHES, LINES, escaped_label
from traceview.report.view import ChartView, Column, TableView
from traceview.report.wording import begin
from traceview.units import count, duration, middle, plural, share

BINS = 200
DEVICES = 6  # a line of its own each
_HEIGHT = 300
_LABEL = 36
TABLE = "utilisation"


def utilisation(context: Context, labels: dict[str, str]) -> tuple[ChartView, TableView] | None:
    """Return the chart and the table of these devices, label by key; None where no time is recorded."""
    table = context.analysis.gpu_time
    keys = [str(d) for d in table.device][:DEVICES]
    first, last = int(table.first.min()), int(table.last.max())
    number = min(BINS, last - first)
    if number < 2:
        return None
    edges = first + np.arange(number + 1) * ((last - first) / number)
    edges = np.rint(edges).astype(np.int64)
    shares = [busy_shares(context.trace, key, edges) for key in keys]
    names = [labels[key] for key in keys]
    return _chart(context, names, edges, shares, len(table) - len(keys)), _table(names, edges, shares)


def busy_shares(trace: Trace, device: str, edges: np.ndarray) -> np.ndarray:
    """Return the share of each stretch between edges (ns) in which any work of a device runs."""
    s = trace.slices
    rows = trace.rows_of(Kind.KERNEL, Kind.COPY, Kind.FILL)
    own = np.array([(t.device or "") == device for t in trace.tracks], bool)
    rows = rows[trace.timed[rows] & own[s.track[rows]]]
    busy = union(s.start[rows], s.start[rows] + s.dur[rows])
    found: np.ndarray = np.diff(amount_before(busy, edges)) / np.diff(edges)
    return found


def _chart(
    context: Context, names: list[str], edges: np.ndarray, shares: list[np.ndarray], hidden: int
) -> ChartView:
    at = (edges / 1e6).round(6).tolist()
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": escaped_label(middle(name, _LABEL)),
            "x": at,
            "y": [*(100 * values).round(2).tolist(), round(100 * float(values[-1]), 2)],
            "line": {"shape": "hv", "width": 1.6, "dash": DASHES[i]},
            "hovertemplate": "%{y:.1f} % busy from %{x:.3f} ms<extra>%{fullData.name}</extra>",
            "meta": {"tokens": [LINES[i]]},
        }
        for i, (name, values) in enumerate(zip(names, shares, strict=True))
    ]
    windows = [list(w) for w in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    layout = {
        "height": _HEIGHT,
        "showlegend": len(names) > 1,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"title": {"text": "ms from the trace's first event"}, "fixedrange": True},
        "yaxis": {"title": {"text": "busy %"}, "range": [0, 104], "fixedrange": True},
        "meta": {"windows": windows},
    }
    wide = duration(int(edges[1] - edges[0]))
    more = f" {plural(hidden, 'further device')} not drawn." if hidden > 0 else ""
    said = ", ".join(
        f"{name} from {share(float(v.min()))} to {share(float(v.max()))}"
        for name, v in zip(names, shares, strict=True)
    )
    return ChartView(
        "chart-utilisation",
        f"{begin(context.device)} utilisation over time",
        f"Busy share of each of {count(len(edges) - 1)} stretches of {wide}.{more} Click the line to see its stretch.",
        f"Busy share over time, in stretches of {wide}: {said}.",
        _HEIGHT,
        {"data": data, "layout": layout},
        table=TABLE,
    )


def _table(names: list[str], edges: np.ndarray, shares: list[np.ndarray]) -> TableView:
    columns = (
        Column("from", "From ms", "ms", "from the trace's first event"),
        Column("to", "To ms", "ms", "where the next stretch begins"),
        *(Column(f"busy{i}", f"{name} busy %", "share", bar=True) for i, name in enumerate(names)),
    )
    begins, ends = edges[:-1].tolist(), edges[1:].tolist()
    rows = tuple(zip(begins, ends, *(v.tolist() for v in shares), strict=True))
    return TableView(
        TABLE, "stretches of time", columns, rows, sort=0, page=10,
        windows=tuple(zip(begins, ends, strict=True)), shows="this stretch",
    )  # fmt: skip
