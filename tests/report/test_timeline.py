"""The timeline: lanes in their order, the GPU first in the budget, encoded slices that can be decoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pages import GPU_SAMPLE, HOSTILE, report_of
from tests.report.test_codec import unpack
from traceview.analyses import analyze
from traceview.events import DEVICE_WORK, Flag, Trace
from traceview.report import ReportOptions, build_report, render_html
from traceview.report.clock import Clock, clock_of
from traceview.report.lod import Items
from traceview.report.names import NameBook
from traceview.report.timeline import CLASSES, ENTRIES, OTHER_NAMES, Entries, Timeline, encode, entries
from traceview.report.view import TableView, TimelineView
from traceview.sources import read_trace


def view_of(sample: str, options: ReportOptions | None = None) -> TimelineView:
    blocks = [b for s in report_of(sample, options).sections for b in s.blocks]
    return next(b for b in blocks if isinstance(b, TimelineView))


def event(kind: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    gpu = kind == "kernel"
    place = {"pid": 0, "tid": args.get("stream", 7)} if gpu else {"pid": 41, "tid": 41}
    given = {"device": 0, "stream": 7, **args} if gpu else args
    return {"ph": "X", "cat": kind, "name": name, "ts": ts, "dur": dur, "args": given, **place}


def trace_of(path: Path, events: list[dict[str, Any]]) -> Trace:
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return read_trace(path)


def numbers(view: TimelineView, key: str) -> list[int]:
    column = next(c for c in view.layout["columns"] if c["key"] == key)
    return unpack(column, view.payload)


def test_gpu_streams_come_first_and_python_lies_under_its_thread() -> None:
    labels = [lane.label for lane in view_of(GPU_SAMPLE).lanes]
    gpu = [i for i, text in enumerate(labels) if text.startswith("GPU")]
    assert gpu == list(range(len(gpu)))
    python = next(i for i, text in enumerate(labels) if text.endswith("· Python"))
    assert labels[python] == f"{labels[python - 1]} · Python"


def test_annotations_and_python_frames_of_a_thread_have_lanes_around_its_calls() -> None:
    labels = [lane.label for lane in view_of(GPU_SAMPLE).lanes]
    thread = next(label for label in labels if label.startswith("CPU"))
    name = thread.removesuffix(" · annotations")
    assert labels[labels.index(thread) :][:3] == [f"{name} · annotations", name, f"{name} · Python"]


def test_hidden_rows_are_told_before_slices_are_counted() -> None:
    python = next(lane for lane in view_of(GPU_SAMPLE).lanes if lane.label.endswith("· Python"))
    assert python.note == "2 rows hidden · 68 slices"


def test_steps_are_told_with_number_begin_and_length(tmp_path: Path) -> None:
    events = [
        event("user_annotation", f"ProfilerStep#{n}", at, 40) for n, at in ((7, 100), (8, 150), (9, 210))
    ]
    view = Timeline(analyze(trace_of(tmp_path / "t.json", events))).view(NameBook(), 10)
    assert view is not None
    assert [n // 2 for n in numbers(view, "step_number")] == [7, 8, 9]
    assert np.cumsum(numbers(view, "step_gap")).tolist() == [0, 50_000, 110_000]
    assert numbers(view, "step_length") == [40_000] * 3


def test_device_work_that_is_not_drawn_is_known_to_be_missing(tmp_path: Path) -> None:
    whole = [event("kernel", "k", i, 9) for i in range(6)]  # six rows are drawn
    more = [*whole, event("kernel", "k", 6, 9)]
    for events, expected in ((whole, True), (more, False)):
        view = Timeline(analyze(trace_of(tmp_path / "t.json", events))).view(NameBook(), 10)
        assert view is not None
        assert view.layout["whole"] is expected


def test_rows_of_lanes_follow_each_other() -> None:
    lanes = view_of(GPU_SAMPLE).lanes
    assert [lane.first for lane in lanes] == [0, *np.cumsum([lane.rows for lane in lanes])[:-1].tolist()]


def test_device_work_is_decoded_with_its_exact_times() -> None:
    view = view_of(GPU_SAMPLE)
    trace = read_trace(Path(GPU_SAMPLE))
    gaps, lengths, zero = numbers(view, "gap"), numbers(view, "length"), int(view.layout["zero"])
    found = []
    i = 0
    for row, count in enumerate(view.layout["rows"]):
        at = zero
        for _ in range(count):
            at += gaps[i]
            if any(lane.device and lane.first <= row < lane.first + lane.rows for lane in view.lanes):
                found.append((at, lengths[i]))
            at += lengths[i]
            i += 1
    s = trace.slices
    drawn = np.isin(s.kind, DEVICE_WORK) & ((s.flags & (Flag.UNTIMED | Flag.DUPLICATE)) == 0)
    assert sorted(found) == sorted(zip(s.start[drawn].tolist(), s.dur[drawn].tolist(), strict=True))


def test_kernels_stay_exact_while_the_host_is_merged(tmp_path: Path) -> None:
    events = [event("kernel", "k", 10 * i, 5) for i in range(200)]
    events += [event("cpu_op", "op", 2 * i, 1) for i in range(2000)]
    analysis = analyze(trace_of(tmp_path / "t.json", events))
    report = build_report(analysis, ReportOptions(timeline_budget=600))
    view = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    assert view.layout["items"] <= 600
    assert view.layout["rows"][0] == 200
    assert "merged into pale blocks" in view.note


def test_a_step_of_median_length_is_the_window_that_stays_exact() -> None:
    view = view_of(GPU_SAMPLE)
    lengths = sorted(numbers(view, "step_length"))
    first = view.windows[0]
    assert first.label == "Step 4, of median length"
    assert first.end - first.start == lengths[len(lengths) // 2]
    assert first.exact


def test_what_fits_the_budget_is_exact_whichever_lanes_it_lies_in(tmp_path: Path) -> None:
    events = [event("kernel", "k", 10 * i, 5) for i in range(100)]
    events += [event("cpu_op", "op", 2 * i, 1) for i in range(900)]
    view = Timeline(analyze(trace_of(tmp_path / "t.json", events))).view(NameBook(), 1_000)
    assert view is not None
    assert view.note == "All 1,000 slices are exact."


def test_what_is_not_drawn_is_counted(tmp_path: Path) -> None:
    events = [event("cpu_op", f"op{i}", i, 200 - 2 * i) for i in range(60)]
    events.append(event("kernel", "no time", 0, 0))
    timeline = Timeline(analyze(trace_of(tmp_path / "t.json", events)))
    view = timeline.view(NameBook(), 1000)
    assert view is not None
    assert len(timeline) + sum(timeline.drawn.hidden.values()) == 61
    assert "outer or deep rows" in view.note


def test_lanes_of_two_ranks_have_different_labels() -> None:
    labels = [lane.label for lane in view_of("sample_traces/quirks/two-ranks-merged.json").lanes]
    assert len(labels) == len(set(labels))


def test_hostile_thread_names_are_shown_as_text(tmp_path: Path) -> None:
    events = [{**event("cpu_op", "op", 1, 1), "tid": "a\u202eb\n/home/alice/x"}]
    view = Timeline(analyze(trace_of(tmp_path / "t.json", events))).view(NameBook(), 10)
    assert view is not None
    assert view.lanes[0].label.isprintable()
    assert "alice" not in view.lanes[0].label


def items_of(start: list[int], end: list[int]) -> Items:
    ones = np.ones(len(start), np.int64)
    begin, stop = np.array(start, np.int64), np.array(end, np.int64)
    return Items(np.zeros(len(start), np.int32), begin, stop, ones * 0, ones, stop - begin, 0)


def test_overlap_inside_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap inside a row"):
        encode(items_of([0, 5], [10, 15]), Clock(), Entries(*np.zeros((3, 2), np.int64)))


def test_names_beyond_the_limit_share_an_entry() -> None:
    many = ENTRIES + 100
    names = NameBook()
    classes = np.full(many, 3, np.uint8)
    found = entries(np.arange(many), classes, [f"n{i}" for i in range(many)], names)
    texts = names.table().texts
    shown = [texts[found.name[e]] for e in found.of_item.tolist()]
    assert shown.count(OTHER_NAMES) == 100
    assert {found.kind[e] for e in found.of_item.tolist()} == {3}
    assert int(found.of_item.max()) < ENTRIES + CLASSES < 0x8000


def test_the_timeline_is_as_long_as_the_trace_with_the_marks_it_does_not_draw(tmp_path: Path) -> None:
    events = [
        {**event("Trace", "PyTorch Profiler (0)", 100, 900), "pid": "Spans", "tid": "PyTorch Profiler"},
        event("cpu_op", "op", 200, 50),
        event("kernel", "k", 300, 100),
    ]
    trace = trace_of(tmp_path / "t.json", events)
    view = Timeline(analyze(trace)).view(NameBook(), 10)
    assert view is not None
    assert view.layout["span"] == trace.span_ns == 900_000
    assert sorted(numbers(view, "gap")) == [100_000, 200_000]


def test_one_slice_makes_a_timeline(tmp_path: Path) -> None:
    view = Timeline(analyze(trace_of(tmp_path / "t.json", [event("kernel", "k", 5, 0)]))).view(NameBook(), 5)
    assert view is not None
    assert view.layout["items"] == 1


def test_the_hostile_sample_has_all_its_slices() -> None:
    assert view_of(HOSTILE).layout["items"] == 5


def test_a_clock_counts_nanoseconds_unless_a_trace_is_longer_than_seven_weeks() -> None:
    assert clock_of(0, 2**52 - 1).unit == 1
    assert [clock_of(0, 2**n).unit for n in (52, 61, 62)] == [2, 1024, 2048]
    times = np.array([-5, 2**61 - 8])
    assert clock_of(-5, 2**61).at(times).tolist() == [0, (2**61 - 3) // 1024]


def wide_trace(path: Path) -> Trace:
    """Write a slice at 0 among stamps since 1970, as a host clock and a stray record make them."""
    epoch = 1.7e15
    events = [event("cpu_op", "stray", 0, 10)]
    for i in range(40):
        launch = event("cuda_runtime", "cudaLaunchKernel", epoch + 100 * i, 5, correlation=i)
        events += [launch, event("kernel", f"k{i % 3}", epoch + 100 * i + 20, 50, correlation=i)]
    return trace_of(path, events)


def test_one_stray_stamp_coarsens_the_timeline_and_nothing_else(tmp_path: Path) -> None:
    report = build_report(analyze(wide_trace(tmp_path / "t.json")))
    view = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    unit = int(view.layout["unit"])
    assert unit == 512
    assert "drawn in units of 512 ns; tables are exact" in view.note
    assert max(numbers(view, "gap")) * unit <= view.layout["span"]
    assert {n * unit for n in numbers(view, "length")} <= {0, 4608, 5120, 9728, 49664, 50176}
    kernels = next(b for s in report.sections for b in s.blocks if getattr(b, "id", "") == "kernels")
    assert isinstance(kernels, TableView)
    assert sum(int(row[3] or 0) for row in kernels.rows) == 40 * 50_000
    assert next(k for k in report.kpis if k.id == "kernels").value == "2.00"


def test_the_longest_trace_that_is_read_has_a_page(tmp_path: Path) -> None:
    edge = (2**60 - 1000) / 1000
    events = [
        event("kernel", "a", -edge, 5),
        event("kernel", "b", edge, 5),
        event("cpu_op", "op", -edge, 5),
    ]
    report = build_report(analyze(trace_of(tmp_path / "t.json", events)))
    view = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    assert (view.layout["items"], view.layout["unit"]) == (3, 1024)
    assert render_html(report)


def test_a_busy_share_is_right_for_blocks_of_many_years(tmp_path: Path) -> None:
    events = [event("cpu_op", f"op{i}", i * 2.0e12, 1.0e12) for i in range(400)]
    view = Timeline(analyze(trace_of(tmp_path / "t.json", events))).view(NameBook(), 20)
    assert view is not None
    assert {b // 10 for b in numbers(view, "busy")} <= {12, 13, 14}
