"""Chosen steps: which are meant, and what is left of a trace cut down to them."""

from __future__ import annotations

import pytest

from tests.analyses.making import Event, call, copy, frame, kernel, launch, note, op, read
from traceview.analyses import Analysis, Choice, analyze
from traceview.errors import UsageError
from traceview.report import ReportOptions, build_report
from traceview.report.export import summary_document, summary_text


def events(count: int = 5) -> list[Event]:
    """Return steps 10, 11, … of 100 us, each with one op, one launch and a kernel 300 us later."""
    made: list[Event] = [frame("train.py(1): main", 0, 1000)]
    for i in range(count):
        ts = 100 * i
        made += [
            note(f"ProfilerStep#{10 + i}", ts, 95),
            op("aten::mm", ts + 10, 20, **{"Input Dims": [[i, i]]}),
        ]
        made += [launch(ts + 15, 5, i), kernel(f"k{i}", ts + 300, 40, i)]
    return [*made, kernel("stray", 545, 10), call("cudaDeviceSynchronize", 900, 9)]


def chosen(steps: str | None = None, skip: int = 0, name: str | None = None, *more: Event) -> Analysis:
    analysis = analyze(read(*events(), *more), choice=Choice.parsed(steps, skip, name))
    assert analysis.selected is not None
    return analysis


@pytest.mark.parametrize(
    ("steps", "numbers"),
    [
        ("11:12", [11, 12]),
        ("13:", [13, 14]),
        (":11", [10, 11]),
        ("12", [12]),
        ("9:10", [10]),
        (None, [12, 13, 14]),
    ],
)
def test_steps_are_chosen_by_their_numbers_both_ends_included(steps: str | None, numbers: list[int]) -> None:
    selected = chosen(steps, 0 if steps else 2).selected
    assert selected is not None
    assert selected.step_windows.number.tolist() == numbers
    assert selected.facts["step_count"] == len(numbers)


def test_the_facts_stay_those_of_the_whole_file() -> None:
    plain, analysis = analyze(read(*events())), chosen("11:12")
    assert analysis.facts == plain.facts
    assert analysis.step_time.median_ns == plain.step_time.median_ns


def test_work_belongs_to_the_chosen_steps_by_its_launch_and_without_one_by_their_windows() -> None:
    selected = chosen("11:12").selected
    assert selected is not None
    assert selected.kernels.name.tolist() == ["k1", "k2", "stray"]
    assert selected.facts["kernels_linked"] == 2
    assert selected.operators.calls.sum() >= 2
    assert chosen("13:").selected.kernels.name.tolist() == ["k3", "k4"]  # type: ignore[union-attr]


def test_what_began_before_the_chosen_steps_is_left_out() -> None:
    selected = chosen("11:12").selected
    assert selected is not None
    names = {selected.trace.name_of(row) for row in range(len(selected.trace))}
    assert "train.py(1): main" not in names
    assert "cudaDeviceSynchronize" not in names
    assert {"ProfilerStep#11", "ProfilerStep#12"} <= names


def test_arguments_stay_with_their_rows() -> None:
    selected = chosen("11:12").selected
    assert selected is not None
    arg = selected.trace.arg("input_dims")
    assert [selected.trace.name_of(row) for row in arg.rows.tolist()] == ["aten::mm"] * 2
    assert [arg.text(row) for row in arg.rows.tolist()] == ["[[1,1]]", "[[2,2]]"]


def test_a_chosen_step_keeps_the_period_that_the_next_step_closes() -> None:
    selected = chosen("11:12").selected
    assert selected is not None
    assert selected.step_windows.period.tolist() == [100_000, 100_000]
    assert selected.step_time.basis == "device period"


def test_steps_can_be_marked_by_any_slice_of_the_host() -> None:
    selected = chosen(None, 0, "^aten::mm$").selected
    assert selected is not None
    assert selected.step_windows.number.tolist() == [0, 1, 2, 3, 4]
    assert len(selected.kernels) == 6  # nothing is cut where all steps are meant
    part = chosen("1:2", 0, "^aten::mm$").selected
    assert part is not None
    assert part.kernels.name.tolist() == ["k1", "k2", "stray"]


def test_ranks_are_cut_each_to_its_own_steps() -> None:
    merged: list[Event] = []
    for rank in (0, 1):
        for e in events():
            on_host = e["cat"] != "kernel"
            merged.append(
                {**e, "pid": f"rank{rank} 41" if on_host else f"rank{rank} GPU 0", "ts": e["ts"] + 7 * rank}
            )
    selected = analyze(read(*merged), choice=Choice(11, 12)).selected
    assert selected is not None
    assert selected.step_windows.number.tolist() == [11, 11, 12, 12]
    assert selected.kernels.calls.tolist() == [2, 2, 2]


def test_the_choice_is_said_and_answers_under_selected() -> None:
    analysis = chosen("11:12")
    document = summary_document(analysis)
    assert document["selected"]["chosen"] == "steps 11 to 12 (2 of 5)"
    assert document["selected"]["facts"]["step_count"] == 2
    assert document["facts"]["step_count"] == 5
    assert "steps 11 to 12 (2 of 5)" in summary_text(analysis).splitlines()[0]
    assert build_report(analysis).title.endswith("steps 11 to 12 (2 of 5)")
    assert build_report(analysis, ReportOptions(title="mine")).title == "mine"
    assert "selected" not in summary_document(analyze(read(*events())))


@pytest.mark.parametrize(
    ("steps", "skip", "name", "said"),
    [
        ("x", 0, None, "no range"),
        ("8:9", 0, None, "no step is chosen"),
        ("3:2", 0, None, "ends before"),
        ("99:", 0, None, "numbered 10 to 14"),
        (None, 5, None, "no step is chosen"),
        (None, 0, "(", "regular expression"),
        (None, 0, "nowhere", "no slice"),
    ],
)
def test_a_choice_without_steps_is_refused(steps: str | None, skip: int, name: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen(steps, skip, name)


def test_a_trace_without_steps_says_how_to_mark_them() -> None:
    with pytest.raises(UsageError, match="--step-name is an empty text"):
        Choice.parsed(None, 0, "")
    with pytest.raises(UsageError, match="'' is no range of steps"):
        Choice.parsed("")
    with pytest.raises(UsageError, match="--step-name"):
        analyze(read(launch(0, 5, 1), kernel("k", 9, 5, 1), copy(20, 5)), choice=Choice(1, 2))
    assert Choice.parsed(None) is None
