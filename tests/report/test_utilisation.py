"""Utilisation over time: the busy share of equal stretches, held against counts by hand."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.analyses.making import analysed, kernel
from tests.pages import GPU_SAMPLE, Visitor, report_of
from traceview.analyses import analyze
from traceview.assets import asset
from traceview.report import Report, build_report
from traceview.report.utilisation import BINS, busy_shares
from traceview.report.view import ChartsView, ChartView, TableView
from traceview.sources import read_trace


def chart_and_table(report: Report) -> tuple[ChartView, TableView]:
    (section,) = (s for s in report.sections if s.id == "gpu-time")
    charts = [c for b in section.blocks if isinstance(b, ChartsView) for c in b.charts]
    tables = [b for b in section.blocks if isinstance(b, TableView)]
    return charts[0], tables[0]


def test_the_busy_share_of_a_stretch_counts_what_streams_share_once() -> None:
    # 0 to 40 on one stream, 30 to 60 on another, 80 to 100: of ten stretches of 10 us
    trace = analysed(kernel("a", 0, 40), kernel("b", 30, 30, stream=8), kernel("c", 80, 20)).trace
    found = busy_shares(trace, "0", np.arange(0, 100_001, 10_000))
    assert found.tolist() == [1, 1, 1, 1, 1, 1, 0, 0, 1, 1]
    assert busy_shares(trace, "0", np.array([0, 80_000, 100_000])).tolist() == [0.75, 1.0]


@pytest.mark.parametrize("sample", [GPU_SAMPLE, "sample_traces/quirks/two-ranks-merged.json"])
def test_all_stretches_together_are_as_busy_as_the_analysis_says(sample: str) -> None:
    analysis = analyze(read_trace(asset(sample)))
    time = analysis.gpu_time
    _, table = chart_and_table(build_report(analysis))
    assert len(table.rows) <= BINS
    for i, busy in enumerate(time.busy.tolist()):
        found = sum((w[1] - w[0]) * row[2 + i] for w, row in zip(table.windows, table.rows, strict=True) if w)  # type: ignore[operator]
        assert found == pytest.approx(busy)


def test_the_chart_is_a_figure_of_plotly_and_names_its_table() -> None:
    chart, table = chart_and_table(report_of(GPU_SAMPLE))
    assert go.Figure(chart.figure).data
    assert (chart.table, table.id) == ("utilisation", "utilisation")
    assert len(chart.figure["data"][0]["x"]) == len(table.rows) + 1


def test_a_row_of_the_table_leads_to_its_stretch(visit: Visitor) -> None:
    seen = visit(GPU_SAMPLE)
    button = seen.page.locator("[data-table=utilisation] td.show button").first
    begin, end = int(button.get_attribute("data-from") or 0), int(button.get_attribute("data-to") or 0)
    button.focus()
    seen.page.keyboard.press("Enter")
    assert seen.js("TV.line.state.range.to - TV.line.state.range.from") == pytest.approx(
        1.3 * (end - begin), rel=0.2
    )
