"""Runs side by side: measured alike, the best marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses import making
from tests.diff.runs import run as made
from tests.diff.runs import side
from tests.pages import Visitor
from traceview.cli import run
from traceview.diff.overview import overview
from traceview.report.html import render_html
from traceview.report.overview_view import build_overview
from traceview.report.view import ReportOptions

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


def test_the_page_opens_without_a_complaint(visit: Visitor) -> None:
    found = overview([side(made(steps(f)), f"x{f}") for f in FACTORS])
    seen = visit(html=render_html(build_overview(found, ReportOptions())))
    assert seen.page.locator("table").count() == 2
