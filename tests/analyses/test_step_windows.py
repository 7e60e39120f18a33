"""Steps on the device: windows, their partition, and which of them count."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, call, copy, device, kernel, launch, note, op, read
from traceview.analyses import Choice, analyze
from traceview.analyses.windows import named_rows, steps_from
from traceview.events import Kind
from traceview.report.save import saved_document

PARTS = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")


def steps(*starts: float, lag: float = 500, long: float = 40) -> list[Event]:
    """Return steps of 90 us that begin at these times, each with two kernels that run `lag` later."""
    events: list[Event] = []
    for i, ts in enumerate(starts):
        events += [note(f"ProfilerStep#{i + 3}", ts, 90)]
        for j in range(2):
            events += [launch(ts + 10 + 20 * j, 5, 10 * i + j)]
            events += [kernel("k", ts + lag + (long + 5) * j, long, 10 * i + j)]
    return events


def test_a_window_runs_from_the_first_record_to_that_of_the_next_step_and_the_last_is_open() -> None:
    table = analysed(*steps(0, 100, 210)).step_windows
    assert table.number.tolist() == [3, 4, 5]
    assert table.window_start.tolist() == [500_000, 600_000, 710_000]
    assert table.window_end.tolist() == [600_000, 710_000, 795_000]
    assert table.period.tolist() == [100_000, 110_000, -1]
    assert table.open_end.tolist() == [False, False, True]
    assert table.sample.tolist() == [True, True, False]
    assert table.idle.tolist() == [20_000, 30_000, 5_000]


def test_the_device_period_is_the_step_time_where_there_are_two() -> None:
    time = analysed(*steps(0, 100, 210)).step_time
    assert (time.basis, time.count, time.median_ns) == ("device period", 2, 105_000)
    assert (time.wall_median_ns, time.period_median_ns, time.differs) == (90_000, 105_000, True)
    assert time.spread_ns == 5_000
    assert time.outside_share == 0


def test_with_one_period_the_step_time_is_wall_time_on_the_host() -> None:
    time = analysed(*steps(0, 100)).step_time
    assert (time.basis, time.count, time.median_ns, time.differs) == ("host wall", 2, 90_000, False)


def test_a_prefetch_copy_on_a_side_stream_does_not_set_the_window() -> None:
    early = [call("cudaMemcpyAsync", 105, 2, 77), copy(300, 10, 77, stream=20)]
    table = analysed(*steps(0, 100, 200), *early).step_windows
    assert table.window_start.tolist() == [500_000, 600_000, 700_000]
    assert table.outside.tolist() == [0, 10_000, 0]
    assert table.work.tolist() == [80_000, 90_000, 80_000]


def test_a_collective_that_waits_long_does_not_make_its_stream_the_main_one() -> None:
    waiting = [launch(120, 2, 88), kernel("ncclDevKernel_AllReduce", 520, 900, 88, stream=20)]
    assert analysed(*steps(0, 100, 200), *waiting).step_windows.window_start.tolist()[1] == 600_000


def test_a_step_over_one_and_a_half_times_the_others_is_kept_out_of_the_median_but_not_of_the_p95() -> None:
    analysis = analysed(*steps(0, 300, 400, 500, 600))
    assert analysis.step_windows.outlier.tolist() == [True, False, False, False, False]
    assert analysis.step_time.samples.tolist() == [100_000] * 3
    assert analysis.step_time.p95_ns == 270_000


def test_a_step_without_its_records_is_incomplete_and_its_neighbours_period_is_no_sample() -> None:
    events = [e for e in steps(0, 100, 200, 300, 400) if not (e["cat"] == "kernel" and e["ts"] in (600, 645))]
    table = analysed(*events).step_windows
    assert table.complete.tolist() == [True, False, True, True, True]
    assert table.window_start.tolist() == [500_000, -1, 700_000, 800_000, 900_000]
    assert table.period.tolist() == [200_000, -1, 100_000, 100_000, -1]
    assert table.sample.tolist() == [False, False, True, True, False]


def without(events: list[Event], *starts: float) -> list[Event]:
    """Return events without the kernels that start then."""
    return [e for e in events if not (e["cat"] == "kernel" and e["ts"] in starts)]


def test_the_open_end_is_no_sample_also_where_a_step_without_records_lies_before_it() -> None:
    # the second step's window, 600 to 800, holds the time of the third: one period is left, which makes no step time
    analysis = analysed(*without(steps(0, 100, 200, 300), 700, 745))
    table, time = analysis.step_windows, analysis.step_time
    assert table.period.tolist() == [100_000, 200_000, -1, -1]
    assert table.open_end.tolist() == [False, False, False, True]
    assert table.sample.tolist() == [True, False, False, False]
    assert (time.basis, time.count, time.median_ns) == ("host wall", 3, 90_000)
    assert saved_document(analysis)["headlines"]["step"] == [3]


def test_the_open_end_is_no_sample_also_where_it_is_followed_by_steps_without_records() -> None:
    table = analysed(*without(steps(0, 100, 200), 700, 745)).step_windows
    assert table.open_end.tolist() == [False, True, False]
    assert table.sample.tolist() == [True, False, False]


def test_a_period_that_holds_the_time_of_a_step_without_records_is_in_no_percentile() -> None:
    time = analysed(*without(steps(0, 100, 200, 300, 400), 600, 645)).step_time
    assert (time.basis, time.count, time.median_ns, time.p95_ns) == ("device period", 2, 100_000, 100_000)


def test_of_two_steps_none_is_an_outlier_and_of_three_one_is() -> None:
    two = analysed(*steps(0, 100, 400))
    assert two.step_windows.period.tolist() == [100_000, 300_000, -1]
    assert two.step_windows.outlier.tolist() == [False] * 3
    assert (two.step_time.count, two.step_time.median_ns) == (2, 200_000)
    three = analysed(*steps(0, 100, 400, 500))
    assert three.step_windows.outlier.tolist() == [False, True, False, False]
    assert (three.step_time.count, three.step_time.median_ns) == (2, 100_000)


def test_an_outlier_chosen_alone_has_a_step_time() -> None:
    selected = analyze(read(*steps(0, 100, 400, 500, 600)), choice=Choice(4, 4)).selected
    assert selected is not None
    assert selected.step_windows.outlier.tolist() == [True]
    assert (selected.step_time.basis, selected.step_time.median_ns) == ("host wall", 90_000)


def test_records_without_length_set_no_window() -> None:
    early = [launch(105, 2, 77), kernel("empty", 590, 0, 77)]
    assert analysed(*steps(0, 100, 200), *early).step_windows.window_start.tolist()[1] == 600_000


def test_steps_of_a_host_trace_have_wall_time_only() -> None:
    steps = note("ProfilerStep#1", 0, 100), op("a", 5, 50), note("ProfilerStep#2", 200, 120), op("a", 205, 50)
    analysis = analysed(*steps)
    assert analysis.step_time.basis == "host wall"
    assert analysis.step_time.median_ns == 110_000
    assert analysis.step_windows.period.tolist() == [-1, -1]
    assert analysis.step_time.outside_share is None


def test_a_trace_without_steps_has_no_step_time() -> None:
    analysis = analysed(launch(0, 5, 1), kernel("k", 10, 5, 1))
    assert len(analysis.step_windows) == 0
    assert analysis.step_time.basis is None
    assert analysis.step_time.median_ns is None


def test_each_rank_of_a_merged_file_has_windows_of_its_own() -> None:
    events: list[Event] = []
    for rank in (0, 1):
        for e in steps(0, 100, 200, lag=500 + 7 * rank):
            on_host = e["cat"] != "kernel"
            events.append({**e, "pid": f"rank{rank} 41" if on_host else f"rank{rank} GPU 0"})
    table = analysed(*events).step_windows
    assert table.device.tolist() == ["rank0/0", "rank1/0"] * 3
    assert sorted(table.period.tolist()) == [-1, -1, *[100_000] * 4]


@pytest.mark.parametrize(
    "names", [("step[DECODE bs=32]", "step[DECODE bs=32]"), ("Iteration 4", "Iteration 5")]
)
def test_well_known_annotations_mark_steps_where_the_profiler_does_not(names: tuple[str, str]) -> None:
    events = [note(n, 100 * i, 90) for i, n in enumerate(names)]
    analysis = analysed(*events, note("forward", 10, 20), note("forward", 110, 20))
    assert analysis.step_windows.name.tolist() == list(names)
    assert analysis.facts["step_count"] == 0


def test_one_step_annotation_alone_marks_no_steps_nor_do_two_inside_each_other() -> None:
    assert len(analysed(note("step[DECODE bs=32]", 0, 90)).step_windows) == 0
    nested = [note("step[DECODE bs=32]", 0, 90), note("execute_32_context_0", 10, 70)]
    assert len(analysed(*nested).step_windows) == 0


def test_chosen_steps_are_numbered_by_their_names_or_in_order_and_do_not_nest() -> None:
    trace = read(op("batch 7", 0, 50), op("batch 8", 10, 20), op("batch 9", 60, 20))
    found = steps_from(trace, named_rows(trace, trace.rows_of(Kind.OP), re.compile("batch")))
    assert (found.number.tolist(), found.start.tolist()) == ([7, 9], [0, 60_000])
    same = read(op("b", 0, 50), op("b", 60, 20))
    assert steps_from(same, np.arange(2)).number.tolist() == [0, 1]


work = st.tuples(st.sampled_from(["k", "ncclKernel", "copy", "fill"]), st.integers(0, 60), st.integers(7, 8))


@given(st.lists(st.lists(work, min_size=1, max_size=6), min_size=1, max_size=6), st.integers(0, 300))
def test_windows_tile_and_their_parts_add_up(drawn: list[list[tuple[str, int, int]]], lag: int) -> None:
    events: list[Event] = []
    free = {7: 0, 8: 0}
    for i, records in enumerate(drawn):
        events.append(note(f"ProfilerStep#{i}", 100 * i, 99))
        for j, (kind, dur, stream) in enumerate(records):
            number = 10 * i + j
            free[stream] = start = max(free[stream], 100 * i + lag + 3 * j)
            free[stream] += dur
            cat = {"copy": "gpu_memcpy", "fill": "gpu_memset"}.get(kind, "kernel")
            events.append(launch(100 * i + 2 * j, 1, number))
            events.append(device(cat, kind, start, dur, number, stream=stream))
    table = analysed(*events).step_windows
    placed = np.flatnonzero(table.window_start >= 0)
    assert (table.window_end[placed[:-1]] == table.window_start[placed[1:]]).all()
    whole = table.window_end - table.window_start
    added = sum(getattr(table, p) for p in PARTS)
    assert (added[placed] == whole[placed]).all()
    assert all((getattr(table, p) >= 0).all() for p in PARTS)
    assert table.open_end.sum() == min(len(placed), 1)
    assert ((table.outside >= 0) & (table.outside <= table.work)).all()


def test_steps_that_a_device_runs_in_reverse_order_have_no_periods() -> None:
    events = [
        event
        for i, at in enumerate((900, 700, 500))
        for event in (
            note(f"ProfilerStep#{i}", 100 * i, 90),
            launch(100 * i + 10, 5, i),
            kernel("k", at, 40, i),
        )
    ]
    time = analysed(*events).step_time
    assert (time.basis, time.median_ns) == ("host wall", 90_000)


def host_steps(*lengths: float, last: float) -> list[Event]:
    """Return steps of a loop without a device, and what PyTorch begins behind the last one."""
    events, at = [], 0.0
    for number, long in enumerate((*lengths, last)):
        events.append(note(f"ProfilerStep#{number}", at, long))
        if number < len(lengths):
            events.append(op("aten::mm", at + 1, long - 2))
        at += long + 1
    return events


def test_an_end_without_anything_in_it_is_no_step() -> None:
    found = analysed(*host_steps(100, 110, 120, last=3))
    assert found.step_windows.complete.tolist() == [True, True, True, False]
    assert (found.step_time.count, found.step_time.median_ns) == (3, 110_000)


def test_a_last_step_with_work_in_it_is_one_and_so_are_steps_that_are_all_empty() -> None:
    work = [op("aten::add", 334, 1)]
    assert analysed(*host_steps(100, 110, 120, last=3), *work).step_time.count == 4
    empty = [note(f"ProfilerStep#{n}", 100 * n, 90) for n in range(4)]
    assert analysed(*empty).step_time.count == 4
