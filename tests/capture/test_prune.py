"""Captures go whole or stay, and nothing else is ever touched."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from pathlib import Path

import pytest

from tests.analyses import making
from tests.architecture.source import ROOT
from traceview.capture import capture_sets, retention
from traceview.capture.capture_groups import File, Member, Place, grouped
from traceview.capture.retention import Limits, captures, delete, judged, parse_age, parse_size
from traceview.cli import run
from traceview.errors import UsageError
from traceview.sources.choose import is_surely_trace, is_trace
from traceview.units import data_size

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
    assert said[0].startswith("train-pid90-w0  2 files, ")
    assert said[0].endswith(": not among the newest 1")
    assert said[1].startswith("train-rank0..1-pid70..71-w0..1  8 files, ")
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
    (going,) = judged(captures(three), Limits(keep=2), time.time())
    assert not going.held
    (three / OLDEST[0]).unlink()
    freed, failed = delete(going.capture, three)
    assert failed == []
    assert freed == 4 * 400 + sum(
        len(json.dumps({"schema": "traceview.capture/1", "run": "elastic-7"})) for _ in range(3)
    )
    assert not set(OLDEST) & set(names(three))


def member(place: Place, written: float, run: str, world: int | None = None) -> Member:
    """Return a trace as it is when captures are told apart."""
    path = Path(f"/d/train{place.ranks}-pid{place.process}-w{place.window}{place.number}.pt.trace.json.gz")
    return Member(File(path, 10, written), True, None, run, world, "train", place)


MANY = 3000
CROWDS = {
    "each with a run": [
        member(Place("", str(i), "0", ""), 1000.0 * i, f"process-{i}") for i in range(MANY)
    ],
    "without sidecars": [member(Place("", str(i), "0", ""), 1000.0 * i, "") for i in range(MANY)],
    "without sidecars, a rank, one soon after the other": [
        member(Place("-rank0", str(i), "0", ""), 60.0 * i, "") for i in range(MANY)
    ],
    "shells of machines": [
        member(Place("-rank0", str(i), "0", ""), 60.0 * i, f"parent-{i}-7", 2) for i in range(MANY)
    ],
    "every second without its sidecar": [
        member(Place("", str(i), "0", ""), 1000.0 * i, f"process-{i}" if i % 2 else "") for i in range(MANY)
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", CROWDS)
def test_thousands_of_captures_are_told_apart_at_once(kind: str) -> None:
    begun = time.process_time()
    assert len(grouped(CROWDS[kind])) == MANY
    assert time.process_time() - begun < 1.5  # 0.1 to 0.3; each beside each took 5 to 20


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


def sets(folder: Path) -> list[list[str]]:
    """Return the traces of each capture, the newest capture first."""
    return [
        [
            f.path.name.removesuffix(".pt.trace.json")
            for f in c.files
            if f.path.name.endswith(".pt.trace.json")
        ]
        for c in captures(folder)
    ]


def test_what_one_shell_started_again_and_again_is_as_many_captures(tmp_path: Path) -> None:
    for launch, hours in enumerate((40, 30, 20, 10)):
        trace(tmp_path, f"job-rank0-pid{50 + launch}-w0", hours, "parent-9")
    assert sets(tmp_path) == [[f"job-rank0-pid{pid}-w0"] for pid in (53, 52, 51, 50)]
    assert gone(tmp_path, "--keep", "3") == [
        "job-rank0-pid50-w0.capture.json",
        "job-rank0-pid50-w0.pt.trace.json",
    ]


def test_ranks_and_windows_of_one_launch_stay_together_among_others_of_the_same_shell(tmp_path: Path) -> None:
    for launch, hours in ((1, 20), (2, 10)):
        for rank in (0, 1):
            for window in (0, 1):  # half an hour apart
                name = f"job-rank{rank}-tp{rank}-pid{launch}{rank}-w{window}"
                trace(tmp_path, name, hours - window / 2 - rank / 1000, "parent-9")
    assert sets(tmp_path) == [
        [f"job-rank{r}-tp{r}-pid{launch}{r}-w{w}" for r in (0, 1) for w in (0, 1)] for launch in (2, 1)
    ]


@pytest.mark.parametrize("told", ["elastic-7", "slurm-8.0", "parent-1-17000000", "parent-1"])
@pytest.mark.parametrize("again", ["job-rank0-pid99-w0", "job-rank0-pid10-w0-2", "later/job-rank0-pid10-w0"])
def test_a_rank_and_window_that_comes_again_is_another_launch_of_a_run_of_the_same_name(
    tmp_path: Path, told: str, again: str
) -> None:
    trace(tmp_path, "job-rank0-pid10-w0", 20, told)
    trace(tmp_path, "job-rank1-pid11-w0", 20, told)
    at = tmp_path / again
    trace(at.parent, at.name, 10, told)
    assert sets(tmp_path) == [[at.name], ["job-rank0-pid10-w0", "job-rank1-pid11-w0"]]


def test_a_launch_whose_ranks_were_fewer_before_is_not_torn(tmp_path: Path) -> None:
    for rank in (0, 1):
        trace(tmp_path, f"job-rank{rank}-pid1{rank}-w0", 40, "elastic-7")
    for rank in (3, 2, 1, 0):  # the ranks that are new write first
        trace(tmp_path, f"job-rank{rank}-pid2{rank}-w0", 20 + rank / 1000, "elastic-7")
    assert [len(s) for s in sets(tmp_path)] == [4, 2]


def test_processes_of_a_job_that_know_no_rank_are_one_launch_where_they_wrote_together(
    tmp_path: Path,
) -> None:
    for pid in (10, 11, 12):
        trace(tmp_path, f"serve-pid{pid}-w0", 20 + pid / 1000, "slurm-8.0")
        trace(tmp_path, f"serve-pid{pid}-w1", 19 + pid / 1000, "slurm-8.0")
    trace(tmp_path, "serve-pid13-w0", 5, "slurm-8.0")
    assert [len(s) for s in sets(tmp_path)] == [1, 6]


def test_what_one_process_told_stays_whole_whatever_the_names_say(tmp_path: Path) -> None:
    trace(tmp_path, "job-pid10-w0", 20, "process-ab")
    trace(tmp_path, "job-pid99-w0", 10, "process-ab")  # it forked
    assert len(captures(tmp_path)) == 1


@pytest.mark.parametrize("told", ["elastic-1", "slurm-8.0", "parent-70-17000000", "process-ab"])
def test_a_capture_may_lie_in_a_folder_for_each_rank(tmp_path: Path, told: str) -> None:
    for rank in range(4):
        trace(tmp_path / f"rank{rank}", f"train-rank{rank}-pid{70 + rank}-w0", 50, told)
        trace(tmp_path / f"rank{rank}", f"train-rank{rank}-pid{80 + rank}-w0", 9, f"{told}2")
    lost = [
        f"rank{r}/train-rank{r}-pid{70 + r}-w0{s}"
        for r in range(4)
        for s in (".capture.json", ".pt.trace.json")
    ]
    assert gone(tmp_path, "--keep", "1") == lost


def test_the_place_of_a_capture_in_several_folders_is_what_they_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in (0, 1):
        trace(tmp_path / "runs" / f"rank{rank}", f"train-rank{rank}-pid7-w0", 50, "elastic-1")
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    assert run(["prune", str(tmp_path), "--keep", "1"]) == 0
    assert capsys.readouterr().out.startswith("runs/train-rank0..1-pid7-w0  4 files, ")


def test_a_rank_whose_sidecar_is_lost_stays_with_those_of_the_folders_beside_it(tmp_path: Path) -> None:
    for rank in range(4):
        trace(
            tmp_path / f"rank{rank}",
            f"train-rank{rank}-pid7{rank}-w0",
            50,
            None if rank == 2 else "elastic-1",
        )
    assert [len(s) for s in sets(tmp_path)] == [4]


def test_windows_of_a_process_without_sidecars_belong_together_whatever_the_time_between(
    tmp_path: Path,
) -> None:
    for window in range(3):  # half an hour apart
        for rank in (0, 1):
            trace(tmp_path, f"job-rank{rank}-pid1{rank}-w{window}", 30 - window / 2 - rank / 1000)
    trace(tmp_path, "job-rank0-pid20-w0", 10)
    trace(tmp_path, "job-rank0-pid20-w1", 9)
    trace(tmp_path / "sub", "job-rank0-pid20-w2", 8)
    trace(tmp_path, "job-rank0-pid20-w0-2", 7)  # another process of this number
    assert [len(s) for s in sets(tmp_path)] == [1, 1, 2, 6]


def test_a_late_window_without_a_sidecar_stays_with_its_process(tmp_path: Path) -> None:
    trace(tmp_path, "train-pid10-w0", 30, "process-a")
    trace(tmp_path, "train-pid10-w1", 20)
    assert len(captures(tmp_path)) == 1


def nodes(folder: Path, world: int | None, second: str, hours: float = 30.0) -> list[int]:
    """Write two ranks of each of two machines, whose shells differ; return how many traces the captures have."""
    for node, (told, at) in enumerate((("parent-7-170", 30.0), (second, hours))):
        for rank in (2 * node, 2 * node + 1):
            path = trace(folder, f"train-rank{rank}-pid5{rank}-w0", at, told)
            sidecar = path.with_name(path.name.replace(".pt.trace.json", ".capture.json"))
            document = {"schema": "traceview.capture/1", "run": told, "world_size": world}
            sidecar.write_text(json.dumps(document), encoding="utf-8")
            os.utime(sidecar, (time.time() - at * HOUR,) * 2)
    return [len(s) for s in sets(folder)]


def test_what_shells_of_several_machines_started_at_one_time_is_one_capture(tmp_path: Path) -> None:
    assert nodes(tmp_path, 4, "parent-9-180") == [4]


@pytest.mark.parametrize(
    ("world", "second", "hours"),
    [
        (None, "parent-9-180", 30),  # nobody tells how many there are
        (3, "parent-9-180", 30),  # rank 3 is none of three
        (4, "parent-9-180", 29.9),  # six minutes later
        (4, "elastic-9", 30),  # a launcher that tells all its machines the same
    ],
)
def test_other_launches_of_other_shells_are_other_captures(
    tmp_path: Path, world: int | None, second: str, hours: float
) -> None:
    assert nodes(tmp_path, world, second, hours) == [2, 2]


@pytest.mark.parametrize("document", [{}, {"run": None}, {"run": 5}, {"run": ""}])
def test_sidecars_that_tell_no_run_do_not_make_one_run(tmp_path: Path, document: dict[str, object]) -> None:
    for pid, hours in ((1, 30), (2, 20)):
        trace(tmp_path, f"train-pid{pid}-w0", hours)
        text = json.dumps({"schema": "traceview.capture/1", **document})
        (tmp_path / f"train-pid{pid}-w0.capture.json").write_text(text, encoding="utf-8")
    assert [len(c.files) for c in captures(tmp_path)] == [2, 2]


@pytest.mark.parametrize("told", ["elastic-7", None])
@pytest.mark.parametrize("broken", [b"", b"\x1f\x8b broken", b'{"schemaVersion": 1, "trace'])
def test_a_capture_of_which_a_file_cannot_be_read_stays_whole_and_is_said(
    tmp_path: Path, broken: bytes, told: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in range(3):
        trace(tmp_path, f"train-rank{rank}-pid7{rank}-w0", 30, told)
    damaged = tmp_path / "train-rank1-pid71-w0.pt.trace.json"
    damaged.write_bytes(broken)
    os.utime(damaged, (time.time() - 30 * HOUR,) * 2)
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    assert gone(tmp_path, "--keep", "1") == []
    assert capsys.readouterr().out.splitlines() == [
        "1 capture beyond the limits stays: train-rank1-pid71-w0.pt.trace.json of it cannot be read as a trace; delete it by hand",
        "deleted 0 captures of 2, 0 B",
    ]
    damaged.unlink()
    assert len(gone(tmp_path, "--keep", "1")) == (4 if told else 2)


def test_a_file_that_only_its_name_calls_a_trace_is_no_capture(tmp_path: Path) -> None:
    trace(tmp_path, "train-pid7-w0", 30).write_bytes(b"")
    assert captures(tmp_path) == []


RECORDS = [
    '[{"id": "QW_0", "conversations": []}]', '[{"name": "pip", "version": "24.0"}]', '[{"args": [1], "pid": 5}]',
    '[{"ph": 7.2, "name": "lake", "ts": 5}]', '[{"ph": "acid", "ts": 5}]', '[{"ph": "X", "name": "no time"}]',
    '[{"ph": "X", "ts": "yesterday"}]', '[{"ph": "X", "ts": 1}, {"id": 5}]', "[]", "[1, 2]", '["ph"]', "[{}]",
    '{"traceEvents": []}', '{"traceEvents": [{"id": 5}]}', '{"rows": [{"ph": "X", "ts": 1}]}', "{", "[",
]  # fmt: skip


@pytest.mark.parametrize("text", RECORDS)
@pytest.mark.parametrize("name", ["ShareGPT_V3.json", "train-pid7-w0.pt.trace.json", "list"])
def test_lists_of_other_records_are_no_traces(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    os.utime(tmp_path / name, (0, 0))
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    assert gone(tmp_path, "--max-age", "1d") == []


EVENT = '{"ph": "X", "name": "a", "ts": 1.5, "dur": 1}'
ODD = [
    f"[{EVENT}, {EVENT}", f" [\n,{EVENT},\n]", f"[{EVENT}, {{\"ph\": \"X", f"[{{}}, {EVENT}, {{}}]",
    '[{"ph": "M", "name": "process_name"}]', '[{"ph": "B", "name": "a", "ts": "1.5"}]', '{"schemaVersion": 1, "traceEvents": []}',
    f'{{"otherData": {{}}, "traceEvents": [{EVENT}]}}', f'\ufeff{{"traceEvents":\n[\n{EVENT}', '[{"ph": "E", "ts": -3}]',
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_odd_traces_are_traces_all_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    os.utime(tmp_path / "old.json", (0, 0))
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    assert gone(tmp_path, "--max-age", "1d") == ["old.json"]


def test_every_sample_that_is_read_as_events_is_a_trace(tmp_path: Path) -> None:
    found = [p for p in (ROOT / "sample_traces").rglob("*.json*") if is_trace(p)]
    assert len(found) > 3
    assert [p.name for p in found if not is_surely_trace(p)] == []


def test_a_trace_and_its_compressed_twin_share_a_sidecar(tmp_path: Path) -> None:
    plain = trace(tmp_path, "old-pid1-w0", 30, "process-o")
    twin = plain.with_name(f"{plain.name}.gz")
    twin.write_bytes(gzip.compress(TRACE))
    os.utime(twin, (time.time() - 30 * HOUR,) * 2)
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    old = captures(tmp_path)[1]
    assert len(old.files) == 3
    assert old.size == sum(p.stat().st_size for p in tmp_path.glob("old*"))
    assert len(gone(tmp_path, "--keep", "1")) == 3


def test_pipes_and_sockets_are_not_waited_for(tmp_path: Path) -> None:
    trace(tmp_path, "old-pid1-w0", 30)
    trace(tmp_path, "new-pid1-w0", 1, "process-n")
    for name in ("old-pid1-w0.capture.json", "other-pid1-w0.pt.trace.json", "pipe.json"):
        os.mkfifo(tmp_path / name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.json"))
        assert gone(tmp_path, "--keep", "1") == ["old-pid1-w0.pt.trace.json"]


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="a system without /proc")
def test_what_the_kernel_makes_up_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_sets, "is_surely_trace", lambda path: pytest.fail(str(path)))
    assert captures(Path("/proc/self")) == []


@pytest.mark.parametrize("folder", ["", " "])
def test_a_variable_that_is_not_set_names_no_folder(
    three: Path, folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(three)
    before = names(three)
    assert run(["prune", folder, "--keep", "1", "--yes"]) == 2
    assert names(three) == before
    assert "no folder was named" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [["--max-size", "9" * 400 + "GB"], ["--max-age", "9" * 400 + "d"]])
def test_a_number_that_is_none_is_refused_in_a_line(
    three: Path, limit: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prune", str(three), *limit]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 150


def test_what_was_deleted_is_counted_as_it_was(
    three: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace(three, "latest-pid1-w0", 1, "process-l")
    unlink = Path.unlink

    def refuse(path: Path) -> None:
        if path.name.startswith(("train-pid91", "train-rank0-pid70-w1")):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path)

    monkeypatch.setattr(retention.Path, "unlink", refuse)
    freed = sum((three / n).stat().st_size for n in (*OLDEST, *MIDDLE) if "rank0-pid70-w1" not in n)
    assert run(["prune", str(three), "--keep", "1", "--yes"]) == 5
    out, err = capsys.readouterr()
    # the middle one went, the oldest but for two files, the one of process 91 stayed
    assert out.splitlines()[-1] == f"deleted 1 capture and parts of 1 capture of 4, {data_size(freed)}"
    assert err.count("Permission denied") == 4


@pytest.mark.parametrize("broken", [None, b"", b'{"schema": "traceview.cap', b"[]"])
def test_a_rank_without_a_sidecar_lives_and_dies_with_the_others(
    tmp_path: Path, broken: bytes | None
) -> None:
    trace(tmp_path, "train-rank0-pid10-w0", 30)
    if broken is not None:
        (tmp_path / "train-rank0-pid10-w0.capture.json").write_bytes(broken)
    trace(tmp_path, "train-rank1-pid11-w0", 30.01, "elastic-7")
    trace(tmp_path, "train-rank1-pid11-w1", 5, "elastic-7")
    trace(tmp_path, "other-rank0-pid9-w0", 1, "process-x")
    assert sets(tmp_path) == [
        ["other-rank0-pid9-w0"],
        ["train-rank0-pid10-w0", "train-rank1-pid11-w0", "train-rank1-pid11-w1"],
    ]
    assert gone(tmp_path, "--max-age", "20h") == []
    assert "train-rank0-pid10-w0.pt.trace.json" in gone(tmp_path, "--max-age", "4h")


def test_a_window_without_a_sidecar_joins_its_process_between_two_others(tmp_path: Path) -> None:
    trace(tmp_path, "train-pid10-w0", 30, "process-a")
    trace(tmp_path, "train-pid10-w1", 20)
    trace(tmp_path, "train-pid10-w2", 10, "process-a")
    assert len(captures(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("train-rank0-pid12-w0", 30),  # that rank is there, as another process
        ("train-rank2-pid12-w0", 30.1),  # six minutes before
        ("train-rank2-pid12-w0", 29.9),
        ("eval-rank2-pid12-w0", 30),  # another label
        ("sub/train-rank2-pid12-w0", 30),  # another folder
    ],
)
def test_a_trace_without_a_sidecar_that_no_capture_lacks_stays_alone(
    tmp_path: Path, name: str, hours: float
) -> None:
    for rank in (0, 1):
        trace(tmp_path, f"train-rank{rank}-pid1{rank}-w0", 30, "elastic-7")
    at = tmp_path / name
    trace(at.parent, at.name, hours)
    assert sorted(len(c.files) for c in captures(tmp_path)) == [1, 4]


def test_a_trace_joins_the_nearest_of_two_captures_that_lack_it(tmp_path: Path) -> None:
    trace(tmp_path, "train-rank1-pid11-w0", 30, "elastic-7")
    trace(tmp_path, "train-rank1-pid21-w0", 30.04, "elastic-8")  # 144 seconds before
    trace(tmp_path, "train-rank0-pid20-w0", 30.03)  # 108 and 36 seconds away
    assert sets(tmp_path) == [["train-rank1-pid11-w0"], ["train-rank0-pid20-w0", "train-rank1-pid21-w0"]]


def test_captures_of_one_label_can_be_told_apart_in_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace(tmp_path / "a", "job-pid1-w0", 40, "process-1")
    trace(
        tmp_path / "a", "job-pid1-w0-2", 30, "process-2"
    )  # a container, where each process has the same pid
    trace(tmp_path / "a", "host_0.170", 25)
    for rank in range(3):
        trace(tmp_path / "a", f"job-rank{rank}-pp{rank // 2}-pid{rank + 5}-w4", 20, "elastic-1")
    trace(tmp_path / "a", "job-pid9-w0", 1, "process-3")
    assert run(["prune", str(tmp_path), "--keep", "1"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[:4]] == [
        "a/job-rank0..2-pp0..1-pid5..7-w4", "a/host_0.170", "a/job-pid1-w0-2", "a/job-pid1-w0",
    ]  # fmt: skip


def test_what_holds_a_condemned_capture_back_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        trace(
            tmp_path, f"job-pid{number}-w0", number / 100, f"process-{number}"
        )  # 0, 36, 72 and 108 seconds ago
    assert run(["prune", str(tmp_path), "--keep", "2", "--max-size", "1B"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 capture beyond the limits stays: the newest",
        "3 captures beyond the limits stay: written to within two minutes",
        "would delete 0 captures of 4, 0 B",
    ]


def test_a_prune_that_was_interrupted_anywhere_is_completed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink
    for deleted in range(len(OLDEST) + 1):
        folder = tmp_path / str(deleted)
        for rank in (0, 1):
            for window in (0, 1):
                trace(folder, f"train-rank{rank}-pid{70 + rank}-w{window}", 50 - 10 * window, "elastic-7")
        trace(folder, "train-pid91-w0", 10, "process-cd")
        done: list[str] = []

        def stopped(path: Path, done: list[str] = done, most: int = deleted) -> None:
            if len(done) == most:
                raise KeyboardInterrupt
            done.append(path.name)
            unlink(path)

        with monkeypatch.context() as patch:
            patch.setattr(retention.Path, "unlink", stopped)
            run(["prune", str(folder), "--keep", "1", "--yes"])
        assert len(names(folder)) == len(OLDEST) + 2 - deleted
        for sidecar in folder.glob("*.capture.json"):  # none is left that no trace leads to
            assert sidecar.with_name(sidecar.name.replace(".capture.json", ".pt.trace.json")).exists()
        assert run(["prune", str(folder), "--keep", "1", "--yes"]) == 0
        assert names(folder) == ["train-pid91-w0.capture.json", "train-pid91-w0.pt.trace.json"]
