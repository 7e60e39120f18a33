from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.rows import ROWS, Row, cycle
from traceview.capture.schedule import Schedule, plan
from traceview.capture.telling import Voice
from traceview.errors import UsageError

SHARED = Path(__file__).parents[3] / "shared" / "cases" / "capture-schedule.cases.json"


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_a_plan_says_which_iterations_each_trace_holds(row: Row) -> None:
    planned = plan(Schedule(**row.schedule), row.loop, row.steps_per_iter)
    assert [list(t) for t in planned.traces] == row.traces
    assert [list(t) for t in planned.files] == [t for t in row.traces if t]
    assert planned.verdict == row.verdict
    assert bool(planned.warnings) == (row.verdict != "ok")
    assert planned.schedule.least_loop == row.least_loop


@pytest.mark.skipif(not SHARED.is_file(), reason="the shared input is not here")
def test_the_rows_are_the_handed_ones() -> None:
    handed = json.loads(SHARED.read_text(encoding="utf-8"))["rows"]
    keys = ("schedule", "loop", "steps_per_iter", "traces", "min_loop_for_one_full_trace", "verdict")
    assert [[r[k] for k in keys] for r in handed] == [list(r[1:]) for r in ROWS]


def test_a_plan_is_said_window_by_window() -> None:
    planned = plan(Schedule(), 20)
    assert planned.windows() == ["window 0: iterations 7 to 16 (10)"]
    assert planned.verdict == "ok"
    assert planned.notes == ()


def test_of_many_windows_the_first_and_the_last_are_said() -> None:
    planned = plan(Schedule(**cycle(0, 0, 5, 0)), 100)
    assert planned.windows()[0] == "window 0: iterations 0 to 4 (5)"
    assert planned.windows()[4:] == ["... 15 more windows ...", "window 19: iterations 95 to 99 (5)"]


def test_a_short_loop_is_told_how_long_it_must_be() -> None:
    (warning,) = plan(Schedule(**cycle(5, 5, 3, 1)), 8).warnings
    assert warning.startswith("8 steps end before the first window is recorded: it needs 13")


def test_a_window_cut_short_is_told_how_many_steps_fill_it() -> None:
    (warning,) = plan(Schedule(**cycle(1, 1, 4, 1)), 4).warnings
    assert warning == "the last window is cut short: 2 of 4 steps; 6 steps would fill it"


def test_waiting_after_skipped_steps_is_explained() -> None:
    notes = plan(Schedule(**cycle(5, 1, 8, 1, 10)), 30).notes
    assert notes == ("wait comes after skip_first: 10 + 5 + 1 steps pass before step 16 is recorded",)


def test_too_few_steps_for_a_comparison_are_said() -> None:
    (note,) = plan(Schedule(active=3), 20).notes
    assert note.startswith("3 recorded steps leave 2 to compare: too few")


def test_two_steps_an_iteration_halve_the_iterations_of_a_window() -> None:
    # steps 2..5 of wait 1, warm-up 1, active 4; the work of iteration i lies in step 2 i
    assert plan(Schedule(**cycle(1, 1, 4, 1)), 10, 2).traces == ((1, 2),)


def test_recording_from_the_start_needs_no_step() -> None:
    planned = plan(Schedule(**cycle(0, 0, 3, 1)), 4, 0)
    assert planned.files == ((0, 1, 2, 3),)
    assert planned.warnings


@pytest.mark.parametrize(
    ("name", "value"), [("active", 0), ("wait", -1), ("repeat", -1), ("warmup", 1.5)], ids=str
)
def test_numbers_that_are_no_schedule_are_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{name} is {value}"):
        Schedule(**{name: value})  # type: ignore[arg-type]


def test_a_plan_of_a_loop_without_end_is_made_at_once() -> None:
    planned = plan(Schedule(wait=0, warmup=1, active=1, repeat=0), 10**12)
    assert planned.windows()[0] == "window 0: iteration 1"
    assert planned.windows()[-2] == f"... {5 * 10**11 - 5} more windows ..."
    assert planned.windows()[-1] == f"window {5 * 10**11 - 1}: iteration {10**12 - 1}"


@pytest.mark.parametrize("total", [None, 12])
def test_windows_without_a_step_between_are_always_warned_of(
    total: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    def warned(*schedule: int) -> bool:
        Voice("t", quiet=True).plan(Schedule(**cycle(*schedule)), total)
        return "t: warning: windows follow each other without a step between" in capsys.readouterr().err

    assert warned(0, 0, 6, 2)
    assert warned(0, 0, 6, 0)
    assert not warned(0, 0, 6, 1)
    assert not warned(0, 1, 5, 2)


def test_a_loop_that_is_too_short_is_not_told_to_record_more_steps() -> None:
    (note,) = plan(Schedule(), 9).notes
    assert (
        note == "2 recorded steps leave 1 to compare: too few for 'traceview diff', which wants a longer loop"
    )


def test_whole_numbers_may_be_floats() -> None:
    assert Schedule(active=8.0) == Schedule(active=8)  # type: ignore[arg-type]
    for value in ("2", None, float("inf")):
        with pytest.raises(UsageError, match="wait is "):
            Schedule(wait=value)  # type: ignore[arg-type]
