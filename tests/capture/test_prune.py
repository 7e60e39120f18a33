"""Captures go whole or stay, and nothing else is ever touched."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.analyses import making
from traceview.capture import retention
from traceview.capture.retention import Limits, captures, condemned, delete, parse_age, parse_size
from traceview.cli import run
from traceview.errors import UsageError

TRACE = making.text(making.op("aten::mm", 0, 1))
HOUR = 3600.0


def trace(folder: Path, name: str, hours: float, told: str | None = None, size: int = 0) -> Path:
    """Write a trace of so many hours ago, with a sidecar of a run where one is told."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.pt.trace.json"
    path.write_bytes(TRACE + b" " * max(0, size - len(TRACE)))
    written = [path]
    if told is not None:
        written.append(folder / f"{name}.capture.json")
        document = {"schema": "traceview.capture/1", "run": told}
        written[-1].write_text(json.dumps(document), encoding="utf-8")
    for file in written:
        os.utime(file, (time.time() - hours * HOUR,) * 2)
    return path


def names(folder: Path) -> list[str]:
    return sorted(
        p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() or p.is_symlink()
    )


def gone(folder: Path, *conditions: str) -> list[str]:
    """Return what a prune with these conditions deletes."""
    before = names(folder)
    assert run(["prune", str(folder), *conditions, "--yes"]) == 0
    return sorted(set(before) - set(names(folder)))


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Return a folder with three captures: two ranks and two windows, one trace, one trace."""
    for rank in (0, 1):
        for window in (0, 1):
            trace(tmp_path, f"train-rank{rank}-pid{70 + rank}-w{window}", 50 - 10 * window, "elastic-7", 400)
    trace(tmp_path, "train-pid90-w0", 20, "process-ab", 500)
    trace(tmp_path, "train-pid91-w0", 10, "process-cd", 600)
    return tmp_path


OLDEST = [
    f"train-rank{r}-pid{70 + r}-w{w}{suffix}"
    for r in (0, 1) for w in (0, 1) for suffix in (".capture.json", ".pt.trace.json")
]  # fmt: skip
MIDDLE = ["train-pid90-w0.capture.json", "train-pid90-w0.pt.trace.json"]


def test_a_capture_is_all_ranks_and_windows_of_a_run_with_their_sidecars(three: Path) -> None:
    assert [(c.label, len(c.files)) for c in captures(three)] == [("train", 2), ("train", 2), ("train", 8)]


@pytest.mark.parametrize(
    ("conditions", "lost"),
    [
        (["--keep", "2"], OLDEST),
        (["--keep", "1"], [*MIDDLE, *OLDEST]),
        (["--keep", "9"], []),
        (["--max-age", "15h"], [*MIDDLE, *OLDEST]),
        (["--max-age", "2d"], []),  # its newest window is of 40 hours ago
        (["--max-age", "30h"], OLDEST),
        (["--max-size", "1.5KB"], OLDEST),
        (["--max-size", "10GB"], []),
        (["--keep", "9", "--max-age", "30h"], OLDEST),
        (["--keep", "1", "--max-age", "9w"], [*MIDDLE, *OLDEST]),
    ],
    ids=str,
)
def test_any_one_condition_condemns_whole_captures(
    three: Path, conditions: list[str], lost: list[str]
) -> None:
    assert gone(three, *conditions) == sorted(lost)


@pytest.mark.parametrize("condition", [["--max-age", "1h"], ["--max-size", "1B"]], ids=str)
def test_the_newest_capture_stays_whatever_is_asked(three: Path, condition: list[str]) -> None:
    assert gone(three, *condition) == sorted([*MIDDLE, *OLDEST])


def test_without_yes_nothing_is_deleted_and_all_is_listed(
    three: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = names(three)
    assert run(["prune", str(three), "--keep", "1", "--max-age", "30h"]) == 0
    assert names(three) == before
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("train  2 files, ")
    assert said[0].endswith(": not among the newest 1")
    assert said[1].endswith(": not among the newest 1, too old")
    assert said[2].startswith("would delete 2 captures of 3, ")
    assert said[2].endswith("--yes deletes")


def test_no_condition_is_wrong_usage(three: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prune", str(three), "--yes"]) == 2
    assert "nothing says what may go" in capsys.readouterr().err
    assert len(captures(three)) == 3


def test_what_is_no_trace_by_its_content_stays(tmp_path: Path) -> None:
    trace(tmp_path, "new-pid1-w0", 1, "process-a")
    trace(tmp_path, "old-pid1-w0", 99, "process-b")
    others = {
        "old-pid1-w0.html": b"<html>", "report.json": b'{"schema": "traceview.summary/1"}', "notes.pt.trace.json": b"x",
        "empty.json.gz": b"", "weights.pt": b"PK\x03\x04", "orphan.capture.json": b"{}", "script.py": b'"traceEvents": [',
    }  # fmt: skip
    for name, data in others.items():
        (tmp_path / name).write_bytes(data)
        os.utime(tmp_path / name, (0, 0))
    assert gone(tmp_path, "--keep", "1") == ["old-pid1-w0.capture.json", "old-pid1-w0.pt.trace.json"]


def test_traces_of_others_belong_together_by_name_and_time(tmp_path: Path) -> None:
    for rank in range(3):
        trace(tmp_path, f"host_{rank}.170000000{rank}", 30 + rank / 1000)
    trace(tmp_path, "host_0.1700099999", 20)
    trace(tmp_path, "host_0.1800000000", 1)
    assert [len(c.files) for c in captures(tmp_path)] == [1, 1, 3]
    assert len(gone(tmp_path, "--keep", "2")) == 3


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = trace(tmp_path / "outside", "old-pid1-w0", 99, "process-o")
    trace(tmp_path / "in", "new-pid1-w0", 1, "process-n")
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (tmp_path / "in" / "link-pid2-w0.pt.trace.json").symlink_to(outside)
    assert gone(tmp_path / "in", "--keep", "1", "--max-age", "1m") == []
    assert outside.exists()


def test_a_sidecar_that_is_a_link_is_none(tmp_path: Path) -> None:
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    trace(tmp_path, "old-pid1-w0", 99)
    secret = tmp_path / "secret"
    secret.write_text('{"schema": "traceview.capture/1", "run": "x"}', encoding="utf-8")
    (tmp_path / "old-pid1-w0.capture.json").symlink_to(secret)
    assert gone(tmp_path, "--keep", "1") == ["old-pid1-w0.pt.trace.json"]


def test_a_capture_that_is_being_written_stays(tmp_path: Path) -> None:
    trace(tmp_path, "a-pid1-w0", 0.001, "process-a")
    trace(tmp_path, "b-pid1-w0", 9, "process-b")
    trace(tmp_path, "b-pid1-w1", 0.01, "process-b")  # its second window, 36 seconds ago
    assert gone(tmp_path, "--keep", "1") == []


def test_a_capture_that_changed_since_it_was_listed_is_left(tmp_path: Path) -> None:
    path = trace(tmp_path, "b-pid1-w0", 9, "process-b")
    (capture,) = captures(tmp_path)
    path.write_bytes(TRACE + b" ")
    assert delete(capture, tmp_path) == (0, ["b: changed meanwhile, left as it is"])
    assert path.exists()


def test_a_file_that_is_gone_meanwhile_is_no_failure(three: Path) -> None:
    going = condemned(captures(three), Limits(keep=2), time.time())
    (three / OLDEST[0]).unlink()
    freed, failed = delete(going[0].capture, three)
    assert failed == []
    assert freed == 4 * 400 + sum(
        len(json.dumps({"schema": "traceview.capture/1", "run": "elastic-7"})) for _ in range(3)
    )
    assert not set(OLDEST) & set(names(three))


def test_a_folder_that_leads_outside_by_now_is_left(tmp_path: Path) -> None:
    trace(tmp_path / "in" / "sub", "old-pid1-w0", 99, "process-o")
    (capture,) = captures(tmp_path / "in")
    (tmp_path / "in" / "sub").rename(tmp_path / "moved")
    (tmp_path / "in" / "sub").symlink_to(tmp_path / "moved", target_is_directory=True)
    freed, failed = delete(capture, tmp_path / "in")
    assert freed == 0
    assert len(failed) == 2
    assert names(tmp_path / "moved") == ["old-pid1-w0.capture.json", "old-pid1-w0.pt.trace.json"]


def test_what_cannot_be_deleted_is_said(
    three: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(retention.Path, "unlink", refuse)
    assert run(["prune", str(three), "--keep", "2", "--yes"]) == 5
    assert "not deleted: train-rank0-pid70-w0.capture.json: Permission denied" in capsys.readouterr().err


def test_hidden_and_half_written_files_stay(tmp_path: Path) -> None:
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    trace(tmp_path, ".hidden", 99)
    trace(tmp_path / ".traceview", "inside", 99)
    assert gone(tmp_path, "--keep", "1", "--max-age", "1h") == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("12h", 43200), ("7d", 604800), ("1.5W", 907200)]
)
def test_ages_are_read(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("20 gb", 20_000_000_000), ("1.5KiB", 1536), ("7B", 7)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "7 years", "1e3GB", "5IB"])
def test_what_is_no_age_and_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_age(text)
    with pytest.raises(UsageError):
        parse_size(text)


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    assert run(["prune", str(tmp_path / "nowhere"), "--keep", "1"]) == 3
