"""The summary document and text, without a process around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, call, copy, fill, kernel, launch, note, op
from traceview.analyses import Analysis
from traceview.report.export import summary_document, summary_text
from traceview.tables import Table


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def everything() -> Analysis:
    return analysed(
        note("ProfilerStep#3", 0, 500),
        op("a", 1, 90), launch(5, 3, 1), kernel("x_gemm", 100, 10, 1),
        launch(20, 3, 2), kernel("ncclKernel_y", 105, 40, 2, stream=20),
        call("cudaMemcpyAsync", 30, 4, 3), copy(150, 10, 3), fill(170, 3),
        call("cudaGraphLaunch", 40, 9, 4), kernel("g", 200, 5, 4, **{"graph node id": 7}),
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["op", "launch", "copy", "skew"]),
            st.integers(0, 400),
            st.integers(0, 60),
            st.integers(0, 2),
        ),
        max_size=20,
    )
)
def test_no_number_of_any_output_is_negative_or_not_finite(drawn: list[tuple[str, int, int, int]]) -> None:
    events: list[Event] = [op("always", 1, 1)]
    for i, (what, ts, dur, lane) in enumerate(drawn):
        if what == "op":
            events.append(op(f"op{lane}", 1 + ts, dur, tid=lane))
        elif what == "copy":
            events.append(copy(1 + ts, dur, stream=lane))
        else:
            early = -3 if what == "skew" else 4
            events += [
                launch(10 + ts, dur, i, tid=lane),
                kernel(f"k{lane}", 10 + ts + early, dur, i, stream=lane),
            ]
    analysis = analysed(*events)
    text = json.dumps(summary_document(analysis), allow_nan=False)
    assert all(n >= 0 for n in numbers(json.loads(text)))
    assert "nan" not in summary_text(analysis)
    assert not re.search(r"[-−]\d", summary_text(analysis))


def test_columns_in_nanoseconds_leave_as_microseconds_and_say_so() -> None:
    document = summary_document(everything())
    analysis = everything()
    for name in ("kernels", "kernels_by_stream", "copies", "gpu_time", "operators", "categories"):
        table = getattr(analysis, name)
        assert isinstance(table, Table)
        expected = [f"{c.name}_us" if c.unit == "ns" else c.name for c in table.columns()]
        assert list(document[name][0]) == expected
        assert len(document[name]) == len(table)


def test_bytes_that_no_record_says_are_null() -> None:
    assert summary_document(everything())["copies"][0]["bytes"] is None


def test_latencies_of_a_trace_without_launches_are_null() -> None:
    launches = summary_document(analysed(kernel("k", 1, 2)))["launches"]
    assert launches["launch_latency_us"] is None
    assert launches["coverage"] == {"launches": 0, "present": 0, "capture": 0, "tail": 0, "expected": 0}


def test_the_text_has_a_table_for_all_there_is_and_none_for_what_is_not() -> None:
    full = summary_text(everything())
    heads = (
        "GPU time",
        "Kernels",
        "Device work by category",
        "Copies and fills",
        "Launches",
        "Operators",
        "Steps",
    )
    assert all(f"\n\n{head}" in full for head in heads)
    little = summary_text(analysed(kernel("k", 1, 2)))
    assert [head for head in heads if f"\n\n{head}" in little] == list(heads[:3])


def test_columns_of_the_text_are_aligned() -> None:
    block = summary_text(everything()).split("\n\n")[2].splitlines()[1:]
    assert block[0].split() == ["sum", "share", "calls", "mean", "p95", "name"]
    at = block[0].index("calls") + len("calls")
    assert all(line[at - 1].isdigit() and line[at] == " " for line in block[1:])


def test_warnings_stand_above_the_tables_and_notes_below() -> None:
    text = summary_text(analysed(launch(10, 5, 1), kernel("k", 8, 9, 1), kernel("m", 15, 5)))
    blocks = text.split("\n\n")
    assert blocks[1].startswith("! 1 kernel started before")
    assert blocks[-2].startswith("i 1 kernel began before")


@pytest.mark.parametrize("label", ["/home/somebody/runs/gpu_box_41.1623143089861.pt.trace.json"])
def test_home_and_host_do_not_leave_in_the_label(label: str) -> None:
    from traceview.analyses import analyze
    from traceview.sources import read_blocks

    trace = read_blocks(
        [b'{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}'], label
    )
    analysis = analyze(trace)
    for text in (summary_text(analysis), json.dumps(summary_document(analysis))):
        assert "somebody" not in text
        assert "gpu_box" not in text


def test_the_text_shows_no_home_folder_and_the_document_keeps_names_whole() -> None:
    home = "/home/somebody/code/"
    names = [f"{home}{word}" for word in ("model.py(3): forward", "kernel.cu", "note", "Memcpy HtoD", "dev")]
    frame, work, mark, moved, where = names
    analysis = analysed(
        op(frame, 0, 90), note(mark, 1, 80), launch(5, 3, 1), kernel(work, 100, 2000, 1),
        *[kernel("z", 101 + i, 1) for i in range(5)], {**copy(150, 10), "name": moved},
        {**kernel("elsewhere", 160, 9, device=where), "pid": where},
    )  # fmt: skip
    assert "somebody" not in summary_text(analysis)
    facts = json.dumps(summary_document(analysis)["facts"])
    assert work in facts
    assert frame in facts
