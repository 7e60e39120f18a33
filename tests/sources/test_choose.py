"""A directory stands for its newest capture, chosen by content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traceview.errors import InputError, UsageError
from traceview.sources.choose import choose_trace

TRACE = '{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}'


def put(path: Path, text: str = TRACE, age: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def test_the_newest_trace_is_chosen_and_said(tmp_path: Path) -> None:
    put(tmp_path / "old.json", age=1000)
    newest = put(tmp_path / "deep" / "er" / "new.pt.trace.json", age=10)
    choice = choose_trace(tmp_path)
    assert choice.path == newest
    assert "newest capture of 2 traces" in choice.reason


def test_reports_summaries_sidecars_and_unfinished_files_are_passed_over(tmp_path: Path) -> None:
    trace = put(tmp_path / "t.json", age=500)
    put(tmp_path / "t.html", "<!doctype html>")
    put(tmp_path / "t.summary.json", '{"schema": "traceview.summary/1", "facts": {}}')
    put(tmp_path / "t.capture.json", '{"device": "x"}')
    put(tmp_path / "t2.json.tmp")
    put(tmp_path / "list.json", '[{"children": []}]')
    put(tmp_path / "empty.json", "")
    put(tmp_path / "make.py", 'print({"traceEvents": []})')
    assert choose_trace(tmp_path).path == trace


def test_the_lowest_rank_of_the_newest_set_is_chosen(tmp_path: Path) -> None:
    put(tmp_path / "run_rank0.100.json", age=9000)
    put(tmp_path / "run_rank10.207.json", age=1)
    put(tmp_path / "run_rank2.205.json", age=0)
    lowest = put(tmp_path / "run_rank1.206.json", age=3)
    choice = choose_trace(tmp_path)
    assert choice.path == lowest
    assert "lowest rank (1) of 3" in choice.reason


def test_the_rank_inside_the_file_counts_where_names_have_none(tmp_path: Path) -> None:
    for i, rank in enumerate([2, 0, 1]):
        put(tmp_path / f"host.{i}.json", f'{{"distributedInfo": {{"rank": {rank}}}, {TRACE[1:]}', age=i)
    assert choose_trace(tmp_path).path.name == "host.1.json"


def test_a_directory_without_a_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Chrome trace"):
        choose_trace(tmp_path)


def test_nothing_means_the_profilers_output_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = put(tmp_path / "t.json")
    monkeypatch.setenv("PROFILER_OUTPUT_DIR", str(tmp_path))
    assert choose_trace(None).path == trace
    monkeypatch.delenv("PROFILER_OUTPUT_DIR")
    with pytest.raises(UsageError, match="PROFILER_OUTPUT_DIR"):
        choose_trace(None)


def test_a_file_and_standard_input_stand_for_themselves(tmp_path: Path) -> None:
    assert choose_trace(tmp_path / "missing.json") == (tmp_path / "missing.json", "")
    assert choose_trace("-") == (Path("-"), "")


def test_links_to_other_directories_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "outside" / "newer.json", age=0)
    inside = put(tmp_path / "inside" / "t.json", age=100)
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert choose_trace(tmp_path / "inside").path == inside
