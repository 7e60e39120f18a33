"""The table of runs: rows of several writers, old and foreign files, comparisons with their intervals."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.analyses import making
from tests.architecture.source import ROOT
from traceview.analyses import analyze
from traceview.capture.run_compare import compare_runs
from traceview.capture.run_rows import run_of
from traceview.capture.run_words import settings_said
from traceview.capture.runs import APPLICATION, MIGRATIONS, Run, Runs
from traceview.cli import run
from traceview.errors import InputError, OutputError, UsageError
from traceview.sources import read_trace

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
    assert table.get(1) == Run("bench", "old", {}, {}, [[5]], "", 1, 1, {})
    assert table.add([measured(1)]) == [2]


def test_rows_of_former_names_are_read_with_the_names_of_today(table: Runs) -> None:
    former = {
        "tf32 matmul": "False", "tf32 cudnn": "True", "cudnn benchmark": "None", "matmul precision": "highest",
        "threads": "4", "shapes": "1x8", "seed": "8895348962708445725 (not set by hand)",
        "torch seed": "8895348962708445725 (not set by hand)", "world size": "not told",
    }  # fmt: skip
    table.add(
        [replace(measured(1), conditions=former), replace(measured(1), conditions={"seed": "4294967295"})]
    )
    assert table.get(1).conditions == {
        "TF32 matmul": "off", "TF32 cuDNN": "on", "float32 matmul": "highest", "threads": "4", "shape": "1x8",
    }  # fmt: skip
    assert table.get(2).conditions == {"seed": "4294967295"}


def test_bench_and_summary_word_the_same_settings_alike(tmp_path: Path) -> None:
    settings = {
        "tf32_matmul": False,
        "tf32_cudnn": True,
        "cudnn_benchmark": False,
        "matmul_precision": "high",
        "threads": 4,
    }
    document = {"schema": "traceview.capture/1", "settings": settings}
    (tmp_path / "a.capture.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "a.json").write_bytes(making.text(making.op("aten::mm", 0, 1)))
    noted = run_of(analyze(read_trace(tmp_path / "a.json"))).conditions
    benched = settings_said(settings)
    assert benched == {
        "TF32 matmul": "off", "TF32 cuDNN": "on", "cuDNN benchmark": "off", "float32 matmul": "high", "threads": "4",
    }  # fmt: skip
    assert {k: noted[k] for k in benched} == benched


def test_a_seed_that_torch_drew_is_no_condition_of_a_summary(tmp_path: Path) -> None:
    for name, seed in (("a", 8895348962708445725), ("b", 4299594088817006754), ("c", 7)):
        document = {"schema": "traceview.capture/1", "settings": {"seed": seed}}
        (tmp_path / f"{name}.capture.json").write_text(json.dumps(document), encoding="utf-8")
        (tmp_path / f"{name}.json").write_bytes(making.text(making.op("aten::mm", 0, 1)))
    a, b, c = (run_of(analyze(read_trace(tmp_path / f"{n}.json"))).conditions for n in "abc")
    assert a == b
    assert "seed" not in a
    assert c["seed"] == "7"


def test_a_seed_that_a_program_noted_itself_is_a_condition_however_large_it_is(
    table: Runs, tmp_path: Path
) -> None:
    for name, seed in (("a", 5_000_000_000), ("b", 6_000_000_000)):
        document = {
            "schema": "traceview.capture/1",
            "settings": {"seed": 8895348962708445725},
            "given": {"seed": seed},
        }
        (tmp_path / f"{name}.capture.json").write_text(json.dumps(document), encoding="utf-8")
        (tmp_path / f"{name}.json").write_bytes(making.text(making.op("aten::mm", 0, 1)))
        table.add([run_of(analyze(read_trace(tmp_path / f"{name}.json")))])
    a, b = (table.get(n).conditions for n in (1, 2))
    assert (a["seed"], b["seed"]) == ("5000000000", "6000000000")
    assert not [k for k in a if k == "torch seed"]


def test_benches_of_other_seeds_are_not_compared_however_large_these_are(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = filled.add([measured(80, 81, seed="5000000000"), measured(80, 81, seed="6000000000")])
    assert command(filled, "compare", *map(str, numbers)) == 4
    assert "  seed: 5000000000 | 6000000000\n" in capsys.readouterr().out
    assert command(filled, "show", str(numbers[0])) == 0
    assert "5000000000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("conditions", "[1]"), ("conditions", '{"a": 1}'), ("conditions", "no json"), ("conditions", None),
        ("figures", '{"latency_ns": "x"}'), ("figures", '{"latency_ns": NaN}'), ("figures", '{"n": true}'),
        ("figures", "[" * 100_000), ("samples", "[1]"), ("samples", '[["x"]]'), ("samples", "[[-1]]"),
        ("samples", "[[1e3]]"), ("samples", f"[[{1 << 70}]]"), ("notes", "[]"), ("label", b"\xff"), ("written", "now"),
        ("written", 1 << 60), ("trace", 5.5),
    ],
)  # fmt: skip
def test_a_damaged_row_is_one_line_whoever_reads_it(
    table: Runs, capsys: pytest.CaptureFixture[str], column: str, value: object
) -> None:
    table.add([measured(100, 101), measured(80, 81)])
    with sqlite3.connect(table.path) as base:
        definition = base.execute("SELECT sql FROM sqlite_master WHERE name = 'runs'").fetchone()[0]
        loose = definition.replace(" NOT NULL", "").replace("TEXT", "").replace("INTEGER,", ",")
        base.execute("ALTER TABLE runs RENAME TO former")
        base.execute(loose.replace('"former"', "runs"))
        base.execute("INSERT INTO runs SELECT * FROM former")
        base.execute(f"UPDATE runs SET {column} = ? WHERE id = 2", [value])
    base.close()
    for words in (["list"], ["show", "2"], ["compare", "1", "2"], ["export"]):
        assert command(table, *words) == 3
        out, err = capsys.readouterr()
        assert "run 2 is damaged (" in err
        assert err.count("\n") == 1
        if words[0] in ("list", "export"):  # the others stay
            assert [line[:1] for line in out.splitlines()] == ["i" if words[0] == "export" else "r", "1"]
    assert command(table, "show", "1") == 0


def test_damaged_rows_are_named_and_the_others_listed(
    table: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    table.add([measured(100 + i) for i in range(9)])
    with sqlite3.connect(table.path) as base:
        base.execute("UPDATE runs SET samples = 'x' WHERE id % 2 = 0")
        base.execute("UPDATE runs SET label = CAST(x'ff' AS TEXT) WHERE id = 1")  # no UTF-8
    base.close()
    assert command(table, "list") == 3
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["run", "9", "7", "5", "3"]
    assert [f"run {n} is damaged" in err for n in (8, 6, 4, 2)] == [True, True, True, False]
    assert "; and 2 more; delete them with another SQLite program" in err


def test_a_file_that_is_damaged_anywhere_is_one_line_and_never_a_failure_of_ours(
    table: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    table.add([measured(100, 101) for _ in range(30)])
    whole = table.path.read_bytes()
    random = np.random.default_rng(20261130)
    for place in random.integers(0, len(whole), 60):
        length = int(random.integers(1, 200))
        table.path.write_bytes(whole[:place] + random.bytes(length) + whole[place + length :])
        for words in (["list"], ["show", "30"], ["compare", "1", "2"], ["export", "--format", "json"]):
            assert command(table, *words) in (0, 2, 3, 4), (place, length)
            assert capsys.readouterr().err.count("\n") <= 1
    for length in (1, 15, 99, 4096, 5000, len(whole) - 1):
        table.path.write_bytes(whole[:length])
        assert command(table, "list") in (0, 3)
        assert capsys.readouterr().err.count("\n") <= 1


@pytest.mark.parametrize("version", [-5, 0, 1, 2])
def test_a_version_that_its_tables_belie_is_one_line(table: Runs, version: int) -> None:
    table.add([measured(1)])
    with sqlite3.connect(table.path) as base:
        base.execute(f"PRAGMA user_version = {version}")
        base.execute("DROP TABLE runs") if version else None
    base.close()
    assert command(table, "list") == 3
    with pytest.raises(InputError):
        table.add([measured(2)])


def test_an_empty_file_does_not_become_a_table_by_being_read(
    table: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    table.path.parent.mkdir()
    table.path.write_bytes(b"")
    for words in (["list"], ["show", "1"], ["export"]):
        assert command(table, *words) == 3
        assert "no table of runs" in capsys.readouterr().err
    assert table.path.read_bytes() == b""
    sqlite3.connect(table.path).execute("PRAGMA user_version = 0").connection.close()
    assert table.add([measured(1)]) == [1]


def test_a_database_without_tables_does_not_become_one_by_being_read(table: Runs) -> None:
    table.path.parent.mkdir()
    base = sqlite3.connect(table.path)
    base.execute("VACUUM")  # writes a page
    base.execute("PRAGMA user_version = 0")
    base.close()
    before = table.path.read_bytes()
    assert command(table, "list") == 3
    assert table.path.read_bytes() == before


@pytest.mark.parametrize(
    "words", [["show", "9" * 20], ["compare", "1", "9" * 400], ["show", "0"], ["show", "--", "-1"]]
)
def test_a_number_beyond_all_rows_is_wrong_usage(
    table: Runs, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table.add([measured(1)])
    assert command(table, *words) == 2
    said = capsys.readouterr().err
    assert "no run " in said
    assert len(said) < 200 + len(str(table.path))


def test_any_number_of_rows_may_be_asked_for(filled: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(filled, "list", "--most", "1" + "0" * 20) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert command(filled, "list", "--label", "caf\udce9") == 0  # a word of the command line that is no UTF-8


def test_an_empty_name_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Runs().add([measured(1)])
    assert run(["runs", "--runs", ""]) == 2
    assert run(["summary", str(SAMPLE), "--record", "--runs", ""]) == 2
    assert run(["runs", "--runs", " ", "show", "1"]) == 2
    assert run(["runs", "show", "1"]) == 0
    assert len(Runs().rows()) == 1


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_table(table: Runs, kind: str) -> None:
    table.path.parent.mkdir()
    table.path.mkdir() if kind == "folder" else os.mkfifo(table.path)
    assert command(table, "list") == 3
    with pytest.raises(InputError, match="no "):
        table.add([measured(1)])


def test_a_table_that_takes_no_row_is_an_output_that_cannot_be_written(
    table: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.add([measured(1)])
    monkeypatch.setattr("traceview.capture.runs.BUSY_S", 0.05)
    for lock in ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"):
        base = sqlite3.connect(table.path, isolation_level=None)
        base.execute(lock)
        with pytest.raises(OutputError, match="database is locked"):
            table.add([measured(2)])
        assert command(table, "list") == (3 if "EXCLUSIVE" in lock else 0)
        base.close()
    for name in ("a" * 256, f"{'b' * 300}/runs.sqlite"):
        with pytest.raises(OutputError, match="name too long"):
            Runs(table.path.parent / name).add([measured(1)])
        with pytest.raises(OutputError, match="name too long"):
            Runs(table.path.parent / name).ready()
        assert command(Runs(table.path.parent / name), "list") == 3


FULL = """
import resource, sys
from traceview.capture.runs import Run, Runs
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
Runs(sys.argv[1]).add([Run("bench", "l", {"c": "x" * 100_000}, {}, [[1]])])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of POSIX")
def test_a_disk_that_is_full_is_an_output_that_cannot_be_written_and_loses_no_row(table: Runs) -> None:
    table.add([measured(1)])
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(table.path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "OutputError" in done.stderr
    assert len(table.rows()) == 1


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_takes_no_row(table: Runs) -> None:
    table.add([measured(1)])
    table.path.parent.chmod(0o555)
    try:
        for act in (table.ready, lambda: table.add([measured(2)]), Runs(table.path.with_name("new")).ready):
            with pytest.raises(OutputError, match="cannot be written"):
                act()
        assert command(table, "list") == 0
    finally:
        table.path.parent.chmod(0o755)


def test_a_target_is_a_condition_without_the_folder_of_its_file(table: Runs) -> None:
    targets = [
        "t.py:f",
        "/home/jane/project/t.py:f",
        "../t.py:f",
        "C:\\Users\\jane\\t.py:f",
        "package.module:f",
    ]
    table.add([measured(1, target=t) for t in targets])
    found = [r.conditions["target"] for r in reversed(table.rows())]
    assert found == ["t.py:f"] * 4 + ["package.module:f"]
    assert compare_runs(table.get(1), table.get(2)).unequal == {}


def test_a_shape_that_failed_is_listed_and_not_compared(
    table: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = replace(measured(1), figures={}, samples=[], notes={"failed": "out of memory"})
    table.add([measured(1, 2), failed])
    assert command(table, "list") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[-1] == "failed"
    assert command(table, "show", "2") == 0
    assert "  failed: out of memory\n  samples: none\n" in capsys.readouterr().out
    assert command(table, "compare", "1", "2") == 3
    assert capsys.readouterr().err == (
        "traceview: run 2 failed: out of memory; compare runs that were timed [unreadable-input]\n"
    )
    assert command(table, "export") == 0
    assert [r["failed"] for r in csv.DictReader(io.StringIO(capsys.readouterr().out))] == [
        "",
        "out of memory",
    ]


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
    assert found.relative is not None
    change, low, high = found.relative
    assert change == pytest.approx(20 / 101)
    assert low < change < high
    assert found.is_real


def test_a_difference_within_the_spread_between_runs_is_not() -> None:
    # within each run the samples differ by 1 %, the medians of the runs by up to 10 %
    found = compare_runs(measured(100, 110, 104), measured(107, 99, 111))
    assert not found.is_real
    assert found.interval.low < 0 < found.interval.high


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
    assert "not proven: one process a side tells nothing" in capsys.readouterr().out


def test_a_recording_is_not_told_to_be_benched(table: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    table.add([replace(measured(m), kind="summary") for m in (100, 150)])
    assert command(table, "compare", "1", "2") == 0
    said = capsys.readouterr().out
    assert "not proven: one recording a side tells nothing" in said
    assert "traceview diff" in said
    assert "--repeat" not in said


def test_what_could_not_have_been_seen_is_said(table: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    # medians 100 and 102, 101 and 103: pooled variance 2, two degrees of freedom, so the difference of the means varies by
    # sqrt(2) and Student's t of 95 % is 4.303: 6.085 of 101
    table.add([measured(100, 102), measured(101, 103)])
    assert command(table, "compare", "1", "2") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (
        "within the spread: no difference is shown; a change under ±6.0 % cannot be told with 2 and 2 processes; "
        "--repeat 5 tells smaller ones"
    )


def test_an_interval_ends_where_no_time_can_be(table: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    table.add([measured(100, 200), measured(110, 190)])
    assert command(table, "compare", "1", "2") == 0
    assert "95 % interval -100.0% (no time is below 0) to +" in capsys.readouterr().out
    assert command(table, "compare", "1", "2", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"][0] == -1
    assert found["interval_ns"][0] < -150_000
    assert found["margin"] > 1


def test_steps_of_no_length_have_no_shares(table: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = replace(measured(1), samples=[[0] * 12, [0] * 12])
    table.add([nothing, nothing, measured(5, 5)])
    assert command(table, "compare", "1", "2") == 0
    assert "median 0 ns -> 0 ns: 95 % interval of the difference 0 ns to 0 ns" in capsys.readouterr().out
    assert command(table, "compare", "1", "3") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "slower"
    assert command(table, "compare", "1", "3", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["change"], found["interval"], found["margin"], found["verdict"]) == (
        None,
        None,
        None,
        "slower",
    )


def test_an_expectation_that_no_run_knows_is_refused_with_those_they_know(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["1", "3"], ["1", "2"], ["1", "2", "--force"]):
        assert command(filled, "compare", *words, "--expect", "precison") == 2
        assert "--expect precison: no condition of these runs" in (said := capsys.readouterr().err)
        assert "device, kind, precision, shape, target" in said
    assert command(filled, "compare", "1", "2", "--expect", "kind") == 0


def test_a_condition_of_one_side_is_said_and_refuses_nothing(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.add([measured(80, 81, 82, seed="7")])
    assert command(filled, "compare", "2", "5") == 0
    assert "  noted by run 5 only, not compared: seed 7\n" in capsys.readouterr().out
    assert command(filled, "compare", "5", "2", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["one_sided"], found["unequal"]) == ({"seed": ["7", None]}, {})


def test_runs_of_other_warm_up_and_iterations_are_not_compared(
    filled: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.add([measured(80, 81, **{"warm-up": w, "iterations": i}) for w, i in (("2", "5"), ("0", "200"))])
    assert command(filled, "compare", "5", "6") == 4
    assert "not comparable: warm-up, iterations differ" in capsys.readouterr().out
    assert command(filled, "compare", "5", "6", "--expect", "warm-up", "--expect", "iterations") == 0


def test_a_row_of_another_kind_is_not_compared_unless_expected(filled: Runs) -> None:
    filled.add([replace(measured(80, 81, 82), kind="summary")])
    assert command(filled, "compare", "2", "5") == 4
    assert command(filled, "compare", "2", "5", "--expect", "kind") == 0


def test_a_top_operator_is_shown_with_its_name_and_what_its_share_is_of(
    table: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = {"top_op_share": 0.5}
    notes = {"top_op": "aten::conv2d", "top_op_time": "host time"}
    table.add([replace(measured(1), figures=figures, notes=notes), replace(measured(1), figures=figures)])
    assert command(table, "show", "1") == 0
    assert (
        "  top operator: aten::conv2d, 50.0 % of the host time of all operators\n" in capsys.readouterr().out
    )
    assert command(table, "show", "2") == 0
    assert "  top operator: 50.0 % of the time of all operators\n" in capsys.readouterr().out
    assert command(table, "export") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [r["top_op"] for r in rows] == ["aten::conv2d", ""]


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
