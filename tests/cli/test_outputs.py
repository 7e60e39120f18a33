"""`report -o …`: one reading, several files; what does not go together is refused before any reading."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.cli import run

EVENTS = (
    making.op("ax::mm", 0, 20),
    making.launch(5, 3, 1),
    making.kernel("my_gemm", 30, 10.25, 1),
    making.kernel("other", 50, 2),
)
FILES = ("page.html", "note.md", "all.json", "kernels.csv", "kernels.parquet")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(making.text(*EVENTS))
    return path


def written(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name != "run.json")


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    return str(line)


def test_one_command_writes_every_format_and_says_each(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    words = [w for name in FILES for w in ("-o", str(trace.with_name(name)))]
    assert run(["report", str(trace), *words]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said] == [str(trace.with_name(name)) for name in FILES]
    assert sum("The GPU was busy" in line for line in said) == 1
    assert written(trace.parent) == sorted(FILES)
    assert trace.with_name("page.html").read_text().lstrip().lower().startswith("<!doctype html>")
    assert trace.with_name("note.md").read_text().startswith("### The GPU was busy")
    document = json.loads(trace.with_name("all.json").read_text())
    assert (document["schema"], document["facts"]["kernel_count"]) == ("traceview.summary/1", 2)
    rows = list(csv.DictReader(io.StringIO(trace.with_name("kernels.csv").read_text())))
    assert [(r["name"], r["calls"], r["sum_ns"]) for r in rows] == [
        ("my_gemm", "1", "10250"),
        ("other", "1", "2000"),
    ]


def test_the_json_is_the_document_that_summary_prints(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["summary", str(trace), "--format", "json"]) == 0
    printed = capsys.readouterr().out
    assert run(["report", str(trace), "-o", "-", "--format", "json"]) == 0
    assert capsys.readouterr().out == printed


def test_equal_input_gives_equal_bytes_in_every_format(trace: Path) -> None:
    pytest.importorskip("pyarrow")
    for turn in ("1", "2"):
        (trace.parent / turn).mkdir()
        words = [w for name in FILES for w in ("-o", str(trace.parent / turn / name))]
        assert run(["report", str(trace), *words]) == 0
    for name in FILES:
        assert (trace.parent / "1" / name).read_bytes() == (trace.parent / "2" / name).read_bytes()


def test_the_format_names_the_default_file_and_rules_standard_output(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(trace), "--format", "md"]) == 0
    assert written(trace.parent) == ["run.md"]
    capsys.readouterr()
    assert run(["report", str(trace), "-o", "-", "--format", "csv", "--table", "gpu_time"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["span_ns"] == str(52_000 - 30_000)
    assert (row["busy_ns"], row["idle_ns"]) == ("12250", "9750")


def test_standard_output_holds_its_output_alone(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = trace.with_name("k.csv")
    assert run(["report", str(trace), "-o", "-", "-o", str(other)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("</html>")
    assert other.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "a.txt"], "does not say the format"),
        (["-o", "a.html", "-o", "b.md", "--format", "md"], "--format goes with one output"),
        (["-o", "a.html", "--format", "md"], "does not go with a.html"),
        (["-o", "a.md", "-o", "./a.md"], "named twice"),
        (["-o", "-", "-o", "-"], "named twice"),
        (["-o", "a.md", "--table", "kernels"], "--table goes with"),
        (["-o", "a.csv", "--table", "nope"], "one of kernels, "),
        (["-o", "a.md", "--open"], "--open goes with a page"),
        (["-o", "run.json", "--force"], "is the trace itself"),
        (["--format", "json"], "is the trace itself"),
        (["-o", ""], "empty text"),
        (["-o", "there.md"], "exists already"),
        (["-o", "new.html", "-o", "there.md"], "exists already"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_reading(
    words: list[str],
    said: str,
    trace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(trace.parent)
    monkeypatch.setattr("traceview.cli.loading.read_trace", lambda *_: pytest.fail("was read"))
    Path("there.md").write_text("mine")
    assert run(["report", "run.json", *words]) == 2
    line = refusal(capsys)
    assert said in line
    assert line.endswith("[usage]")
    assert written(trace.parent) == ["there.md"]
    assert Path("there.md").read_text() == "mine"


def test_a_missing_folder_is_refused_before_any_reading(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.cli.loading.read_trace", lambda *_: pytest.fail("was read"))
    for place in ("none/a.md", "run.json/a.md"):
        assert run(["report", str(trace), "-o", str(trace.parent / place)]) == 5
        assert "[unwritable-output]" in refusal(capsys)


def test_a_missing_package_is_one_line_before_any_reading(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setattr("traceview.cli.loading.read_trace", lambda *_: pytest.fail("was read"))
    assert run(["report", str(trace), "-o", str(trace.with_name("a.parquet"))]) == 2
    assert "traceview[parquet]" in refusal(capsys)


def test_where_one_output_fails_none_is_written(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> str:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("traceview.cli.painting.csv_text", broken)
    words = ["-o", str(trace.with_name("a.md")), "-o", str(trace.with_name("b.csv"))]
    assert run(["report", str(trace), *words]) == 5
    assert "b.csv" in refusal(capsys)
    assert written(trace.parent) == []


def test_a_table_is_about_the_chosen_steps(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace.write_bytes(
        making.text(
            making.note("ProfilerStep#1", 0, 99), making.launch(5, 3, 1), making.kernel("one", 30, 10, 1),
            making.note("ProfilerStep#2", 100, 99), making.launch(105, 3, 2), making.kernel("two", 150, 9, 2),
        )
    )  # fmt: skip
    assert run(["report", str(trace), "-o", "-", "--format", "csv", "--steps", "2"]) == 0
    assert [row["name"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == ["two"]
