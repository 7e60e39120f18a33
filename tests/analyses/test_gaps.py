"""Idle gaps: one tiny trace per cause, its parts worked out by hand, and all parts against a slow reading of the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import traceview
from tests.analyses.making import (
    Event,
    analysed,
    call,
    copy,
    device,
    fill,
    frame,
    host,
    kernel,
    launch,
    note,
    op,
)
from traceview.analyses import Analysis
from traceview.analyses.gap_parts import CAUSES, LONGEST_FLIGHT_NS, LONGEST_TURNAROUND_NS
from traceview.analyses.gaps import LENGTH_EDGES_NS, Gaps

ROOT = Path(__file__).parents[2]
LABELS = dict(CAUSES)


def parts(table: Gaps, i: int = 0) -> dict[str, float]:
    """Return the parts of a gap that are not empty, in us."""
    return {c: int(getattr(table, c)[i]) / 1000 for c, _ in CAUSES if int(getattr(table, c)[i])}


def before(end: float = 100) -> list[Event]:
    """Return a kernel that ends at this time."""
    return [launch(end - 60, 5, 1), kernel("first", end - 50, 50, 1)]


def after(called: float, starts: float, lasts: float = 5, number: int = 2) -> list[Event]:
    """Return a kernel and its launch."""
    return [launch(called, lasts, number), kernel("second", starts, 10, number)]


def only(*events: Event) -> Gaps:
    table = analysed(*before(), *events).gaps
    assert len(table) == 1
    assert sum(parts(table).values()) * 1000 == table.dur[0]
    return table


# from the opening at 100 to the launch at 150, which returns at 155; the record starts at 160
CASES: dict[str, tuple[list[Event], dict[str, float]]] = {
    "host late": (after(150, 160), {"host_late": 50, "inside_launch": 5, "in_flight": 5}),
    "profiler overhead": (
        [host("overhead", "Activity Buffer Request", 90, 40, tid=0), *after(150, 160)],
        {"profiler_overhead": 30, "host_late": 20, "inside_launch": 5, "in_flight": 5},
    ),
    "loading code, which CUPTI files under overhead": (
        [host("overhead", "Lazy Function Loading", 110, 10, tid=0), *after(150, 160)],
        {"allocation": 10, "host_late": 40, "inside_launch": 5, "in_flight": 5},
    ),
    "a full queue, which CUPTI files under overhead": (
        [host("overhead", "Command Buffer Full", 110, 10, tid=0), *after(150, 160)],
        {"host_late": 50, "inside_launch": 5, "in_flight": 5},
    ),
    "allocation": (
        [call("cudaMalloc", 105, 30), *after(150, 160)],
        {"allocation": 30, "host_late": 20, "inside_launch": 5, "in_flight": 5},
    ),
    "data loading on another thread": (
        [
            note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 80, 60, tid=9),
            *after(150, 160),
        ],
        {"data_loading": 40, "host_late": 10, "inside_launch": 5, "in_flight": 5},
    ),
    "data loading that ends in a short wait": (
        [
            note("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 80, 66),
            call("cudaStreamSynchronize", 146, 4),
            *after(150, 160),
        ],
        {"data_loading": 46, "synchronisation": 4, "inside_launch": 5, "in_flight": 5},
    ),
    "synchronisation": (
        [call("cudaStreamSynchronize", 60, 60), *after(150, 160)],
        {"synchronisation": 20, "host_late": 30, "inside_launch": 5, "in_flight": 5},
    ),
    "a wait known from the device's record alone": (
        [device("cuda_sync", "Context Sync", 60, 60, stream=-1), *after(150, 160)],
        {"synchronisation": 20, "host_late": 30, "inside_launch": 5, "in_flight": 5},
    ),
    "inside the launch call": (after(90, 160, 65), {"inside_launch": 55, "in_flight": 5}),
    "still inside the call when the record starts": (
        after(120, 160, 80),
        {"host_late": 20, "inside_launch": 40},
    ),
    "in flight for exactly the longest time": (
        after(100, 205),
        {"inside_launch": 5, "in_flight": 100},
    ),
    "queued after a late launch": (after(100, 206), {"inside_launch": 5, "queued": 101}),
    "turnaround": (after(50, 108), {"turnaround": 8}),
    "a launch that returns as the gap opens": (after(95, 200), {"turnaround": 100}),
    "queued long before": (after(50, 201), {"queued": 101}),
    "unknown": ([kernel("second", 400, 10)], {"unknown": 300}),
    "a record that starts before its launch": (after(170, 160), {"host_late": 60}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_gap_has_the_parts_that_its_cause_gives_it(name: str) -> None:
    events, expected = CASES[name]
    table = only(*events)
    assert parts(table) == expected
    largest = max(expected.values())
    assert table.cause[0] in {LABELS[c] for c, us in expected.items() if us == largest}


def test_of_several_states_at_one_time_the_first_in_order_counts() -> None:
    events = [
        note("## data_load ##", 100, 40),
        call("cudaMalloc", 110, 10),
        call("cudaDeviceSynchronize", 105, 45),
        host("overhead", "Buffer Flush", 115, 10, tid=0),
    ]
    assert parts(only(*events, *after(150, 160))) == {
        "profiler_overhead": 10,  # 115 to 125
        "allocation": 5,  # 110 to 115
        "data_loading": 25,  # 100 to 110, 125 to 140
        "synchronisation": 10,  # 140 to 150
        "inside_launch": 5,
        "in_flight": 5,
    }


def test_a_blocking_copy_before_the_launch_is_synchronisation_and_the_one_that_ends_the_gap_a_launch() -> (
    None
):
    blocking = [call("cudaMemcpyAsync", 90, 30, 7), copy(80, 15, 7)]  # the copy itself was done at 95
    assert parts(only(*blocking, *after(150, 160))) == {
        "synchronisation": 20,
        "host_late": 30,
        "inside_launch": 5,
        "in_flight": 5,
    }
    ending = [call("cudaMemcpyAsync", 110, 45, 7), copy(160, 15, 7)]
    assert parts(only(*ending)) == {"host_late": 10, "inside_launch": 45, "in_flight": 5}


def test_python_frames_of_a_loader_count_where_no_range_of_one_is_recorded() -> None:
    python = frame("torch/utils/data/dataloader.py(733): __next__", 105, 40)
    assert parts(only(python, *after(150, 160)))["data_loading"] == 40
    ranged = note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 110, 30)
    assert parts(only(python, ranged, *after(150, 160)))["data_loading"] == 30


def test_records_of_one_graph_launch_have_gaps_inside_the_graph() -> None:
    graph = call("cudaGraphLaunch", 0, 20, 5)
    table = analysed(graph, kernel("a", 30, 10, 5), kernel("b", 44, 10, 5), *after(25, 60)).gaps
    assert parts(table, 0) == {"inside_graph": 4}
    assert parts(table, 1) == {"turnaround": 6}


def test_queued_work_names_the_stream_wait_recorded_before_its_launch() -> None:
    wait = device("cuda_sync", "Stream Wait Event", 44, 1, wait_on_stream=20)
    table = only(wait, *after(50, 300))
    assert table.wait.tolist() == ["Stream Wait Event on stream 20"]
    elsewhere = device("cuda_sync", "Stream Wait Event", 44, 1, stream=8)
    assert only(elsewhere, *after(50, 300)).wait.tolist() == [""]
    earlier = device("cuda_sync", "Stream Wait Event", 30, 1)  # it held the work before
    assert only(earlier, *after(50, 300)).wait.tolist() == [""]
    by_call = call("cudaStreamWaitEvent", 47, 1)
    assert only(by_call, *after(50, 300)).wait.tolist() == ["cudaStreamWaitEvent"]


def test_the_stack_is_that_of_the_longest_slice_of_the_largest_host_part() -> None:
    events = [
        note("ProfilerStep#3", 0, 400),
        frame("train.py(3): step", 0, 400),
        frame("model.py(7): bias", 101, 40),
        note("bias", 102, 38),
        op("aten::nonzero", 103, 36),
        call("cudaMalloc", 110, 10),
    ]
    table = only(*events, *after(150, 160))
    assert parts(table)["host_late"] == 40
    assert (table.op[0], table.annotation[0], table.python[0]) == (
        "aten::nonzero",
        "bias",
        "model.py(7): bias",
    )


def test_every_slice_before_the_launch_and_in_its_call_has_a_stack_of_its_own() -> None:
    events = [
        note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 30),
        op("aten::preprocess", 130, 14),
        op("aten::mm", 149, 7),
    ]
    found = analysed(*before(), *events, *after(150, 160)).gap_slices
    assert found.gap.tolist() == [0] * 5
    assert found.cause.tolist() == ["data_loading", *["host_late"] * 3, "inside_launch"]
    begins = [100_000, 130_000, 144_000, 149_000, 150_000]  # times begin at the first launch
    assert (found.start + 40_000).tolist() == begins
    assert found.dur.tolist() == [30_000, 14_000, 5_000, 1_000, 5_000]
    assert found.op.tolist() == ["", "aten::preprocess", "", "aten::mm", "aten::mm"]
    assert found.annotation.tolist() == [
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        *[""] * 4,
    ]


def test_a_long_slice_is_not_charged_to_what_runs_in_its_middle() -> None:
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events = [note(loader, 100, 90), op("aten::contiguous", 140, 10)]  # its middle is at 145
    analysis = analysed(*before(), *events, *after(190, 200))
    charged: dict[tuple[str, str], int] = {}
    slices = analysis.gap_slices
    for op_name, annotation, ns in zip(slices.op, slices.annotation, slices.dur, strict=True):
        charged[op_name, annotation] = charged.get((op_name, annotation), 0) + int(ns)
    assert charged["", loader] == 80_000
    assert charged["aten::contiguous", loader] == 10_000
    assert (analysis.gaps.op[0], analysis.gaps.annotation[0]) == ("", loader)


def test_the_stack_of_data_loading_is_that_of_its_own_thread() -> None:
    events = [note("fetch_batch", 100, 45, tid=9), op("decode", 101, 43, tid=9), op("other", 100, 40)]
    table = only(*events, *after(150, 160))
    assert (table.op[0], table.annotation[0]) == ("decode", "fetch_batch")


def test_a_gap_without_a_host_part_has_no_stack() -> None:
    table = only(op("a", 0, 500), *after(50, 108))
    assert (table.op[0], table.annotation[0], table.python[0]) == ("", "", "")


def test_a_gap_is_between_all_streams_of_a_device_and_names_its_neighbours() -> None:
    events = [kernel("a", 100, 50), kernel("b", 120, 60, stream=8), fill(250, 5, stream=9)]
    table = analysed(*events).gaps
    assert (table.start.tolist(), table.dur.tolist()) == ([80_000], [70_000])
    assert (table.before.tolist(), table.after.tolist()) == (["b"], ["Memset (Device)"])
    assert table.launch.tolist() == [-1]


def test_gaps_of_each_device_are_its_own() -> None:
    events = [kernel("a", 0.5, 10, device=0), kernel("b", 5, 10, device=1), kernel("c", 30, 10, device=1)]
    table = analysed(*events, kernel("d", 60, 5, device=0)).gaps
    assert table.device.tolist() == ["0", "1"]
    assert table.dur.tolist() == [49_500, 15_000]


def test_causes_are_told_inside_and_outside_of_step_windows() -> None:
    events: list[Event] = []
    for i in range(3):
        ts = 1000 * i
        events += [note(f"ProfilerStep#{i}", ts, 900), launch(ts + 10, 5, i), kernel("k", ts + 20, 10, i)]
    table = analysed(kernel("stray", 1, 4), *events, kernel("late", 4000, 5)).gap_causes
    row = table.cause.tolist().index("unknown")
    assert (table.inside_steps[row], table.outside_steps[row]) == (0, 1_970_000)
    late = table.cause.tolist().index("host late")
    assert (table.inside_steps[late], table.outside_steps[late]) == (2 * 980_000, 5_000)
    assert table.total.sum() == 1_970_000 + 2 * 990_000 + 15_000
    assert table.share.sum() == pytest.approx(1)


def test_lengths_of_gaps_are_counted_in_classes() -> None:
    table = analysed(kernel("a", 100, 10), kernel("b", 112, 10), kernel("c", 1122, 10)).gap_lengths
    assert len(table) == len(LENGTH_EDGES_NS)
    some = {
        int(s): (int(n), int(t)) for s, n, t in zip(table.shortest, table.gaps, table.total, strict=True) if n
    }
    assert some == {1000: (1, 2000), 1_000_000: (1, 1_000_000)}


def test_a_trace_without_a_device_has_no_gaps_and_all_causes_are_zero() -> None:
    analysis = analysed(op("a", 0, 10))
    assert len(analysis.gaps) == 0
    assert analysis.gap_causes.total.tolist() == [0] * len(CAUSES)


def test_records_without_length_at_the_ends_leave_no_idle_time_out() -> None:
    analysis = analysed(kernel("a", 100, 0.001), kernel("z", 50, 0, 3), launch(10, 1, 3), kernel("e", 300, 0))
    assert analysis.gaps.dur.sum() == analysis.gpu_time.idle.sum()


def test_the_causes_of_the_demo_are_those_that_its_generator_put_in() -> None:
    truth = json.loads((ROOT / "tests/samples/gpu_shaped.truth.json").read_text(encoding="utf-8"))
    trace = traceview.read_trace(ROOT / "sample_traces/demo/gpu-training-synthetic.json.gz")
    table = traceview.analyze(trace).gaps
    assert len(table) == truth["hole_count"]
    for i, hole in enumerate(truth["holes"]):
        found = {LABELS[c]: round(us * 1000) for c, us in parts(table, i).items()}
        assert found == hole["parts_ns"]
        assert round((int(table.start[i]) + trace.origin_ns) / 1000, 3) == hole["start_us"]
        assert (table.dur[i], table.before[i], table.after[i]) == (
            hole["length_ns"],
            hole["before"],
            hole["after"],
        )
        if hole["cause"] == "stream wait":
            assert str(table.wait[i]).startswith("Stream Wait Event")


STATES = {
    "profiler_overhead": lambda ts, dur: host("overhead", "Buffer Flush", ts, dur, tid=0),
    "allocation": lambda ts, dur: call("cudaFree", ts, dur, tid=11),
    "data_loading": lambda ts, dur: note("load_batch", ts, dur, tid=12),
    "synchronisation": lambda ts, dur: call("cudaStreamSynchronize", ts, dur, tid=13),
}
spans = st.lists(
    st.tuples(st.sampled_from(sorted(STATES)), st.integers(0, 600), st.integers(0, 90)), max_size=8
)
work = st.lists(
    st.tuples(
        st.integers(0, 500), st.integers(0, 60), st.integers(-20, 160), st.integers(0, 40), st.booleans()
    ),
    min_size=2,
    max_size=8,
)


def slow_parts(
    opening: int, closing: int, called: tuple[int, int] | None, busy: list[tuple[str, int, int]]
) -> Any:
    """Read the rules once more, a microsecond at a time; returns us by cause."""
    found: dict[str, int] = {}

    def add(cause: str, us: int) -> None:
        if us:
            found[cause] = found.get(cause, 0) + us

    if called is None:
        add("unknown", closing - opening)
        return found
    start, end = called
    if end <= opening:
        add(
            "turnaround" if closing - opening <= LONGEST_TURNAROUND_NS // 1000 else "queued",
            closing - opening,
        )
        return found
    for t in range(opening, closing):
        if t < start:
            active = {state for state, s, e in busy if s <= t < e}
            add(next((state for state in STATES if state in active), "host_late"), 1)
        elif t < end:
            add("inside_launch", 1)
    waited = closing - min(max(end, opening), closing) if start < closing else 0
    add("in_flight" if waited <= LONGEST_FLIGHT_NS // 1000 else "queued", waited)
    return found


@settings(deadline=None)
@given(work, spans)
def test_parts_are_those_of_a_slow_reading_of_the_rules(
    drawn: list[tuple[int, int, int, int, bool]], states: list[tuple[str, int, int]]
) -> None:
    shift = 100
    events = [STATES[state](ts + shift, dur) for state, ts, dur in states]
    busy = [(state, ts + shift, ts + shift + dur) for state, ts, dur in states]
    calls: dict[int, tuple[int, int] | None] = {}
    for i, (start, dur, lead, lasts, linked) in enumerate(drawn):
        begin = start + shift
        if begin in calls:  # which of two that start together counts is another test's matter
            continue
        called = (max(begin - lead, 0), max(begin - lead, 0) + lasts)
        calls[begin] = called if linked else None
        events.append(kernel("k", begin, dur + 1, i if linked else None, stream=i))
        if linked:
            events.append(launch(called[0], lasts, i, tid=20 + i))
    analysis = analysed(*events)
    table = analysis.gaps
    assert table.dur.sum() == analysis.gpu_time.idle.sum()
    origin = analysis.trace.origin_ns
    for i in range(len(table)):
        opening = (int(table.start[i]) + origin) // 1000
        closing = opening + int(table.dur[i]) // 1000
        assert parts(table, i) == slow_parts(opening, closing, calls[closing], busy)


@given(work)
def test_the_parts_of_all_gaps_add_up_to_the_idle_time(drawn: list[tuple[int, int, int, int, bool]]) -> None:
    events: list[Event] = []
    for i, (start, dur, lead, lasts, linked) in enumerate(drawn):
        begin = 1000 + start * 1.001
        events.append(kernel("k", begin, dur / 7, i if linked else None, device=i % 2, stream=i % 3))
        events.append(launch(begin - lead * 0.999, lasts / 3, i))
    analysis = analysed(*events)
    check_sums(analysis)


def check_sums(analysis: Analysis) -> None:
    table = analysis.gaps
    added = np.sum([getattr(table, c) for c, _ in CAUSES], axis=0)
    assert (added == table.dur).all()
    idle = dict.fromkeys(analysis.gpu_time.device.tolist(), 0)
    for name, dur in zip(table.device.tolist(), table.dur.tolist(), strict=True):
        idle[name] += dur
    assert list(idle.values()) == analysis.gpu_time.idle.tolist()
