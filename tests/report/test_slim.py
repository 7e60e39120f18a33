"""The slim trace: read again it says the same; viewers find what they need in it, and nobody anything else."""

from __future__ import annotations

import gzip
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import making
from tests.analyses.making import call, frame, kernel, launch, note, op
from traceview.analyses import Choice, analyze
from traceview.errors import UsageError
from traceview.events import DEVICE_WORK, Kind, Trace
from traceview.report.excerpt import Window, rows_of_steps, rows_of_window
from traceview.report.slim import Slim, microseconds, write_slim
from traceview.sources import read_blocks, read_trace

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "traces"
SAMPLE = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
SAME = (
    *("kernel_count", "kernel_sum_us", "kernels", "memcpy_count", "memcpy_sum_us", "memset_count"),
    *("gpu_busy_us_by_device", "gpu_span_us", "launch_calls", "launch_cpu_us", "kernels_linked", "links"),
    *("kernels_unlinked", "launches_without_gpu", "graph_launches", "kernels_per_graph_launch"),
    *("op_of_kernel", "op_self_gpu_us", "step_count", "step_us", "step_kernel_us", "untimed_kernels"),
    *("deduplicated_kernel_count", "negative_latency_count"),
)


def all_rows(trace: Trace) -> np.ndarray:
    return np.flatnonzero(trace.slices.kind != Kind.DERIVED)


def text_of(trace: Trace, rows: np.ndarray | None = None) -> bytes:
    return b"".join(Slim(trace, all_rows(trace) if rows is None else rows).blocks())


def read_again(trace: Trace, rows: np.ndarray | None = None) -> Trace:
    return read_blocks([text_of(trace, rows)], "slim.json")


def same(one: Trace, other: Trace) -> list[str]:
    first, second = analyze(one).facts, analyze(other).facts
    return [key for key in SAME if first[key] != second[key]]


def events(trace: Trace, phase: str) -> list[dict[str, Any]]:
    return [e for e in json.loads(text_of(trace))["traceEvents"] if e["ph"] == phase]


def described(trace: Trace, rows: np.ndarray | None = None) -> list[tuple[Any, ...]]:
    """Return slices as what they are, whatever their rows: of one start, those of several tracks may change places."""
    s = trace.slices

    def one(row: int) -> tuple[Any, ...]:
        track = trace.tracks[int(s.track[row])].label
        return (int(s.start[row]) + trace.origin_ns, int(s.dur[row]), trace.name_of(row), track)

    chosen = range(len(trace)) if rows is None else rows.tolist()
    return sorted(
        (*one(i), int(s.kind[i]), int(s.flags[i]), one(int(s.link[i])) if s.link[i] >= 0 else ())
        for i in chosen
    )


Drawn = list[tuple[int, int, int, int]]
DRAWN = st.lists(
    st.tuples(st.integers(0, 90), st.integers(0, 9), st.integers(0, 40), st.integers(0, 2)), max_size=12
)


def drawn_trace(drawn: Drawn) -> Trace:
    """Make launches (start, duration) whose kernels follow after a delay; lane 2 has no launch."""
    made = [note("ProfilerStep#1", 1, 40), note("ProfilerStep#2", 45, 50), op("always", 0, 1)]
    for i, (at, dur, delay, lane) in enumerate(drawn):
        if lane < 2:
            made += [op(f"aten::op{lane}", at, dur + 2, tid=i), launch(at + 1, dur, i, tid=i)]
        identity = i if lane < 2 else None
        made.append(kernel(f"k{lane}", at + 1 + delay + 0.125, dur + 0.001, identity, stream=lane))
    return making.read(*made)


@given(DRAWN)
def test_a_trace_written_slim_and_read_again_says_the_same(drawn: Drawn) -> None:
    trace = drawn_trace(drawn)
    again = read_again(trace)
    assert same(trace, again) == []
    assert [t for t in again.tracks if t.is_device] == [t for t in trace.tracks if t.is_device]
    assert described(again) == described(trace)
    assert again.origin_ns == trace.origin_ns


@given(DRAWN, st.integers(0, 100), st.integers(1, 60))
def test_a_window_holds_what_it_touches_whole_and_cuts_no_link(drawn: Drawn, first: int, length: int) -> None:
    trace = drawn_trace(drawn)
    s = trace.slices
    window = Window(first * 1000, (first + length) * 1000)
    rows = rows_of_window(trace, window)
    chosen = set(rows.tolist())
    touched = {
        i
        for i in range(len(trace))
        if s.start[i] < window.last and s.start[i] + max(int(s.dur[i]), 1) > window.first
    }
    launches = {i for i in touched if s.kind[i] == Kind.LAUNCH} | {
        int(s.link[i]) for i in touched if s.kind[i] in DEVICE_WORK and s.link[i] >= 0
    }
    work = {i for i in range(len(trace)) if int(s.link[i]) in launches}
    assert chosen == touched | launches | work
    if chosen:
        assert described(read_again(trace, rows)) == described(trace, rows)


def test_driver_calls_inside_a_launch_go_with_it_and_stay_inside() -> None:
    trace = making.read(
        call("cudaLaunchKernel", 1, 6),
        {**making.host("cuda_driver", "cuLaunchKernel", 2, 3, correlation=4)},
        call("cudaLaunchKernel", 20, 2, 9), kernel("late", 100, 5, 4), kernel("other", 60, 5, 9),
    )  # fmt: skip
    again = read_again(trace, rows_of_window(trace, Window(98_000, 200_000)))
    assert [again.name_of(i) for i in range(len(again))] == ["cudaLaunchKernel", "cuLaunchKernel", "late"]
    facts = analyze(again).facts
    assert (facts["kernels_linked"], facts["launch_calls"]) == (1, 1)


def test_chosen_steps_are_those_that_the_answers_are_about() -> None:
    trace = read_trace(SAMPLE)
    choice = Choice.parsed("5:6")
    assert choice is not None
    again = read_again(trace, rows_of_steps(trace, choice))
    selected = analyze(trace, None, choice).selected
    assert selected is not None
    facts = analyze(again).facts
    for key in ("kernels", "kernel_sum_us", "links", "launch_calls", "step_us", "step_kernel_us"):
        assert facts[key] == selected.facts[key], key
    assert again.steps.number.tolist() == [5, 6]


def test_viewers_find_complete_events_names_arguments_and_an_arrow_per_link() -> None:
    trace = making.read(
        launch(5, 3, 1), kernel("k", 30, 10.125, 1, grid=[1, 2, 3], **{"External id": 7, "registers per thread": 32}),
        kernel("l", 50, 1, 1),
        {"ph": "M", "name": "thread_name", "pid": making.HOST, "tid": making.HOST, "args": {"name": "main"}},
    )  # fmt: skip
    found = {e["name"]: e for e in events(trace, "X")}
    assert found["k"]["args"] == {
        "correlation": 1, "External id": 7, "grid": [1, 2, 3], "registers per thread": 32, "device": 0, "stream": 7
    }  # fmt: skip
    assert (found["k"]["pid"], found["k"]["tid"], found["k"]["cat"]) == (0, 7, "kernel")
    assert found["cudaLaunchKernel"]["args"]["correlation"] == 1
    named = {(e["name"], e["pid"], e["tid"]): e["args"] for e in events(trace, "M")}
    assert named["thread_name", 0, 7] == {"name": "stream 7"}
    assert named["thread_name", making.HOST, making.HOST] == {"name": "main"}
    assert named["process_name", 0, 0] == {"name": "GPU 0"}
    starts, ends = events(trace, "s"), events(trace, "f")
    assert len({e["id"] for e in starts}) == len(starts) == 2
    assert {e["id"]: e["ts"] for e in ends} == {starts[0]["id"]: 30, starts[1]["id"]: 50}
    assert all((e["ts"], e["tid"]) == (5, making.HOST) for e in starts)
    assert all(e["bp"] == "e" for e in ends)


@given(st.integers(-(10**18), 10**19))
def test_times_are_texts_exact_to_the_nanosecond(ns: int) -> None:
    assert Decimal(microseconds(ns)) * 1000 == ns
    assert Decimal(microseconds(ns, whole=True)) * 1000 == ns


def test_epoch_times_keep_their_last_digit() -> None:
    text = '{"traceEvents": [{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"stream":7}}]}'
    trace = read_blocks([(text % ("1712195495521715.604", "0.001")).encode()])
    assert b'"ts":1712195495521715.604,"dur":0.001' in text_of(trace)


def test_nothing_outside_the_white_list_leaves_the_file() -> None:
    metadata = {
        "env": {"TOKEN": "secret1"}, "traceName": "/home/secret2/x.json", "hostname": "secret3",
        "pytorch_version": "/opt/secret4/bin", "deviceProperties": [{"id": 0, "name": "GPU", "uuid": "secret5"}],
    }  # fmt: skip
    trace = making.read(
        op("/home/secret6/a.py(1): f", 0, 9, **{"Concrete Inputs": ["secret7"], "path": "secret8"}),
        kernel("k", 20, 1, **{"memory address": "secret9"}),
        frame("/home/secret10/a.py(2): g", 1, 2),
        **metadata,
    )
    assert b"secret" not in text_of(trace)
    assert json.loads(text_of(trace))["deviceProperties"] == [{"id": 0, "name": "GPU"}]


def test_a_hostile_name_is_ascii_json() -> None:
    name = 'a"\\\n\u202e</script>\U0001f600'
    trace = making.read(kernel(name, 1, 2))
    text = text_of(trace)
    assert text.isascii()
    assert read_again(trace).name_of(0) == name


def test_equal_input_gives_equal_bytes_packed_too() -> None:
    trace = read_trace(SAMPLE)
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        write_slim(file, Slim(trace, all_rows(trace)), packed=True)
    assert files[0].getvalue() == files[1].getvalue()
    assert files[0].getvalue()[4:8] == b"\0\0\0\0"  # no time of writing
    assert gzip.decompress(files[0].getvalue()) == text_of(trace)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("12.5ms:30ms", (12_500_000, 30_000_000)),
        ("1us:2µs", (1000, 2000)),
        ("0:1s", (0, 10**9)),
        (":5 ns", (0, 5)),
        ("3ns:", (3, 2**63 - 1)),
    ],
)
def test_a_window_is_read_exactly(text: str, window: tuple[int, int]) -> None:
    assert Window.parsed(text) == window


@pytest.mark.parametrize(
    "text", ["", ":", "5ms", "5:6", "5ms:4ms", "1ms:1ms", "x:1ms", "-1ms:2ms", "1e3ms:2s"]
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Window.parsed(text)


REAL = (
    "AMD-AGI__TraceLens/tests__traces__h100__gaunernst_bert-small-uncased__1016001.json.gz",
    "AMD-AGI__TraceLens/tests__traces__inference__sglang_decode__sglang_Qwen3-8B_decode.json.gz",
    "AMD-AGI__TraceLens/tests__traces__mi210__gpu_only_trace__gpu_only_trace.json.gz",
    "facebookresearch__HolisticTraceAnalysis/tests__data__timeline_analysis__sampled_rank-0.json.gz",
    "local__generated/jax0.10.2_cpu_host.trace.json.gz",
    "local__generated/onnxruntime1.32_cpu_profile.json",
    "pytorch__kineto/docs__traces__before_fix_trace.json",
)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared input is not here")
@pytest.mark.parametrize("name", REAL)
def test_a_real_trace_says_the_same_whole_and_in_a_slice_keeps_its_links(name: str) -> None:
    trace = read_trace(SHARED / name)
    assert same(trace, read_again(trace)) == []
    half = Window(trace.span_ns // 4, trace.span_ns // 2)
    rows = rows_of_window(trace, half)
    assert described(read_again(trace, rows)) == described(trace, rows)


@pytest.mark.parametrize("path", sorted((ROOT / "sample_traces" / "quirks").iterdir()), ids=lambda p: p.name)
def test_a_quirk_says_the_same_once_it_is_slim(path: Path) -> None:
    trace = read_trace(path)
    if len(all_rows(trace)):
        assert same(trace, read_again(trace)) == []


def test_ranks_merged_into_one_file_stay_apart() -> None:
    trace = making.read(
        *(
            {**event, "pid": f"[rank{rank}] {event['pid']}"}
            for rank in (0, 1)
            for event in (op("aten::mm", 1, 20), launch(5, 3, 1), kernel("k", 30 + rank, 10, 1))
        )
    )
    again = read_again(trace)
    assert {t.device for t in again.tracks if t.is_device} == {"rank0/0", "rank1/0"}
    assert described(again) == described(trace)


def test_a_trace_of_another_dialect_keeps_its_kernels_though_its_process_names_say_otherwise() -> None:
    def named(pid: int, name: str) -> dict[str, Any]:
        return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}

    trace = making.read(
        named(1, "/device:GPU:0"), named(7, "/host:CPU"),
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "Stream #3(Compute)"}},
        {"ph": "X", "name": "fusion_1", "pid": 1, "tid": 3, "ts": 20, "dur": 5, "args": {"correlation_id": "9"}},
        {"ph": "X", "name": "cuLaunchKernel", "pid": 7, "tid": 8, "ts": 2, "dur": 5, "args": {"correlation_id": "9"}},
    )  # fmt: skip
    assert trace.meta.dialect == "xla"
    facts = analyze(trace).facts
    assert (facts["kernels"], facts["kernels_linked"]) == ({"fusion_1": [1, 5]}, 1)
    assert same(trace, read_again(trace)) == []
