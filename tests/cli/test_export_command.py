"""`traceview export`: what goes with what, and what is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.analyses import making
from traceview.cli import run

EVENTS = (
    making.note("ProfilerStep#1", 0, 99), making.op("ax::mm", 0, 20), making.frame("f.py(1): g", 1, 9),
    making.launch(5, 3, 1), making.kernel("my_gemm", 30, 10, 1),
    making.note("ProfilerStep#2", 100, 99), making.launch(105, 3, 2), making.kernel("other", 150, 9, 2),
)  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(making.text(*EVENTS))
    return path


def names(path: Path) -> set[str]:
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return {e["name"] for e in document["traceEvents"] if e["ph"] == "X"}


def test_table_and_slim_trace_are_written_from_one_reading(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table, slim = trace.with_name("events.parquet"), trace.with_name("slim.json.gz")
    assert run(["export", str(trace), "-o", str(table), "-o", str(slim)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"wrote {table} (")
    assert first.endswith(
        "table: 8 of 8 slices; trace: 7 of 8 slices"
    )  # a slim trace is without Python frames
    assert second.startswith(f"wrote {slim} (")
    assert parquet.read_table(table).num_rows == 8
    assert names(slim) == {e["name"] for e in EVENTS} - {"f.py(1): g"}


def test_stacks_are_kept_where_asked_for(trace: Path) -> None:
    slim = trace.with_name("slim.json")
    assert run(["export", str(trace), "-o", str(slim), "--stacks"]) == 0
    assert "f.py(1): g" in names(slim)
    assert json.loads(slim.read_text())["traceview"]["slices_left_out"]["python_frames"] == 0


@pytest.mark.parametrize("words", [["--steps", "2"], ["--skip-first", "1"], ["--window", "120us:160us"]])
def test_a_part_is_cut_out_and_the_file_says_which(words: list[str], trace: Path) -> None:
    slim = trace.with_name("slim.json")
    assert run(["export", str(trace), "-o", str(slim), *words]) == 0
    assert names(slim) == {"ProfilerStep#2", "cudaLaunchKernel", "other"}
    said = json.loads(slim.read_text())["traceview"]
    assert said["part"]
    assert said["slices_left_out"]["outside"] == 5


def test_a_slim_trace_can_be_summarised_again(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slim = trace.with_name("slim.json.gz")
    assert run(["export", str(trace), "-o", str(slim)]) == 0
    capsys.readouterr()
    assert run(["summary", str(slim), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["kernels"] == {"my_gemm": [1, 10], "other": [1, 9]}


def test_standard_output_needs_a_format(trace: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["export", str(trace), "-o", "-"]) == 2
    assert b"--format" in capsysbinary.readouterr().err
    assert run(["export", str(trace), "-o", "-", "--format", "json.gz"]) == 0
    assert b"my_gemm" in gzip.decompress(capsysbinary.readouterr().out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing option"),
        (["-o", "a.txt"], "does not say the format"),
        (["-o", "a.parquet", "--stacks"], "--stacks goes with a slim trace"),
        (["-o", "a.json", "--steps", "1", "--window", "0:1ms"], "both choose a part"),
        (["-o", "a.json", "--window", "5:6"], "is no time"),
        (["-o", "a.json", "--window", ""], "is no window"),
        (["-o", "run.json", "--force"], "is the trace itself"),
        (["-o", "a.json", "-o", "a.json"], "named twice"),
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
    monkeypatch.setattr("traceview.sources.read_trace", lambda *_: pytest.fail("was read"))
    assert run(["export", "run.json", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert [p.name for p in trace.parent.iterdir()] == ["run.json"]


@pytest.mark.parametrize("words", [["--window", "900ms:1s"], ["--steps", "7"]])
def test_an_empty_part_is_refused_and_nothing_written(
    words: list[str], trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(trace), "-o", str(trace.with_name("a.json")), *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert [p.name for p in trace.parent.iterdir()] == ["run.json"]
