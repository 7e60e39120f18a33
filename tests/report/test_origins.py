"""Who launched a slice: what is told of every exact slice of device work is what the trace says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.analyses.making import analysed, call, copy, kernel, launch, op
from tests.pages import GPU_SAMPLE, report_of
from tests.report.test_codec import unpack
from traceview.analyses import Analysis, analyze
from traceview.assets import asset
from traceview.report import Report, ReportOptions, build_report, render_html
from traceview.report.origins import DELAY, NO_DELAY, NOT_FIRST, WHOLE_LATENCY
from traceview.report.view import TimelineView
from traceview.sources import read_trace

Columns = dict[str, list[int]]


def decoded(report: Report) -> tuple[TimelineView, Columns]:
    view = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    return view, {str(c["key"]): unpack(c, view.payload) for c in view.layout["columns"]}


def unfold(number: int) -> int:
    return -(number + 1) // 2 if number % 2 else number // 2


def records(view: TimelineView, columns: Columns) -> list[int]:
    """Return the items that are exact slices of device work."""
    of_row = [lane.device for lane in view.lanes for _ in range(lane.rows)]
    rows = np.repeat(of_row, view.layout["rows"])
    return [i for i, entry in enumerate(columns["entry"]) if rows[i] and not entry & 0x8000]


def told(analysis: Analysis, options: ReportOptions | None = None) -> list[dict[str, Any]]:
    """Return what is told of each exact device slice, in the order of the items."""
    report = build_report(analysis, options)
    view, columns = decoded(report)
    texts, correlation, found = report.names.texts, 0, []
    items = records(view, columns)
    for k, origin in enumerate(columns.get("origin", [])):
        step, detail = columns["launched"][k], columns["detail"][items[k]]
        correlation += unfold(step - 1) if step else 0
        at = origin - 1
        operator = columns["origin_op"][at] if origin else 0
        lane = columns["origin_lane"][at] if origin else 0
        found.append(
            {
                "call": texts[columns["origin_call"][at]] if origin else None,
                "op": texts[operator - 1] if operator else None,
                "lane": view.lanes[lane - 1].label if lane else None,
                "latency": unfold(columns["latency"][k]) if origin else None,
                "long": columns["call"][k] - 1 if columns["call"][k] else None,
                "delay": columns["delay"][k],
                "correlation": correlation if step else None,
                "detail": texts[columns["detail_name"][detail - 1]] if detail else None,
            }
        )
    return found


def test_a_kernel_tells_call_operator_thread_delays_and_configuration() -> None:
    shape = {"grid": [8, 2, 1], "block": [128, 1, 1], "registers per thread": 20, "shared memory": 2048}
    events = [
        op("aten::linear", 1, 90), op("aten::addmm", 2, 50), launch(10, 5, 71), kernel("k", 40, 30, 71, **shape),
        op("aten::relu", 60, 20), launch(61, 5, 72), kernel("r", 75, 5, 72),
    ]  # fmt: skip
    first, second = told(analysed(*events))
    assert first == {
        "call": "cudaLaunchKernel",
        "op": "aten::addmm",
        "lane": "CPU · thread 4100",
        "latency": 30_000,
        "long": None,
        "delay": NO_DELAY,
        "correlation": 71,
        "detail": "grid 8×2×1 · block 128×1×1 · 20 registers · 2.0 KiB shared memory",
    }
    assert (second["op"], second["latency"], second["correlation"]) == ("aten::relu", 14_000, 72)
    assert second["delay"] == DELAY + 5_000  # the stream was free 5 µs before
    assert second["detail"] is None


def test_a_start_delay_that_is_the_whole_latency_is_told_as_such() -> None:
    found = told(analysed(kernel("before", 1, 2), op("a", 9, 20), launch(10, 5, 1), kernel("k", 30, 3, 1)))
    assert found[1]["delay"] == WHOLE_LATENCY


def test_only_the_first_record_of_a_graph_has_delays() -> None:
    graph = call("cudaGraphLaunch", 10, 5, 9)
    events = [op("a", 1, 20), graph] + [kernel(f"k{i}", 30 + 5 * i, 4, 9) for i in range(3)]
    assert [f["delay"] for f in told(analysed(*events))] == [NO_DELAY, NOT_FIRST, NOT_FIRST]


def test_a_record_before_its_launch_has_a_negative_latency_and_no_delay() -> None:
    (found,) = told(analysed(op("a", 1, 50), launch(20, 5, 1), kernel("k", 17, 9, 1)))
    assert found["latency"] == -3_000
    assert found["delay"] == NOT_FIRST


def test_a_record_without_a_launch_has_no_origin() -> None:
    (found,) = told(analysed(copy(10, 5, bytes=4096)))
    assert found["call"] is None
    assert found["detail"] == "4.0 KiB"


def test_the_length_of_a_call_that_is_merged_is_told() -> None:
    events = []
    for i in range(400):
        events += [launch(2 + 10 * i, 1, i), kernel(f"k{i % 3}", 10 + 10 * i, 8, i)]
    found = told(analysed(*events), ReportOptions(timeline_budget=700))
    assert len(found) == 400
    assert {f["long"] for f in found} >= {1_000}
    assert {f["latency"] for f in found} == {8_000}


def test_every_link_of_the_sample_is_that_of_the_trace() -> None:
    trace = read_trace(asset(GPU_SAMPLE))
    s = trace.slices
    found = told(analyze(trace))
    linked = trace.rows_of(1, 2, 3)  # type: ignore[arg-type]
    linked = linked[s.link[linked] >= 0]
    expected = sorted(
        (trace.names[s.name[launch]], int(s.start[row] - s.start[launch]))
        for row, launch in zip(linked.tolist(), s.link[linked].tolist(), strict=True)
    )
    assert sorted((f["call"], f["latency"]) for f in found if f["call"]) == expected


def test_operators_of_the_sample_add_up_as_the_operators_do() -> None:
    """Hold the rows of the timeline against the nesting of the analysis."""
    trace = read_trace(asset(GPU_SAMPLE))
    analysis = analyze(trace)
    view, columns = decoded(report_of(GPU_SAMPLE))
    names = report_of(GPU_SAMPLE).names.texts
    lengths, added, k = columns["length"], {}, 0
    items = np.cumsum([0, *view.layout["rows"]])
    for lane in view.lanes:
        if not lane.device:
            continue
        for item in range(items[lane.first], items[lane.first + lane.rows]):
            origin = columns["origin"][k]
            operator = columns["origin_op"][origin - 1] if origin else 0
            name = names[operator - 1] if operator else "(no operator)"
            added[name] = added.get(name, 0) + lengths[item]
            k += 1
    table = analysis.operators
    known = {str(n): int(t) for n, t in zip(table.name, table.device_self, strict=True) if t}
    assert added == known


def test_the_columns_cost_few_bytes() -> None:
    view, columns = decoded(report_of(GPU_SAMPLE))
    keys = ("origin", "latency", "call", "delay", "launched", "detail")
    size = sum(int(c["to"]) - int(c["from"]) for c in view.layout["columns"] if c["key"] in keys)
    assert size < 8 * len(columns["origin"])
    assert len(base64.b64decode(view.payload)) >= size


def test_opaque_correlations_are_not_told(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    big = 2**70
    events = [op("a", 1, 50), launch(20, 5, big), kernel("k", 30, 9, big)]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    (found,) = told(analyze(read_trace(path)))
    assert found["call"] == "cudaLaunchKernel"
    assert found["correlation"] is None
    assert render_html(build_report(analyze(read_trace(path))))
