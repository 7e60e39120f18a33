"""Operators as key_averages() counts them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, call, copy, frame, host, kernel, launch, note, op
from traceview.analyses import Analysis
from traceview.analyses.results import NO_OPERATOR


def rows(analysis: Analysis, *columns: str) -> dict[str, list[float]]:
    table = analysis.operators
    figures = zip(*(getattr(table, c).tolist() for c in columns), strict=True)
    both = zip(table.name.tolist(), figures, strict=True)
    return {
        name: [v / 1000 if c != "calls" else v for v, c in zip(f, columns, strict=True)] for name, f in both
    }


def test_self_time_leaves_out_operators_annotations_and_calls_but_not_python_frames() -> None:
    analysis = analysed(
        op("outer", 100, 100),
        op("inner", 110, 20),
        note("mark", 140, 10),
        launch(160, 5, 1),
        frame("module.py(1): f", 170, 20),
        kernel("k", 300, 7, 1),
    )
    assert rows(analysis, "cpu_self", "cpu_total")["outer"] == [100 - 20 - 10 - 5, 100]


def test_device_time_belongs_to_the_innermost_operator_and_counts_kernels_and_copies() -> None:
    analysis = analysed(
        op("outer", 100, 100),
        op("inner", 110, 50),
        launch(120, 5, 1), kernel("k", 300, 7, 1),
        call("cudaMemcpyAsync", 130, 5, 2), copy(310, 11, 2),
        launch(170, 5, 3), kernel("k", 330, 13, 3),
    )  # fmt: skip
    assert rows(analysis, "device_self", "device_total") == {"inner": [18, 18], "outer": [13, 31]}


def test_what_no_operator_launched_stands_in_a_row_of_its_own_at_the_end() -> None:
    analysis = analysed(op("a", 0, 10), launch(2, 3, 1), kernel("k", 20, 5, 1), kernel("k", 30, 50))
    assert analysis.operators.name.tolist() == ["a", NO_OPERATOR]
    assert rows(analysis, "device_self")[NO_OPERATOR] == [50]


def test_an_annotation_is_no_operator_but_knows_what_was_launched_inside() -> None:
    analysis = analysed(note("block", 0, 100), launch(10, 3, 1), kernel("k", 20, 5, 1))
    found = rows(analysis, "device_self", "device_total")
    assert found == {"block": [0, 5], NO_OPERATOR: [5, 5]}
    assert analysis.facts["op_of_kernel"] is None


def test_an_annotation_between_operator_and_launch_leaves_the_kernel_to_the_operator() -> None:
    analysis = analysed(op("a", 0, 100), note("mark", 5, 50), launch(10, 3, 1), kernel("k", 20, 5, 1))
    assert analysis.facts["op_of_kernel"] == {"k": "a"}
    assert rows(analysis, "device_self", "device_total") == {"a": [5, 5], "mark": [0, 5]}


def test_a_parent_and_child_of_one_name_are_not_added_twice() -> None:
    analysis = analysed(
        op("aten::to", 0, 100), op("aten::to", 10, 80), op("other", 15, 70), op("aten::to", 20, 50),
        launch(30, 5, 1), kernel("k", 200, 9, 1),
    )  # fmt: skip
    assert rows(analysis, "device_self", "device_total", "cpu_total")["aten::to"] == [9, 9, 100]


def test_an_only_child_of_its_parents_name_is_the_same_call() -> None:
    wrapped = analysed(op("aten::to", 0, 100), op("aten::to", 10, 80))
    assert rows(wrapped, "calls", "cpu_self")["aten::to"] == [1, 100]
    two = analysed(op("aten::to", 0, 100), op("aten::to", 10, 30), op("aten::to", 50, 30))
    assert rows(two, "calls", "cpu_self")["aten::to"] == [3, 100]


def test_a_kernel_belongs_to_the_operator_on_the_launching_thread() -> None:
    analysis = analysed(
        op("forward", 0, 100), op("backward", 0, 100, tid=2), launch(10, 5, 1, tid=2), kernel("k", 200, 9, 1)
    )
    assert analysis.facts["op_of_kernel"] == {"k": "backward"}


def test_a_kernel_of_several_operators_names_the_one_with_most_of_its_time() -> None:
    analysis = analysed(
        op("a", 0, 10),
        launch(1, 2, 1),
        kernel("k", 100, 3, 1),
        op("b", 20, 10),
        launch(21, 2, 2),
        kernel("k", 200, 9, 2),
    )
    assert analysis.facts["op_of_kernel"] == {"k": "b"}


def test_profiler_steps_are_one_row() -> None:
    analysis = analysed(note("ProfilerStep#4", 0, 100), note("ProfilerStep#5", 100, 120), op("a", 10, 5))
    assert rows(analysis, "calls", "cpu_total") == {"ProfilerStep*": [2, 220], "a": [1, 5]}


def test_host_slices_of_a_foreign_trace_are_its_operators() -> None:
    analysis = analysed(host("custom", "outer", 0, 100), host("custom", "inner", 10, 20))
    assert rows(analysis, "cpu_self") == {"outer": [80], "inner": [20]}
    assert set(analysis.operators.kind) == {"range"}
    assert analysis.facts["cpu_top_level_us"] == 100


def test_a_child_longer_than_its_parent_by_rounding_leaves_no_negative_self_time() -> None:
    analysis = analysed(
        op("p", 100.0, 10.0), op("c", 100.0, 10.001), launch(102, 1, 1), kernel("k", 200, 4, 1)
    )
    assert rows(analysis, "cpu_self", "device_self", "device_total") == {"c": [9.001, 4, 4], "p": [0, 0, 4]}


def test_top_level_time_is_the_union_of_operators_without_an_operator_above() -> None:
    analysis = analysed(
        note("ProfilerStep#1", 0, 500),
        op("a", 10, 50),
        op("b", 20, 10),
        op("c", 40, 60, tid=2),
        op("d", 200, 5),
    )
    assert analysis.facts["cpu_top_level_us"] == 95  # 10..100 on two threads, and 200..205


calls = st.lists(
    st.tuples(
        st.sampled_from(["op", "note", "launch"]),
        st.integers(0, 2),
        st.integers(0, 200),
        st.integers(1, 90),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=30,
)


@given(calls, st.integers(0, 3))
def test_own_device_times_add_up_to_all_device_work(
    drawn: list[tuple[str, int, int, int, str]], loose: int
) -> None:
    events: list[Event] = [kernel("k", 5000 + 10 * i, 3) for i in range(loose)]
    for i, (what, thread, ts, dur, name) in enumerate(drawn):
        if what == "launch":
            events += [launch(1 + ts, 1, i, tid=thread), kernel("k", 1000 + 20 * i, 1 + i % 7, i)]
        else:
            events.append((op if what == "op" else note)(name, 1 + ts, dur, tid=thread))
    analysis = analysed(*events)
    table = analysis.operators
    assert int(table.device_self.sum()) == int(analysis.kernels.sum.sum())
    assert (table.device_total >= table.device_self).all()
    rounding = 1000 * len(drawn)  # whole microseconds: a child may be one longer than its parent
    assert (table.cpu_total + rounding >= table.cpu_self).all()
    assert (table.cpu_self >= 0).all()
    assert int(table.device_total.max(initial=0)) <= int(analysis.kernels.sum.sum())


def test_ops_of_one_name_that_cross_have_no_more_own_time_than_in_all() -> None:
    crossing = [op("a", 0, 9), op("a", 1, 4), op("a", 2, 5), op("a", 3, 6)]
    table = analysed(*crossing, launch(20, 1, 1), kernel("k", 30, 1, 1)).operators
    (row,) = np.flatnonzero(table.name == "a")
    assert table.cpu_self[row] == 15_000
    assert table.cpu_total[row] == 15_000


@given(calls)
def test_own_host_times_on_a_nested_thread_add_up_to_its_busy_time(
    drawn: list[tuple[str, int, int, int, str]],
) -> None:
    # nest by construction: each slice inside the one before it
    begin, end = 0.0, 1000.0
    events = [op("root", begin, end)]
    for _, _, left, right, name in drawn:
        begin, end = begin + left / 10, end - right / 10
        if end <= begin:
            break
        events.append(op(name, begin, end - begin))
    table = analysed(*events).operators
    assert int(table.cpu_self.sum()) == 1_000_000
