"""The JSON contract: every key, units, and null for what cannot be known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import analysed, codes, copy, kernel, launch, op
from traceview.analyses import ANALYSES, analyze
from traceview.analyses.answers import Results
from traceview.analyses.facts import us
from traceview.sources import read_blocks
from traceview.tables import Table

CONTRACT = Path(__file__).parents[3] / "shared" / "cases" / "README.md"
CHECKS = {
    "no_negative_numbers",
    "html_must_not_contain",
    "gpu_busy_us_any_device",
}  # no keys, says the contract


@pytest.mark.skipif(not CONTRACT.exists(), reason="the shared cases are not here")
def test_every_key_of_the_contract_is_answered() -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    table = text[text.index("## Facts of one trace") : text.index("Collective kernels:")]
    rows = re.findall(r"^\| ([a-z_, ]+) \|", table, re.MULTILINE)
    keys = {key.strip() for row in rows for key in row.split(",")} - CHECKS - {"key"}
    assert len(keys) > 50
    assert keys <= analysed(kernel("k", 0, 1)).facts.keys()


@pytest.mark.parametrize(("ns", "expected"), [(0, "0"), (5000, "5"), (2111, "2.111"), (1, "0.001")])
def test_microseconds_are_whole_where_they_are_and_exact_where_not(ns: int, expected: str) -> None:
    assert json.dumps(us(ns)) == expected


@given(st.integers(0, 10**15))
def test_microseconds_say_every_nanosecond_for_eleven_days(ns: int) -> None:
    assert round(us(ns) * 1000) == ns


UNKNOWN = (
    *("utilisation", "gpu_span_us", "idle_us", "compute_busy_us", "comm_kernel_us", "comm_exposed_us"),
    *("copy_only_us", "overlapping_kernel_us", "graph_kernel_share", "top_kernel", "op_of_kernel"),
    *("op_self_gpu_us", "op_total_gpu_us", "kernel_us_per_step", "cpu_node_us"),
)


def test_what_a_host_trace_cannot_know_is_null_and_what_it_counts_is_zero() -> None:
    analysis = analysed(op("a", 0, 10))
    assert {k: analysis.facts[k] for k in UNKNOWN} == dict.fromkeys(UNKNOWN)
    assert analysis.facts["utilisation_reliable"] is None
    assert (
        analysis.facts["kernel_count"]
        == analysis.facts["kernel_sum_us"]
        == analysis.facts["launch_calls"]
        == 0
    )
    assert codes(analysis) == {"no_gpu_events"}


def test_a_trace_of_metadata_only_is_answered_with_zeros_and_a_warning() -> None:
    text = b'{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]}'
    analysis = analyze(read_blocks([text]))
    assert analysis.facts["kernel_count"] == 0
    assert analysis.facts["trace_span_us"] is None
    assert codes(analysis) == {"no_gpu_events"}


def test_copies_alone_are_gpu_events() -> None:
    analysis = analysed(copy(10, 5))
    assert not codes(analysis)
    assert (analysis.facts["kernel_sum_us"], analysis.facts["copy_only_us"]) == (0, 5)
    assert analysis.facts["graph_kernel_share"] is None


def test_closed_ranges_are_summed_by_name_and_open_ones_are_named() -> None:
    events = [("B", "load", 10), ("E", "load", 40), ("B", "load", 50), ("E", None, 55), ("B", "step", 60)]
    listed = [{"ph": ph, "name": n, "pid": 1, "tid": 1, "ts": ts} for ph, n, ts in events]
    for event in listed:
        if event["name"] is None:
            del event["name"]
    facts = analysed(*listed).facts
    assert facts["cpu_ranges"] == {"load": [2, 35]}
    assert facts["open_ranges"] == ["step"]


def test_nodes_of_onnx_runtime_are_summed_by_operator_and_fences_left_out() -> None:
    def node(name: str, ts: int, dur: int, kind: str) -> dict[str, Any]:
        args = {"op_name": kind, "provider": "CPUExecutionProvider"}
        return {
            "cat": "Node",
            "pid": 1,
            "tid": 1,
            "ts": ts,
            "dur": dur,
            "ph": "X",
            "name": name,
            "args": args,
        }

    session = {
        "cat": "Session",
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "dur": 99,
        "ph": "X",
        "name": "model_run",
        "args": {},
    }
    facts = analysed(
        session,
        node("a_kernel_time", 1, 5, "Gemm"),
        node("b_kernel_time", 10, 7, "Gemm"),
        node("b_fence_after", 20, 3, "Gemm"),
        node("c_kernel_time", 30, 2, "Add"),
    ).facts
    assert facts["cpu_node_us"] == {"Gemm": 12, "Add": 2}


def test_short_names_shown_tell_all_kernels_apart() -> None:
    names = [
        f"void at::native::vectorized_elementwise_kernel<4, at::native::Functor{i}>(int)" for i in range(3)
    ]
    assert analysed(*[kernel(n, 10 * i, 5) for i, n in enumerate(names)]).facts["distinct_display_names"] == 3


def test_facts_are_plain_json() -> None:
    facts = analysed(op("a", 0, 9), launch(1, 2, 1), kernel("k", 5, 3, 1), copy(9, 1)).facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_every_analysis_has_its_field_and_every_column_its_unit_and_meaning() -> None:
    analysis = analysed(op("a", 0, 9), launch(1, 2, 1), kernel("k", 5, 3, 1), copy(9, 1))
    assert [name for name, _ in ANALYSES] == list(Results.__dataclass_fields__)
    tables = [getattr(analysis, name) for name, _ in ANALYSES]
    tables += [analysis.launches.by_call, analysis.launches.pairs]
    for table in tables:
        if isinstance(table, Table):
            assert len(table.columns()) == len(type(table).__dataclass_fields__)
            assert all(c.unit and len(c.meaning) > 3 for c in table.columns())


def test_times_of_results_are_whole_nanoseconds() -> None:
    analysis = analysed(
        op("a", 0, 9.001), launch(1, 2, 1), kernel("k", 5, 3.333, 1), kernel("k", 9, 3.334, 2)
    )
    for name, _ in ANALYSES:
        table = getattr(analysis, name)
        if isinstance(table, Table):
            kinds = {c.name: getattr(table, c.name).dtype.kind for c in table.columns() if c.unit == "ns"}
            assert set(kinds.values()) <= {"i"}, name


def test_results_are_frames_and_show_themselves_in_a_notebook() -> None:
    analysis = analysed(kernel("k<float>", 5, 3))
    assert analysis.kernels.frame["sum"].tolist() == [3000]
    assert "k&lt;float&gt;" in analysis._repr_html_()


def test_events_in_another_order_with_other_ids_give_the_same_facts() -> None:
    def made(shift: int) -> list[dict[str, Any]]:
        return [
            op("a", 0, 9),
            launch(1, 2, 1 + shift),
            kernel("k", 5, 3, 1 + shift),
            kernel("m", 8, 4, 2 + shift),
            launch(4, 2, 2 + shift),
        ]

    assert analysed(*made(0)).facts == analysed(*reversed(made(70))).facts


def test_a_broken_record_and_an_overlap_are_told_apart() -> None:
    broken = analysed(kernel("broken", 0, 1000), *[kernel("real", 10 + 20 * i, 15) for i in range(5)])
    assert codes(broken) == {"suspicious_duration"}
    overlap = analysed(kernel("a", 103.0, 3.776), kernel("b", 105.0, 2.0), kernel("c", 106.9, 4.0))
    assert codes(overlap) == set()
    assert codes(overlap, "info") == {"same_lane_overlap"}


def test_kernels_back_to_back_do_not_overlap() -> None:
    analysis = analysed(kernel("a", 1712195495521456.789, 2.111), kernel("b", 1712195495521458.900, 3.0))
    assert not codes(analysis, "info")
