"""The table of runs: rows of several writers, old and foreign files, comparisons with their intervals."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.architecture.source import ROOT
from traceview.capture.run_compare import compare_runs
from traceview.capture.runs import APPLICATION, MIGRATIONS, Run, Runs
from traceview.cli import run
from traceview.errors import InputError, UsageError

SAMPLE = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
CONDITIONS = {"target": "m:f", "device": "cpu", "precision": "fp32", "shape": "1x8"}


def measured(*medians: int, **conditions: str) -> Run:
    """Return a run of processes with these medians, in µs; samples lie one per cent around."""
    samples = [[round(m * 1000 * (1 + d / 1000)) for d in range(-10, 11)] for m in medians]
    figures = {"latency_ns": float(medians[0] * 1000), "spread_between_share": 0.01, "device_ns": None}
    return Run("bench", "f", {**CONDITIONS, **conditions}, figures, samples, "f-w0.json.gz")


@pytest.fixture
def table(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "sub" / "runs.sqlite")


def test_a_row_comes_back_as_it_was(table: Runs) -> None:
    one = measured(100, 101)
    assert table.add([one, measured(200)]) == [1, 2]
    assert table.get(1) == replace(one, id=1)
    assert [r.id for r in table.rows()] == [2, 1]
    assert table.rows(label="other") == []
    assert [r.id for r in table.rows(most=1)] == [2]


def test_reading_a_table_that_is_not_there_makes_none(table: Runs) -> None:
    with pytest.raises(InputError, match="no table of runs"):
        table.rows()
    assert not table.path.exists()


def test_a_number_that_no_run_has_is_refused(table: Runs) -> None:
    table.add([measured(1)])
    with pytest.raises(UsageError, match="no run 7"):
        table.get(7)


def test_all_rows_of_an_addition_are_there_or_none(table: Runs) -> None:
    table.add([measured(1)])
    broken = replace(measured(2), figures={"latency_ns": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        table.add([measured(3), broken])
    assert [r.id for r in table.rows()] == [1]


def test_writers_at_the_same_time_lose_no_row(table: Runs) -> None:
    code = (
        "import sys; from traceview.capture.runs import Run, Runs\n"
        "for i in range(25): Runs(sys.argv[1]).add([Run('bench', sys.argv[2], {}, {'n': float(i)}, [[1]])])"
    )
    words = [sys.executable, "-c", code, str(table.path)]
    writers = [
        subprocess.Popen([*words, f"writer{i}"], cwd=ROOT) for i in range(4)
    ]  # they make the file together too
    assert [w.wait(120) for w in writers] == [0, 0, 0, 0]
    found = table.rows()
    assert len({r.id for r in found}) == 100
    for i in range(4):
        assert [r.figures["n"] for r in reversed(table.rows(f"writer{i}"))] == list(range(25))


def test_a_table_of_the_first_version_is_brought_up_to_date(table: Runs) -> None:
    table.path.parent.mkdir()
    with sqlite3.connect(table.path) as base:
        base.execute(MIGRATIONS[0])
        base.execute(f"PRAGMA application_id = {APPLICATION}")
        base.execute("PRAGMA user_version = 1")
        base.execute(
            "INSERT INTO runs (written, kind, label, conditions, figures, samples) VALUES (1, 'bench', 'old', '{}', '{}', '[[5]]')"
        )
    base.close()
    assert table.get(1) == Run("bench", "old", {}, {}, [[5]], "", 1, 1)
    assert table.add([measured(1)]) == [2]


def test_a_table_of_a_newer_version_is_left_alone(table: Runs) -> None:
    table.add([measured(1)])
    with sqlite3.connect(table.path) as base:
        base.execute("PRAGMA user_version = 99")
    base.close()
    before = table.path.read_bytes()
    with pytest.raises(InputError, match=r"written by a newer traceview \(version 99\)"):
        table.add([measured(2)])
    assert table.path.read_bytes() == before


def test_a_file_of_another_program_is_left_alone(table: Runs) -> None:
    table.path.parent.mkdir()
    with sqlite3.connect(table.path) as base:
        base.execute("CREATE TABLE theirs (x)")
    base.close()
    with pytest.raises(InputError, match="a SQLite file of another program"):
        table.add([measured(1)])
    table.path.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(InputError, match="not a database"):
        table.rows()


def test_a_difference_beyond_the_spread_between_runs_is_real() -> None:
    found = compare_runs(measured(100, 101, 102), measured(120, 121, 122))
    assert found.unequal == {}
    change, low, high = found.relative
    assert change == pytest.approx(20 / 101)
    assert low < change < high
    assert found.is_real


def test_a_difference_within_the_spread_between_runs_is_not() -> None:
    # within each run the samples differ by 1 %, the medians of the runs by up to 10 %
    found = compare_runs(measured(100, 110, 104), measured(107, 99, 111))
    assert not found.is_real
    assert found.relative[1] < 0 < found.relative[2]


def drawn(random: np.random.Generator, shift: float) -> Run:
    """Return a bench of two processes whose medians vary by 3 % and whose samples by 1 %."""
    centres = 1e7 * (1 + shift) * (1 + random.normal(0, 0.03, 2))
    samples = tuple((c * (1 + random.normal(0, 0.01, 50))).astype(int).tolist() for c in centres)
    return replace(measured(1), samples=samples)


def test_the_interval_of_two_processes_a_side_holds_the_truth_19_times_of_20() -> None:
    random = np.random.default_rng(20261130)
    missed = sum(compare_runs(drawn(random, 0), drawn(random, 0)).interval.excludes_zero for _ in range(300))
    assert 3 <= missed <= 27  # 15 of 300 expected; with 5 % a count outside has less than one chance in 500


def test_a_change_of_three_times_the_spread_is_mostly_seen_with_two_processes_a_side() -> None:
    # by the noncentral t distribution: 2 degrees of freedom, a shift of 20 / 3 standard errors
    random = np.random.default_rng(20261130)
    seen = sum(compare_runs(drawn(random, 0), drawn(random, 0.2)).is_real for _ in range(100))
    assert seen > 70


def test_one_process_a_side_proves_nothing() -> None:
    found = compare_runs(measured(100), measured(150))
    assert found.interval.excludes_zero
    assert not found.is_real


def test_a_run_against_itself_shows_no_difference() -> None:
    found = compare_runs(measured(100, 101), measured(101, 100))
    assert found.interval.estimate == 0
    assert not found.is_real


def test_swapped_sides_negate_the_difference() -> None:
    there, back = (
        compare_runs(*p).interval
        for p in ((measured(100, 103), measured(90, 95)), (measured(90, 95), measured(100, 103)))
    )
    assert (there.estimate, there.low, there.high) == (-back.estimate, -back.high, -back.low)


@pytest.fixture
def filled(table: Runs) -> Runs:
    table.add(
        [measured(100, 101, 102), measured(80, 81, 82), measured(80, 81, 82, precision="bf16"), measured(100)]
    )
    return table


def command(table: Runs, *words: str) -> int:
    return run(["runs", "--runs", str(table.path), *words])


def test_equal_conditions_are_compared(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(filled, "compare", "1", "2") == 0
    said = capsys.readouterr().out
    assert "median 101 µs -> 81.0 µs: -19.8%, 95 % interval -" in said
    assert "of 3 and 3 processes\nfaster\n" in said


def test_unequal_conditions_are_refused_unless_expected_or_forced(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(filled, "compare", "1", "3") == 4
    said = capsys.readouterr().out
    assert "  precision: fp32 | bf16" in said
    assert "not comparable: precision differ" in said
    assert "median" not in said
    assert command(filled, "compare", "1", "3", "--expect", "precision") == 0
    assert command(filled, "compare", "1", "3", "--force") == 0
    assert "  precision: fp32 | bf16\nmedian" in capsys.readouterr().out


def test_a_comparison_as_json_holds_no_change_where_it_is_refused(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(filled, "compare", "1", "3", "--format", "json") == 4
    refused = json.loads(capsys.readouterr().out)
    assert (refused["verdict"], refused["change"], refused["refused"]) == (
        "not comparable",
        None,
        ["precision"],
    )
    assert command(filled, "compare", "1", "2", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["processes"]) == ("faster", [3, 3])


def test_one_process_is_said_to_be_too_few(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(filled, "compare", "1", "4") == 0
    assert "not proven: one process a side" in capsys.readouterr().out


def test_runs_are_listed_the_newest_first(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["list"]):
        assert command(filled, *words) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == [
            "run",
            "written",
            "label",
            "shape",
            "precision",
            "device",
            "median",
            "between",
        ]
        assert [line.split()[0] for line in lines[1:]] == ["4", "3", "2", "1"]
        assert lines[4].split()[-4:] == ["100", "µs", "1.0", "%"]


def test_a_run_is_shown_with_all_that_is_known(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(filled, "show", "3") == 0
    said = capsys.readouterr().out
    for line in ("  precision: bf16", "  latency: 80.0 µs", "  samples: 21, 21, 21", "  trace: f-w0.json.gz"):
        assert line in said.splitlines()


def test_runs_are_exported(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    filled.add([measured(1, note="=1+1")])
    assert command(filled, "export") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [r["id"] for r in rows] == ["1", "2", "3", "4", "5"]
    assert (rows[2]["precision"], rows[2]["latency_ns"], rows[2]["device_ns"]) == ("bf16", "80000.0", "")
    assert rows[4]["note"] == "'=1+1"
    assert command(filled, "export", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "traceview.runs/1"
    assert document["runs"][1]["samples"] == [list(s) for s in measured(80, 81, 82).samples]


def test_a_summary_adds_its_trace(table: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["summary", str(SAMPLE), "--record", "--runs", str(table.path)]) == 0
    assert f"run 1 in {table.path}" in capsys.readouterr().err
    found = table.get(1)
    assert (found.kind, found.label) == ("summary", "gpu-training-synthetic")
    assert len(found.samples) == 1
    assert found.figures["latency_ns"] == pytest.approx(statistics.median(found.samples[0]), abs=1)
    same = compare_runs(table.get(1), table.get(2))
    assert same.unequal == {}
    assert same.interval.estimate == 0


def test_a_table_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run(["summary", str(SAMPLE), "--record", "--runs", str(tmp_path / "file" / "runs.sqlite")]) == 5
    assert "cannot be written" in capsys.readouterr().err
