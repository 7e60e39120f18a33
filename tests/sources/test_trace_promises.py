"""What a Trace promises: sorted columns, tracks, kinds, arguments, an account of every event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.trace_text import event, launch, read, rows
from traceview.builder import TraceBuilder
from traceview.events import Flag, Kind, Track


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=40))
def test_rows_are_sorted_by_start_then_longer_first_then_as_in_the_file(spans: list[tuple[int, int]]) -> None:
    trace = read([event(str(i), "cpu_op", t * 3, d * 3) for i, (t, d) in enumerate(spans)])
    got = [(start // 1000, dur // 1000, int(name)) for name, _, start, dur, _ in rows(trace)]
    assert got == sorted(
        ((t * 3, d * 3, i) for i, (t, d) in enumerate(spans)), key=lambda r: (r[0], -r[1], r[2])
    )
    assert int(trace.slices.start.min()) == 0


def test_rounding_on_one_thread_is_not_hidden_by_another_thread() -> None:
    parent, child = event("parent", "cpu_op", 200, 5), event("child", "cpu_op", 200, 5.001)
    other = {**event("other", "cpu_op", 200, 5.001), "tid": 2}
    names = [name for name, *_ in rows(read([parent, other, child]))]
    assert names.index("parent") < names.index("child")


def test_columns_cannot_be_written_to() -> None:
    trace = read([event("a", "cpu_op", 1)])
    with pytest.raises(ValueError, match="read-only"):
        trace.slices.start[0] = 5


def test_arguments_outweigh_pid_and_tid_of_a_device_record() -> None:
    trace = read([{**event("k", "kernel", 1, args={"device": 3, "stream": 20}), "pid": 0, "tid": 7}])
    assert rows(trace)[0][4] == "GPU 3 · stream 20"


def test_a_device_record_without_arguments_uses_pid_and_tid() -> None:
    trace = read(
        [
            {
                "ph": "X",
                "cat": "Kernel",
                "name": "k",
                "pid": 2,
                "tid": "stream 7",
                "ts": 1,
                "dur": 1,
                "args": [],
            }
        ]
    )
    assert rows(trace)[0][4] == "GPU 2 · stream 7"


def test_the_category_decides_what_a_cpu_event_on_pid_0_is() -> None:
    trace = read([{**event("op", "cpu_op", 1), "pid": 0, "tid": 7}, event("k", "kernel", 2)])
    assert [kind for _, kind, *_ in rows(trace)] == ["OP", "KERNEL"]


def test_threads_written_as_number_and_as_text_are_one() -> None:
    trace = read([{**event("a", "cpu_op", 1), "tid": 5}, {**event("b", "cpu_op", 2), "tid": "5"}])
    assert len({track for *_, track in rows(trace)}) == 1


def test_a_record_without_time_keeps_out_of_the_span() -> None:
    trace = read(
        [
            launch(5_000_000, 1),
            event("k", "kernel", 5_000_010, 4, correlation=1),
            event("z", "kernel", 0, 0, correlation=2),
        ]
    )
    assert trace.origin_ns == 5_000_000_000
    assert trace.span_ns == 14_000
    untimed = [trace.name_of(int(r)) for r in np.flatnonzero(trace.slices.flags & Flag.UNTIMED)]
    assert untimed == ["z"]


def test_missing_fields_cost_only_what_cannot_be_timed() -> None:
    trace = read(
        [
            {"ph": "X", "ts": 1, "dur": 1},
            {"ph": "X", "ts": 1},
            {"ph": "X", "dur": 1},
            {"name": "no phase", "ts": 1},
            {},
        ]
    )
    assert [name for name, *_ in rows(trace)] == ["(unnamed)"]
    assert trace.account.events_read == 5
    assert trace.account.ignored == {"no start or no duration": 2, "no phase": 1, "empty object": 1}


def test_odd_types_of_name_pid_and_tid_cost_nothing() -> None:
    odd = {"ph": "X", "name": ["a", 1], "pid": {"p": 1}, "tid": None, "ts": "1.5", "dur": "2", "args": None}
    trace = read([odd, {**odd, "name": 1}, {**odd, "name": "1"}])
    assert [name for name, *_ in rows(trace)] == ["['a', 1]", "1", "1"]
    assert rows(trace)[0][2:4] == (1500, 2000)
    assert len(set(trace.names)) == len(trace.names)


def test_negative_durations_are_left_out_and_said() -> None:
    trace = read([event("a", "kernel", 5, -1), event("b", "kernel", 6, 1)])
    assert [name for name, *_ in rows(trace)] == ["b"]
    assert [(n.code, n.count) for n in trace.notices] == [("negative_duration", 1)]
    assert trace.account.dropped_device_events == 1


def test_shapes_and_ids_are_kept_where_they_occur() -> None:
    op = event("op", "cpu_op", 1, args={"External id": 7, "Input Dims": [[2, 3], []], "Sequence number": 4})
    kernel = event(
        "k",
        "kernel",
        5,
        args={"grid": [8, 1, 1], "registers per thread": 32, "est. achieved occupancy %": 40},
    )
    old = event("m", "gpu_memcpy", 9, args={"bytes": "4096", "grid": "[1, 2, 3]"})
    trace = read([op, kernel, old])
    assert trace.arg("input_dims").text(0) == "[[2,3],[]]"
    assert trace.arg("external_id").lookup(np.array([0, 1]), -1).tolist() == [7, -1]
    assert trace.arg("grid").text(1) == "[8,1,1]"
    assert trace.arg("registers").lookup(np.array([1]), -1).tolist() == [32]
    assert trace.arg("occupancy").lookup(np.array([1]), -1).tolist() == [40.0]
    assert trace.arg("bytes").lookup(np.array([2]), -1).tolist() == [4096]
    assert not len(trace.arg("collective").rows)


def test_steps_are_numbered_by_their_names() -> None:
    trace = read(
        [
            event("ProfilerStep#12", "user_annotation", 10, 5),
            event("ProfilerStep#11", "user_annotation", 1, 5),
        ]
    )
    assert trace.steps.number.tolist() == [11, 12]
    assert trace.steps.dur.tolist() == [5000, 5000]


def test_memory_records_marks_flows_and_counters_have_tables() -> None:
    memory = {
        "ph": "i",
        "name": "[memory]",
        "pid": 9,
        "tid": 1,
        "ts": 3,
        "args": {"Device Type": 1, "Device Id": 0, "Bytes": -512, "Total Allocated": 1024},
    }
    mark = {"ph": "i", "name": "window end", "pid": 9, "tid": 1, "ts": 4}
    flow = {"ph": "s", "id": 2, "cat": "ac2g", "name": "ac2g", "pid": 9, "tid": 1, "ts": 1}
    counter = {"ph": "C", "name": "load", "pid": 9, "ts": 2, "args": {"user": 0.5, "note": "text"}}
    trace = read([event("a", "cpu_op", 1), memory, mark, flow, counter])
    assert trace.memory.bytes.tolist() == [-512]
    assert trace.memory.allocated.tolist() == [1024]
    assert trace.memory.reserved.tolist() == [-1]
    assert trace.memory.time.tolist() == [2000]
    assert [trace.names[n] for n in trace.marks.name] == ["window end"]
    assert trace.flows.id.tolist() == [2]
    assert trace.counters.series.tolist() == ["user"]
    assert trace.counters.value.tolist() == [0.5]
    assert trace.account.used == 5


def test_only_a_white_list_of_metadata_is_stored() -> None:
    secret = "hf_secret_token"
    trace = read(
        [event("a", "cpu_op", 1)],
        env={"TOKEN": secret},
        host_name=secret,
        username=secret,
        metadata={"env": secret},
        traceName=f"/home/{secret}/t.json",
        cuda_runtime_version=12040,
        deviceProperties=[{"id": 0, "name": "GPU", "numSms": 8, "uuid": secret}],
        distributedInfo={"rank": 3, "world_size": 8, "backend": "nccl", "pg_config": [secret]},
        with_stack=1,
    )
    assert secret not in repr(trace.meta) + repr(trace.devices) + repr(trace.tracks)
    assert trace.meta.trace_name == "t.json"
    assert trace.meta.versions == {"CUDA runtime": "12.4"}
    assert (trace.meta.rank, trace.meta.world_size, trace.meta.backend) == (3, 8, "nccl")
    assert trace.meta.switches == {"with_stack": True}
    assert trace.devices[0].properties == {"sm_count": 8}


def test_a_frame_has_a_row_per_slice_and_says_its_kind() -> None:
    frame = read([event("a", "cpu_op", 1, 2), event("k", "kernel", 5, 3)]).events
    assert frame["kind"].tolist() == ["op", "kernel"]
    assert frame["dur"].tolist() == [2000, 3000]


def test_a_trace_shows_itself_in_a_notebook_without_running_markup() -> None:
    html = read([event("a", "cpu_op", 1)], deviceProperties=[{"id": 0, "name": "<script>"}])._repr_html_()
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("dur", -1, "negative"),
        ("name", 5, "name"),
        ("track", 3, "track"),
        ("link", 9, "link"),
        ("category", 2, "category"),
    ],
)
def test_a_builder_refuses_nonsense(column: str, value: int, complaint: str) -> None:
    columns = {
        n: np.zeros(1, np.int64) for n in ("start", "dur", "name", "track", "kind", "category", "flags")
    }
    columns["link"] = np.full(1, -1)
    columns[column] = np.full(1, value)
    with pytest.raises(ValueError, match=complaint):
        TraceBuilder(["a"], [Track("t", "p", "t", False)], [""]).slices(columns)


def test_a_builder_refuses_unequal_columns() -> None:
    columns = {
        n: np.zeros(2 if n == "dur" else 1, np.int64)
        for n in ("start", "dur", "name", "track", "kind", "category", "flags", "link")
    }
    with pytest.raises(ValueError, match="unequal"):
        TraceBuilder(["a"], [Track("t", "p", "t", False)], [""]).slices(columns)


def test_kinds_of_host_calls_are_told_by_name() -> None:
    names = [
        "cudaLaunchKernelExC_v11060",
        "hipModuleLaunchKernel",
        "cuLaunchKernelEx",
        "cudaMemcpyAsync",
        "cudaLaunchHostFunc",
        "urEnqueueKernelLaunch",
    ]
    trace = read([launch(i * 10, None, name=n) for i, n in enumerate(names)])
    kinds = dict(zip((trace.name_of(r) for r in range(len(trace))), trace.slices.kind.tolist(), strict=True))
    assert {n for n, k in kinds.items() if k == Kind.LAUNCH} == {names[0], names[1], names[2], names[5]}
