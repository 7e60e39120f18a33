"""Charts of where time went: their bars hold the numbers of the tables they name."""

from __future__ import annotations

import re

import plotly.graph_objects as go
import pytest

from tests.analyses.making import Event, analysed, kernel, launch, note, op
from tests.pages import CPU_SAMPLE, GPU_SAMPLE, HOSTILE, Visitor, html_of, report_of
from traceview.report import Report, ReportOptions, build_report
from traceview.report.kpis import kpis
from traceview.report.labels import Labels
from traceview.report.view import ChartsView, ChartView, TableView


def chart(report: Report, name: str) -> ChartView:
    blocks = (b for s in report.sections for b in s.blocks if isinstance(b, ChartsView))
    return next(c for b in blocks for c in b.charts if c.id == name)


def stepped(*more: Event) -> Report:
    """Return a report of three steps: 60 µs of a kernel and 40 of nothing, twice; then 60 alone."""
    events = list(more)
    for i in range(3):
        at = 100 * i
        events += [
            note(f"ProfilerStep#{i + 4}", at, 90),
            launch(at + 1, 2, i + 1),
            kernel("k", at + 10, 60, i + 1),
        ]
    return build_report(analysed(*events))


def test_each_step_is_a_stack_of_its_parts_and_a_click_shows_its_window() -> None:
    made = chart(stepped(), "chart-steps")
    stacks = {t["name"]: t["y"] for t in made.figure["data"]}
    assert stacks == {"compute": [0.06, 0.06, 0.06], "idle": [0.04, 0.04, 0.0]}
    assert made.figure["layout"]["xaxis"]["ticktext"] == ["4", "5", "6"]
    assert made.figure["layout"]["meta"]["windows"] == [
        [10_000, 110_000],
        [110_000, 210_000],
        [210_000, 270_000],
    ]
    assert made.alt.startswith("A bar for each of 3 steps, 260 µs together: compute 69.2 %, ")
    assert {t["marker"]["pattern"]["shape"] for t in made.figure["data"]} == {"", "."}


def test_steps_without_a_window_are_drawn_by_their_time_on_the_host() -> None:
    events = [note(f"ProfilerStep#{i}", 100 * i, 80 + i) for i in range(3)]
    made = chart(build_report(analysed(*events, op("aten::mm", 5, 9))), "chart-steps")
    assert [(t["name"], t["y"]) for t in made.figure["data"]] == [("host wall", [0.08, 0.081, 0.082])]
    assert "Wall time on the host" in made.note


def test_idle_time_is_drawn_by_cause_inside_steps_and_outside() -> None:
    report = stepped(kernel("late", 300, 5), kernel("later", 400, 5))
    made = chart(report, "chart-causes")
    table = next(
        b for s in report.sections for b in s.blocks if isinstance(b, TableView) and b.id == "gap-causes"
    )
    inside, outside = (t["x"] for t in made.figure["data"])
    assert sum(inside) == pytest.approx(0.04 + 0.04)
    assert sum(outside) == pytest.approx(0.03 + 0.095)
    assert sorted(a + b for a, b in zip(inside, outside, strict=True)) == pytest.approx(
        sorted(int(r[1] or 0) / 1e6 for r in table.rows)
    )


def test_where_all_gaps_are_inside_steps_nothing_is_split() -> None:
    traces = chart(stepped(), "chart-causes").figure["data"]
    assert [t["name"] for t in traces] == ["idle time"]
    assert sum(traces[0]["x"]) == pytest.approx(0.08)


def test_steps_on_the_host_have_no_columns_of_a_device() -> None:
    tables = {b.id: b for s in report_of(CPU_SAMPLE).sections for b in s.blocks if isinstance(b, TableView)}
    assert [c.key for c in tables["steps"].columns] == ["number", "wall", "marks"]


@pytest.mark.parametrize("sample", [GPU_SAMPLE, CPU_SAMPLE, HOSTILE])
def test_every_chart_names_the_table_that_holds_its_numbers_and_is_drawable(sample: str) -> None:
    report = report_of(sample)
    blocks = [(s.id, b) for s in report.sections for b in s.blocks]
    tables = {b.id: s for s, b in blocks if isinstance(b, TableView)}
    charts = [(s, c) for s, b in blocks if isinstance(b, ChartsView) for c in b.charts]
    for section, made in charts:
        assert made.table in tables
        assert tables[made.table] == section or made.id == "chart-launch"  # its table is that of the kernels
        assert f'href="#table-{made.table}"' in html_of(sample)
        assert made.alt
        go.Figure(made.figure)
    assert len(charts) == {GPU_SAMPLE: 7, CPU_SAMPLE: 1, HOSTILE: 4}[sample]


def test_what_is_stacked_or_grouped_differs_by_pattern_or_label_not_by_colour_alone() -> None:
    for section in report_of(GPU_SAMPLE).sections:
        for block in section.blocks:
            for made in block.charts if isinstance(block, ChartsView) else ():
                traces = made.figure["data"]
                drawn = [
                    (
                        t.get("marker", {}).get("pattern", {}).get("shape", ""),
                        t.get("line", {}).get("dash", ""),
                    )
                    for t in traces
                ]
                assert len(set(drawn)) == len(drawn), made.id


def test_a_click_on_a_bar_and_a_button_of_a_row_show_the_step(visit: Visitor) -> None:
    seen = visit()
    seen.page.locator("#chart-steps").scroll_into_view_if_needed()
    seen.until("document.querySelectorAll('#chart-steps .point').length > 0")
    data = "JSON.parse(document.getElementById('tv-data').textContent)"
    zero = seen.js(f"{data}.timeline.layout.zero")
    windows = seen.js(f"{data}.charts.find(c => c.id === 'chart-steps').figure.layout.meta.windows")
    box = seen.page.locator("#chart-steps .barlayer .trace").first.locator(".point").nth(2).bounding_box()
    assert box is not None
    seen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wanted = [w - zero for w in windows[2]]
    seen.until(f"TV.line.state.range.from === {wanted[0]} && TV.line.state.range.to === {wanted[1]}")
    button = seen.page.get_by_role("button", name="Show this step in the timeline").nth(4)
    button.focus()
    seen.page.keyboard.press("Enter")
    begin, end = seen.js("[TV.line.state.range.from, TV.line.state.range.to]")
    around = 0.15 * (windows[4][1] - windows[4][0])
    assert begin == pytest.approx(windows[4][0] - around - zero, abs=1)
    assert end == pytest.approx(windows[4][1] + around - zero, abs=1)
    assert 0 <= seen.js("document.getElementById('timeline').getBoundingClientRect().top") < 400


def test_no_chart_offers_an_upload_or_sends_anything(visit: Visitor) -> None:
    seen = visit()
    seen.js("TV.drawAll()")
    seen.until("document.querySelectorAll('.plot svg').length > 0")
    assert seen.js("document.querySelectorAll('.modebar-btn').length") == 0
    assert not re.search(r"[Ss]end to|Share chart", seen.js("document.body.innerText"))


def test_short_kernels_are_shares_of_kernels_and_of_time() -> None:
    events = [kernel("short", 10 * i, 1) for i in range(3)] + [kernel("long", 50, 27)]
    found = {k.id: k for k in kpis(analysed(*events), Labels())}["short"]
    assert (found.label, found.value, found.unit) == ("Short kernels", "75.0", "%")
    assert found.detail == "of kernels are under 5 µs · 10.0 % of kernel time"


def test_the_step_time_comes_first() -> None:
    assert [k.id for k in report_of(GPU_SAMPLE).kpis][:4] == ["step", "busy", "idle", "kernels"]
    assert report_of(CPU_SAMPLE).kpis[0].id in ("step", "span")


def test_the_table_and_the_chart_of_steps_hold_as_many_as_other_tables_and_the_caption_says_how_many() -> (
    None
):
    analysis = analysed(*(note(f"ProfilerStep#{i}", 100 * i, 90) for i in range(300)), op("aten::mm", 0, 1))
    for options, number, said in (
        (ReportOptions(), 300, ""),
        (ReportOptions(top=40), 40, "40 of 300 steps are drawn. "),
    ):
        report = build_report(analysis, options)
        (section,) = (s for s in report.sections if s.id == "steps")
        (table,) = (b for b in section.blocks if isinstance(b, TableView))
        (chart,) = (c for b in section.blocks if isinstance(b, ChartsView) for c in b.charts)
        assert len(table.rows) == number
        assert chart.note.startswith(f"{said}Wall time on the host")
