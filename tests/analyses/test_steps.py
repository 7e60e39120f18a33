"""Annotated steps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, codes, kernel, launch, note, read
from traceview.analyses.steps import outliers, step_of
from traceview.events import Kind


def steps(*kernel_us: float, lost: frozenset[int] = frozenset()) -> list[Event]:
    """Return one step per entry, 1 ms apart, with one kernel of that length; steps in `lost` miss its record."""
    events: list[Event] = []
    for i, us in enumerate(kernel_us):
        ts = 10_000 * i
        events += [note(f"ProfilerStep#{i + 4}", ts, 9_000), launch(ts + 10, 5, i)]
        if i not in lost:
            events.append(kernel("k", ts + 9_500, us, i))  # runs after its step has ended on the host
    return [*events, note("end", 10_000 * len(kernel_us) + 5_000, 1)]


def test_a_step_has_the_kernels_launched_in_it_wherever_they_run() -> None:
    facts = analysed(*steps(20, 22, 24)).facts
    assert facts["step_count"] == 3
    assert facts["step_us"] == [9000, 9000, 9000]
    assert facts["step_kernel_us"] == [20, 22, 24]
    assert facts["kernel_us_per_step"] == 22
    assert facts["outlier_steps"] == []


def test_a_step_over_one_and_a_half_times_the_others_is_an_outlier_and_not_in_the_median() -> None:
    analysis = analysed(*steps(90, 20, 30, 20))
    assert analysis.facts["outlier_steps"] == [0]
    assert analysis.facts["kernel_us_per_step"] == 20
    assert "uneven_steps" in codes(analysis, "info")


def test_exactly_one_and_a_half_times_the_others_is_no_outlier() -> None:
    assert analysed(*steps(30, 20, 20)).facts["outlier_steps"] == []


def test_a_step_whose_launches_lack_records_is_not_complete() -> None:
    facts = analysed(*steps(20, 22, 99, lost=frozenset({2}))).facts
    assert facts["complete_step_count"] == 2
    assert facts["step_kernel_us"] == [20, 22, 0]
    assert facts["kernel_us_per_step"] == 21


def test_launches_of_other_threads_belong_to_the_step_of_their_time() -> None:
    events = [note("ProfilerStep#1", 0, 100), launch(50, 5, 1, tid=9), kernel("k", 200, 7, 1)]
    assert analysed(*events).facts["step_kernel_us"] == [7]


def test_a_launch_between_steps_belongs_to_none() -> None:
    events = [note("ProfilerStep#1", 0, 100), note("ProfilerStep#2", 200, 100)]
    events += [launch(150, 5, 1), kernel("k", 400, 7, 1), launch(210, 5, 2), kernel("k", 420, 9, 2)]
    assert analysed(*events).facts["step_kernel_us"] == [0, 9]


def test_a_launch_belongs_to_the_latest_begun_step_that_still_runs() -> None:
    events = [note("ProfilerStep#1", 0, 100), note("ProfilerStep#2", 10, 20, tid=9)]
    events += [launch(20, 5, 1), kernel("k", 200, 7, 1), launch(50, 5, 2), kernel("k", 300, 9, 2)]
    assert analysed(*events).facts["step_kernel_us"] == [9, 7]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 35), st.integers(0, 1)), min_size=1, max_size=12),
)
def test_steps_hold_what_a_slow_reading_of_the_rule_says(
    steps: list[tuple[int, int, int]], calls: list[tuple[int, int]]
) -> None:
    events = [
        {**note(f"ProfilerStep#{i}", ts, dur, tid=50 + i), "pid": 100 + p}
        for i, (ts, dur, p) in enumerate(steps)
    ]
    events += [{**launch(ts, 1, i), "pid": 100 + p} for i, (ts, p) in enumerate(calls)]
    trace = read(*events)
    s, marked = trace.slices, trace.steps
    scope = [t.scope for t in trace.tracks]
    rows = trace.rows_of(Kind.LAUNCH)
    expected = []
    for row in rows.tolist():
        at, own = int(s.start[row]), scope[s.track[row]]
        holding = [
            i
            for i in range(len(marked))
            if scope[s.track[marked.row[i]]] == own
            and marked.start[i] <= at < marked.start[i] + marked.dur[i]
        ]
        expected.append(max(holding, default=-1))
    assert step_of(trace, marked, rows).tolist() == expected


def test_steps_without_any_device_work_have_no_kernel_time_to_tell() -> None:
    facts = analysed(note("ProfilerStep#1", 0, 100)).facts
    assert (facts["step_count"], facts["step_us"]) == (1, [100])
    assert facts["complete_step_count"] is None
    assert facts["step_kernel_us"] is None
    assert facts["kernel_us_per_step"] is None
    assert facts["outlier_steps"] is None


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=12))
def test_outliers_are_those_of_the_definition(drawn: list[tuple[int, bool]]) -> None:
    values = np.array([v for v, _ in drawn], np.int64)
    complete = np.array([c for _, c in drawn], bool)
    expected = []
    for i in range(len(drawn)):
        others = [values[j] for j in range(len(drawn)) if j != i and complete[j]]
        expected.append(bool(complete[i] and others and values[i] > 1.5 * np.median(others)))
    assert outliers(values, complete).tolist() == expected
