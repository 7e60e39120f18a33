"""traceview diff as a command: formats, exit statuses, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses import making
from tests.diff.runs import run as made
from traceview.cli import run


def saved(path: Path, factor: float = 1.0, op: str = "aten::mm", shapes: str = "[[8, 8]]") -> str:
    steps = [[(op, "gemm", (200.0 + i % 3) * factor), ("aten::add", "add", 30.0)] for i in range(9)]
    path.write_bytes(making.text(*made(steps, shapes)))
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return saved(tmp_path / "base.json"), saved(tmp_path / "new.json", 1.3)


def test_the_text_says_what_changed(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *pair]) == 0
    text = capsys.readouterr().out
    assert "base → new" in text.splitlines()[0]
    assert "* aten::mm" in text


def test_a_failed_gate_is_status_1_and_the_reports_are_written_first(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    gate = ("--fail-on", "gpu_busy>5%")
    assert run(["diff", *pair, "-o", str(out), *gate]) == 1
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["schema"] == "traceview.diff/1"
    assert document["gates"][0]["state"] == "fail"
    assert run(["diff", *pair, *gate, "--warn-only"]) == 0
    assert run(["diff", pair[1], pair[0], *gate]) == 0


def test_a_gate_on_other_work_is_status_4_unless_forced(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.json")
    other = saved(tmp_path / "other.json", 1.3, "aten::bmm", "[[64, 64]]")
    gate = ("--fail-on", "gpu_busy>5%")
    assert run(["diff", base, other]) == 0
    assert run(["diff", base, other, *gate]) == 4
    assert run(["diff", base, other, *gate, "--force"]) == 1
    assert run(["diff", base, other, *gate, "--expect", "shapes"]) == 1


def test_an_unproven_gate_fails_unless_told_to_pass(tmp_path: Path) -> None:
    paths = []
    for name, us in (("a", 200.0), ("b", 300.0)):
        path = tmp_path / f"{name}.json"
        path.write_bytes(making.text(*made([[("aten::mm", "gemm", us)]] * 3)))
        paths.append(str(path))
    gate = ("--fail-on", "gpu_busy>5%")
    assert run(["diff", *paths, *gate]) == 1
    assert run(["diff", *paths, *gate, "--unproven", "pass"]) == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--fail-on", "nonsense>5%"),
        ("--expect", "nonsense"),
        ("--floor", "nonsense"),
        ("--per", "parsec"),
        ("--match", "magic"),
        ("--format", "yaml"),
        ("-o", "x.yaml"),
        ("--steps", ""),
    ],
)
def test_wrong_usage_is_one_line(
    pair: tuple[str, str], options: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *pair, *options]) == 2 or pytest.fail("no error")


def test_an_output_that_is_an_input_is_refused(pair: tuple[str, str]) -> None:
    before = Path(pair[1]).read_bytes()
    assert run(["diff", *pair, "-o", pair[1], "--force"]) == 2
    assert Path(pair[1]).read_bytes() == before


def test_more_runs_a_side_are_compared_together(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [saved(tmp_path / f"more{i}.json", f) for i, f in enumerate((1.0, 1.3))]
    words = ["--also-base", more[0], "--also-new", more[1], "--format", "json"]
    assert run(["diff", *pair, *words]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["headlines"]["gpu_busy"]["claimed"]
    (row,) = [r for r in document["rows"] if r["op"] == "aten::mm"]
    assert row["base_calls"] == 1  # per step, however many runs


def test_step_options_choose_the_steps_of_both_sides(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *pair, "--steps", "2:6", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["base"]["samples"] == 5


def test_a_gate_that_cannot_be_asked_leaves_the_reports_written(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    assert run(["diff", *pair, "-o", str(out), "--fail-on", "kernel:nothing_like_it>5%"]) == 2
    assert json.loads(out.read_text(encoding="utf-8"))["gates"] == []


def test_standard_input_is_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "-", "-"]) == 2
    assert "standard input" in capsys.readouterr().err
