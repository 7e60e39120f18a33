"""Queues in the timeline: a lane under each stream's, whose points are those of the analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.analyses.making import Event, analysed, kernel, launch
from tests.report.test_timeline import numbers
from traceview.analyses import analyze
from traceview.assets import asset
from traceview.report.lines import POINTS, STREAMS
from traceview.report.names import NameBook
from traceview.report.timeline import Timeline
from traceview.report.view import Lane, TimelineView
from traceview.sources import read_trace


def timeline(*events: Event) -> TimelineView:
    view = Timeline(analysed(*events)).view(NameBook(), 100_000)
    assert view is not None
    return view


def lines(view: TimelineView) -> list[Lane]:
    return [lane for lane in view.lanes if lane.points]


def test_a_queue_lies_under_its_stream_and_takes_no_row() -> None:
    events = [launch(10, 1, 1), launch(12, 1, 2), kernel("a", 20, 5, 1), kernel("b", 25, 5, 2)]
    view = timeline(*events)
    stream, queue = view.lanes[:2]
    assert (stream.label, queue.label) == ("GPU 0 · stream 7", "GPU 0 · stream 7 · queue")
    assert (queue.first, queue.rows, queue.note) == (stream.first + stream.rows, 0, "at most 2 waiting")
    assert queue.points == (0, 4)
    # the timeline begins with the first launch, at 10 µs
    assert np.cumsum(numbers(view, "line_gap")).tolist() == [0, 2_000, 10_000, 15_000]
    assert numbers(view, "line_depth") == [2, 4, 2, 0]  # doubled; odd ones are the most of several points


def test_streams_without_linked_launches_have_no_queue() -> None:
    view = timeline(kernel("a", 20, 5))
    assert lines(view) == []
    assert all(c["key"] != "line_gap" for c in view.layout["columns"])


def test_ranks_in_one_file_have_a_queue_for_each_of_their_streams() -> None:
    view = Timeline(analyze(read_trace(asset("sample_traces/quirks/two-ranks-merged.json")))).view(
        NameBook(), 10
    )
    assert view is not None
    labels = [lane.label for lane in view.lanes if lane.device or lane.points]
    assert len(labels) == 4
    assert labels[1::2] == [f"{label} · queue" for label in labels[::2]]
    assert labels[0] != labels[2]


def test_only_the_deepest_queues_are_drawn_and_long_ones_are_thinned() -> None:
    events: list[Any] = []
    for stream in range(STREAMS + 2):
        for i in range(stream + 1):
            link = 100 * stream + i + 1
            events += [launch(0.1 * link, 0.05, link), kernel("k", 5_000 + 10 * i, 5, link, stream=stream)]
    found = [lane.label for lane in lines(timeline(*events))]
    assert found == [f"GPU 0 · stream {n} · queue" for n in range(2, STREAMS + 2)]
    many = [e for i in range(2_000) for e in (launch(10 * i, 1, i + 1), kernel("k", 10 * i + 5, 4, i + 1))]
    view = timeline(*many)
    (line,) = lines(view)
    assert line.points is not None
    assert (
        POINTS < line.points[1] < 2 * 2_000
    )  # 4,000 changes: the middle eighth and the longest gaps are kept whole


def test_a_stretch_of_several_depths_says_at_most_and_inside_a_window_each_depth_is_its_own() -> None:
    # every 10 us one launch; its kernel begins 3 us after, so that one waits for 3 us of each 10
    many = [e for i in range(4_000) for e in (launch(10 * i, 1, i + 1), kernel("k", 10 * i + 3, 4, i + 1))]
    view = timeline(*many)
    times, coded = np.cumsum(numbers(view, "line_gap")), np.array(numbers(view, "line_depth"))
    depth, merged = coded >> 1, (coded & 1).astype(bool)
    for begin, deep, loose in zip(times.tolist(), depth.tolist(), merged.tolist(), strict=True):
        assert deep == (1 if loose else int(begin % 10_000 < 3_000))
    window = view.windows[0]
    within = (times >= window.start) & (times < window.end)
    assert not merged[within].any()
    assert within.sum() == pytest.approx(2 * (window.end - window.start) / 10_000, abs=2)
    assert merged[times < window.start - 100_000].any()


def test_windows_beyond_the_room_for_points_keep_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traceview.report.lines.EXACT", 100)
    many = [e for i in range(4_000) for e in (launch(10 * i, 1, i + 1), kernel("k", 10 * i + 3, 4, i + 1))]
    (line,) = lines(timeline(*many))
    assert line.points is not None
    assert POINTS <= line.points[1] <= POINTS + 100
