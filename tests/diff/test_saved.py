"""A saved run as the base of a comparison: what `summary --save` wrote is read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses import making
from tests.diff.runs import run, side
from traceview.analyses import analyze
from traceview.cli import run as command
from traceview.diff.compare import compare
from traceview.diff.saved import is_saved, saved_side
from traceview.errors import InputError
from traceview.report.save import saved_document, saved_text

STEPS = [[("aten::mm", "gemm", 200.0 + i % 3), ("aten::add", "add", 30.0)] for i in range(9)]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(saved_text(saved_document(analyze(making.read(*run(STEPS))))), encoding="ascii")
    return path


def test_a_saved_run_against_its_own_trace_is_zero(saved: Path) -> None:
    found = compare([saved_side(str(saved), "saved")], [side(run(STEPS))])
    assert found.per == "step"
    assert len(found.rows) == 2
    assert all(row.change.delta == 0 for row in found.rows)
    assert {k: j.delta for k, j in found.headlines.items()} == dict.fromkeys(found.headlines, 0)
    assert found.headlines["step_time"].base == 1_000_000


def test_a_saved_run_sees_what_got_slower(saved: Path) -> None:
    slower = [
        [(op, kernel, us * 1.5 if op == "aten::mm" else us) for op, kernel, us in step] for step in STEPS
    ]
    found = compare([saved_side(str(saved), "saved")], [side(run(slower))])
    assert [row.group.label for row in found.claimed] == ["aten::mm"]


def test_only_a_saved_run_is_taken_for_one(saved: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(making.text(*run(STEPS)))
    assert is_saved(str(saved))
    assert not is_saved(str(trace))
    assert not is_saved(str(tmp_path / "none.json"))


@pytest.mark.parametrize("broken", ["rows", "headlines", "totals", "conditions"])
def test_a_damaged_saved_run_is_refused_in_one_line(
    saved: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(saved.read_text(encoding="ascii"))
    saved.write_text(json.dumps({**document, broken: [1, "x"]}), encoding="ascii")
    with pytest.raises(InputError, match="damaged saved run"):
        saved_side(str(saved), "saved")
    assert command(["diff", str(saved), str(saved)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_a_saved_run_of_another_version_is_refused(saved: Path) -> None:
    text = saved.read_text(encoding="ascii").replace("traceview.saved/1", "traceview.saved/9")
    saved.write_text(text, encoding="ascii")
    with pytest.raises(InputError, match="another version"):
        saved_side(str(saved), "saved")


def test_what_a_saved_run_does_not_keep_is_no_other_structure(saved: Path) -> None:
    loader = [
        *run(STEPS),
        making.note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 8990, 5),
    ]
    found = compare(
        [saved_side(str(saved), "saved")], [side([*loader, making.call("cudaDeviceSynchronize", 8995, 2)])]
    )
    assert found.structure == ()
    assert {c.key for c in found.comparability.conditions if not c.alike} == set()
