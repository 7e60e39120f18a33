"""Device time is what each profiler's device lanes say, counted once."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

import traceview
from tests.sources.trace_text import SHARED, read, rows
from traceview.sources.dialects import DIALECTS


def lane(pid: int, process: str, tid: int = 0, thread: str = "", label: str = "") -> list[dict[str, Any]]:
    made = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}}]
    if thread:
        made.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}})
    if label:
        made.append({"ph": "M", "name": "process_labels", "pid": pid, "args": {"labels": label}})
    return made


def slice_of(name: str, pid: Any, tid: Any, ts: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": 2, **more}


def kinds(events: list[Any], **metadata: Any) -> dict[str, str]:
    return {name: kind for name, kind, *_ in rows(read(events, **metadata))}


def test_jax_streams_are_device_work_and_derived_lanes_are_not() -> None:
    events = [
        *lane(1, "/device:GPU:0", 13, "Stream #13(Compute)"),
        *lane(1, "/device:GPU:0", 22, "XLA Ops"),
        *lane(7, "/host:CPU", 3, "python"),
        slice_of("fusion", 1, 13, 10, args={"correlation_id": "5"}),
        slice_of("MemcpyH2D", 1, 13, 20),
        slice_of("fusion.1", 1, 22, 10),
        slice_of("cuLaunchKernelEx", 7, 3, 5, args={"correlation_id": "5"}),
        slice_of("PjitFunction(f)", 7, 3, 4),
    ]
    assert kinds(events) == {
        "fusion": "KERNEL",
        "MemcpyH2D": "COPY",
        "fusion.1": "DERIVED",
        "cuLaunchKernelEx": "LAUNCH",
        "PjitFunction(f)": "OTHER",
    }


def test_tensorflow_1_counts_one_of_its_two_views() -> None:
    events = [
        *lane(3, "/job:localhost/replica:0/task:0/device:GPU:0 Compute"),
        *lane(5, "/device:GPU:0/stream:all Compute"),
        *lane(7, "/device:GPU:0/stream:13 Compute"),
        *lane(9, "/device:GPU:0/memcpy Compute"),
        slice_of("dispatch", 3, 0, 1, cat="Op"),
        slice_of("again", 5, 0, 5, cat="Op"),
        slice_of("MatMul", 7, 0, 5, cat="Op"),
        slice_of("MEMCPYHtoD", 9, 0, 9, cat="Op"),
    ]
    assert kinds(events) == {"dispatch": "OP", "again": "DERIVED", "MatMul": "KERNEL", "MEMCPYHtoD": "COPY"}


def test_ascend_hardware_streams_are_device_work_and_waits_are_not() -> None:
    events = [
        *lane(3, "Ascend Hardware", 2, "Stream 2", "NPU"),
        *lane(4, "Overlap Analysis", 0, "Computing", "NPU"),
        *lane(5, "CANN", 1, "Thread 1", "CPU"),
        slice_of("MatMul", 3, 2, 1),
        slice_of("NOTIFY_WAIT", 3, 2, 4),
        slice_of("MEMCPY_ASYNC", 3, 2, 7),
        slice_of("Computing", 4, 0, 1),
        slice_of("aclrtLaunch", 5, 1, 0),
    ]
    assert kinds(events) == {
        "MatMul": "KERNEL",
        "NOTIFY_WAIT": "SYNC_RECORD",
        "MEMCPY_ASYNC": "COPY",
        "Computing": "DERIVED",
        "aclrtLaunch": "RUNTIME",
    }


def test_an_ascend_collective_is_its_whole_slice_and_its_tasks_are_parts_of_it() -> None:
    events = [
        *lane(3, "Ascend Hardware", 2, "Stream 2", "NPU"),
        *lane(3, "Ascend Hardware", 9, "Stream 9", "NPU"),
        *lane(6, "HCCL", 70, "Communication Kernel", "NPU"),
        *lane(6, "HCCL", 0, "Plane 0", "NPU"),
        slice_of("MatMul", 3, 2, 1),
        slice_of("MEMCPY_ASYNC", 3, 2, 4),
        slice_of("NOTIFY_WAIT", 3, 9, 6),
        slice_of("REDUCE_ASYNC_V2", 3, 9, 8),
        slice_of("Default/AllReduce-op5_0", 6, 70, 6),
        slice_of("Notify_Wait", 6, 0, 6),
    ]
    assert kinds(events) == {
        "MatMul": "KERNEL",
        "MEMCPY_ASYNC": "COPY",  # on a stream that notifies nobody: a copy of its own
        "NOTIFY_WAIT": "DERIVED",
        "REDUCE_ASYNC_V2": "DERIVED",
        "Default/AllReduce-op5_0": "KERNEL",
        "Notify_Wait": "DERIVED",
    }


@pytest.mark.skipif(not (SHARED / "traces").exists(), reason="the shared traces are not here")
@pytest.mark.parametrize("rank", [0, 1])
def test_ascend_device_time_is_what_the_traces_own_overlap_analysis_says(rank: int) -> None:
    path = next((SHARED / "traces").glob(f"mindspore*/*device_{rank}__*.json"))
    own: dict[str, int] = {}
    for e in json.loads(path.read_text()):
        if e.get("ph") == "X" and e["name"] in ("Computing", "Communication(Not Overlapped)"):
            own[e["name"]] = own.get(e["name"], 0) + int(Decimal(str(e["dur"])) * 1000)
    time = traceview.analyze(traceview.read_trace(path)).gpu_time
    assert abs(int(time.compute[0]) - own["Computing"]) < 1000
    assert abs(int(time.exposed_collective[0]) - own["Communication(Not Overlapped)"]) < 1000


def test_an_onnx_runtime_node_called_kernel_time_is_host_time() -> None:
    events = [
        slice_of("model_run", 8, 8, 1, cat="Session"),
        slice_of("gemm_kernel_time", 8, 8, 2, cat="Node", args={"op_name": "Gemm"}),
        slice_of("k_gemm", -1, -1, 5, cat="Kernel", args={"stream": "0x55d2c0"}),
    ]
    trace = read(events)
    assert {n: k for n, k, *_ in rows(trace)} == {
        "model_run": "ANNOTATION",
        "gemm_kernel_time": "OP",
        "k_gemm": "KERNEL",
    }
    assert [t.stream for t in trace.tracks if t.is_device] == ["0x55d2c0"]
    assert trace.arg("op_name").text(1) == "Gemm"


def test_the_2021_spellings_of_kineto_are_known() -> None:
    events = [
        slice_of(c, 0, "stream 7", i, cat=c)
        for i, c in enumerate(["Kernel", "Memcpy", "Memset", "Operator", "Runtime"])
    ]
    assert kinds(events) == {
        "Kernel": "KERNEL",
        "Memcpy": "COPY",
        "Memset": "FILL",
        "Operator": "OP",
        "Runtime": "RUNTIME",
    }


def test_marks_on_device_lanes_are_no_work() -> None:
    cats = {
        "gpu_user_annotation": "DEVICE_NOTE",
        "cuda_sync": "SYNC_RECORD",
        "overhead": "OVERHEAD",
        "Trace": "SPAN",
    }
    events = [slice_of(c, 0, 7, i, cat=c) for i, c in enumerate(cats)]
    assert kinds([*events, slice_of("k", 0, 7, 9, cat="kernel")]) == {**cats, "k": "KERNEL"}


def test_any_chrome_trace_is_read_as_host_ranges() -> None:
    assert kinds([slice_of("anything", 1, 1, 0, cat="FEE")]) == {"anything": "OTHER"}


def test_every_dialect_has_a_name_of_its_own() -> None:
    assert len({d.name for d in DIALECTS}) == len(DIALECTS)
    assert DIALECTS[-1].name == "chrome"
