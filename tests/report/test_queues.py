"""Queue depth over time: thinned for the chart, and by stretches for the table beside it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.analyses.making import Event, analysed, kernel, launch
from tests.pages import GPU_SAMPLE, Visitor, report_of
from traceview.report import build_report
from traceview.report.queues import Queue, deepest, queues, thinned
from traceview.report.sections.launch_behaviour import DRAWN, POINTS, STRETCHES
from traceview.report.view import ChartsView, ChartView, SectionView, TableView


def queue(*points: tuple[int, int]) -> Queue:
    return Queue("0", "7", np.array([t for t, _ in points]), np.array([d for _, d in points]))


LINE = queue((0, 1), (5, 0), (10, 1), (20, 2), (35, 1), (65, 0))


def test_a_stretch_is_as_deep_as_its_deepest_point_or_as_what_it_begins_with() -> None:
    # 0 to 10: one waits at first; 10 to 30: two from 20 on; 30 to 50: still two until 35; behind 65 none
    assert deepest(LINE, np.array([0, 10, 30, 50, 70, 90])).tolist() == [1, 2, 2, 1, 0]
    assert deepest(LINE, np.array([-20, -10, 0])).tolist() == [0, 0]  # before the first launch


@pytest.mark.parametrize(
    ("most", "depths"), [(6, [1, 0, 1, 2, 1, 0]), (3, [1, 2, 1]), (2, [1, 2]), (9, [1, 0, 1, 2, 1, 0])]
)
def test_a_thinned_line_keeps_the_deepest_points(most: int, depths: list[int]) -> None:
    found = thinned(LINE, most)
    assert found.depth.tolist() == depths
    assert found.most == LINE.most


def streams(number: int) -> list[Event]:
    """Return streams of which number i has i + 1 kernels launched before the first of them begins."""
    events: list[Event] = []
    for stream in range(number):
        for i in range(stream + 1):
            link = 100 * stream + i + 1
            events.append(launch(10 * stream + i, 0.5, link))
            events.append(kernel("k", 1_000 + 10 * i, 10, link, stream=stream))
    return events


def section(*events: Event) -> SectionView:
    report = build_report(analysed(*events))
    return next(s for s in report.sections if s.id == "launch-behaviour")


def chart_of(found: SectionView) -> list[ChartView]:
    """Return the chart of the queues, among those of the section."""
    return [c for b in found.blocks if isinstance(b, ChartsView) for c in b.charts if c.id == "chart-queue"]


def test_the_deepest_streams_are_drawn_with_a_table_of_the_same_beside_them() -> None:
    made = section(*streams(8))
    (table,) = [b for b in made.blocks if isinstance(b, TableView) and b.id == "queue-over-time"]
    (chart,) = chart_of(made)
    assert [line["name"] for line in chart.figure["data"]] == [f"GPU 0 · stream {i}" for i in range(7, 1, -1)]
    assert "GPU 0 · stream 7: at most 8 waiting" in chart.alt
    assert chart.figure["data"][0]["line"]["shape"] == "hv"
    assert {len(line["x"]) - len(line["y"]) for line in chart.figure["data"]} == {0}
    assert DRAWN <= len(table.rows) <= DRAWN * STRETCHES
    spans = {(row[3], row[0], row[1]) for row in table.rows}
    for stream in {row[3] for row in table.rows}:  # no stretch is left out, and neighbours differ
        own = sorted((a, b, d) for a, b, _, s, d in table.rows if s == stream)
        assert all(x[1] == y[0] and x[2] != y[2] for x, y in pairwise(own))
    assert len(spans) == len(table.rows)
    for line in chart.figure["data"]:
        stream = line["name"].rpartition(" ")[2]
        assert max(line["y"]) == max(row[4] for row in table.rows if row[3] == stream)
    assert table.others == "2 further streams with shorter queues."


def test_the_name_of_a_stream_is_no_markup_in_the_chart() -> None:
    evil = "<img src=x onerror=1> /home/s3cret/x"
    events = [launch(0, 1, 1), kernel("k", 10, 5, 1, stream=evil)]
    (chart,) = chart_of(section(*events))
    name = chart.figure["data"][0]["name"]
    assert "<" not in name
    assert "s3cret" not in str(chart)


def test_a_long_run_keeps_the_chart_small() -> None:
    events = [e for i in range(2_000) for e in (launch(10 * i, 1, i + 1), kernel("k", 10 * i + 5, 4, i + 1))]
    (chart,) = chart_of(section(*events))
    assert len(chart.figure["data"][0]["x"]) == POINTS + 1


def test_a_trace_without_linked_launches_has_no_queue() -> None:
    assert chart_of(section(kernel("k", 0, 5))) == []
    assert queues(analysed(kernel("k", 0, 5)).launch_behaviour.depth) == []


def test_the_chart_is_drawn_as_lines_in_the_colours_of_the_theme(visit: Visitor) -> None:
    (made,) = [s for s in report_of(GPU_SAMPLE).sections if s.id == "launch-behaviour"]
    (chart,) = chart_of(made)
    seen = visit(GPU_SAMPLE)
    seen.js("TV.drawAll()")
    lines = "[...document.querySelectorAll('#chart-queue .scatterlayer .js-line')].map(e => getComputedStyle(e).stroke)"
    seen.until(f"{lines}.length > 0")
    strokes = seen.js(lines)
    assert len(strokes) == len(chart.figure["data"]) == len(set(strokes))
