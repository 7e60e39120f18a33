"""The processes that read stretches of a big file: started early, taken once, never left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

import traceview
from tests.analyses import making
from traceview import crew
from traceview.cli import run

EVENTS = [
    event
    for i in range(4000)
    for event in (making.launch(5 + 20 * i, 3, i), making.kernel(f"gemm_{i % 7}", 10 + 20 * i, 10, i))
]


@pytest.fixture
def big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that counts as a big one, on a machine of two cores."""
    monkeypatch.setitem(crew.WORTH_IT, "plain", 1)
    monkeypatch.setattr(crew.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    path = tmp_path / "big.json"
    path.write_bytes(making.text(*EVENTS))
    return path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[crew.Crew]:
    """Return all crews that get started."""
    all_of: list[crew.Crew] = []
    start = crew.start

    def watched(path: Path, parts: int, longer: float) -> crew.Crew:
        all_of.append(start(path, parts, longer))
        return all_of[-1]

    monkeypatch.setattr(crew, "start", watched)
    return all_of


def left(crews: list[crew.Crew]) -> int:
    return sum(child.returncode is None for one in crews for child in one.children)


def test_a_crew_started_ahead_is_the_one_that_reads(big: Path, started: list[crew.Crew]) -> None:
    crew.start_ahead(str(big))
    together = traceview.read_trace(big)
    assert len(started) == 1
    assert left(started) == 0
    alone = traceview.read_trace(big, parts=1)
    assert together.slices.start.tolist() == alone.slices.start.tolist()
    assert together.account == alone.account


def test_a_command_starts_one_crew_and_leaves_none(
    big: Path, started: list[crew.Crew], tmp_path: Path
) -> None:
    assert run(["report", str(big), "-o", str(tmp_path / "page.html")]) == 0
    assert len(started) == 1
    assert left(started) == 0


def test_a_crew_that_nobody_asks_for_is_sent_home(big: Path, started: list[crew.Crew]) -> None:
    assert run(["report", str(big), "-o", str(big)]) == 2  # refused before it is read
    assert len(started) == 1
    assert left(started) == 0


def test_another_number_of_parts_gets_another_crew(big: Path, started: list[crew.Crew]) -> None:
    crew.start_ahead(str(big))
    traceview.read_trace(big, parts=3)
    assert [len(one.children) for one in started] == [1, 2]
    assert left(started) == 0


@pytest.mark.parametrize("name", ["", "-", "missing.json", "a\0b", "."])
def test_what_is_no_big_file_gets_no_crew(name: str, started: list[crew.Crew]) -> None:
    crew.start_ahead(name)
    crew.start_ahead(None)
    assert not started
