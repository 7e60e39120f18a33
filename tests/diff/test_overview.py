"""Runs side by side: measured alike, the best marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses import making
from tests.diff.runs import run as made
from tests.diff.runs import side
from tests.pages import Visitor
from tests.report.test_accessibility import axe
from traceview.cli import run
from traceview.diff.overview import overview
from traceview.report.html import render_html
from traceview.report.overview_view import build_overview, overview_blocks
from traceview.report.text_blocks import plain_text
from traceview.report.view import ReportOptions, TableView

FACTORS = (1.0, 0.5, 2.0)


def steps(factor: float) -> list[list[tuple[str, str, float]]]:
    return [[("aten::mm", "gemm", 200.0 * factor), ("aten::add", "add", 30.0)]] * 6


def test_each_figure_has_its_best_run_and_operators_stand_side_by_side() -> None:
    found = overview([side(made(steps(f)), f"x{f}") for f in FACTORS])
    assert found.per == "step"
    assert [line.figures["kernel_time"] for line in found.runs] == [230_000, 130_000, 430_000]
    assert found.best["kernel_time"] == (1,)
    assert found.best["step_time"] == ()  # all step every 1,000 us
    mm = next(line for line in found.operators if line.op == "aten::mm")
    assert [int(t) for t in mm.times] == [200_000, 100_000, 400_000]
    assert [int(c) for c in mm.calls] == [1, 1, 1]


def test_without_steps_in_one_run_all_are_told_whole() -> None:
    plain = [making.op("aten::mm", 0, 9), making.launch(1, 3, 1), making.kernel("gemm", 10, 50, 1)]
    found = overview([side(made(steps(1.0))), side(plain)])
    assert found.per == "total"
    assert found.runs[1].figures["kernel_time"] == 50_000


def test_among_runs_of_other_work_none_is_the_best() -> None:
    other = [[("aten::conv2d", "winograd", 9.0), ("aten::relu", "relu", 3.0)]] * 6
    found = overview([side(made(steps(1.0))), side(made(steps(0.5))), side(made(other))])
    assert [bool(reasons) for reasons in found.refused] == [False, False, True]
    assert set(found.best.values()) == {()}
    text = plain_text(overview_blocks(found, 10))
    assert "C cannot be compared with A: " in text
    assert "* " not in text
    assert build_overview(found, ReportOptions()).verdict == "3 runs side by side; not all can be compared."


def test_the_command_writes_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for i, factor in enumerate(FACTORS):
        path = tmp_path / f"run{i}.json"
        path.write_bytes(making.text(*made(steps(factor))))
        paths.append(str(path))
    outputs = [str(tmp_path / f"out.{suffix}") for suffix in ("html", "md", "json", "txt")]
    assert run(["compare", *paths, *(word for o in outputs for word in ("-o", o))]) == 0
    document = json.loads(Path(outputs[2]).read_text(encoding="utf-8"))
    assert document["schema"] == "traceview.compare/1"
    assert [r["kernel_time_us"] for r in document["runs"]] == [230, 130, 430]
    assert "* 130 µs" in Path(outputs[3]).read_text(encoding="utf-8")
    capsys.readouterr()
    assert run(["compare", paths[0]]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("wide", [390, 1280])
def test_the_page_opens_without_a_complaint_and_axe_finds_no_fault(
    visit: Visitor, theme: str, wide: int
) -> None:
    script = axe()
    found = overview([side(made(steps(f)), f"a_long_label_without_a_space_{f}" * 3) for f in FACTORS])
    page = render_html(build_overview(found, ReportOptions()))
    seen = visit(html=page, color_scheme=theme, viewport={"width": wide, "height": 900}, bypass_csp=True)
    assert seen.page.locator("table").count() == 2
    assert seen.js("document.documentElement.scrollWidth <= innerWidth")
    if wide > 390:
        assert seen.js("[...document.querySelectorAll('.scroll')].every(s => s.scrollWidth <= s.clientWidth)")
    seen.page.evaluate(script)
    faults = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in faults] == []


def test_an_operator_that_a_run_does_not_have_has_no_time_there_and_is_not_the_best() -> None:
    other = [[("aten::bmm", "gemm", 100.0)]] * 6
    report = build_overview(overview([side(made(steps(1.0))), side(made(other))]), ReportOptions())
    table = report.sections[1].blocks[0]
    assert isinstance(table, TableView)
    cells = {row[0]: row[1:3] for row in table.rows}
    assert cells["aten::bmm"] == (None, 100_000.0)
    assert cells["aten::mm"] == (200_000.0, None)
