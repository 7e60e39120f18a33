"""Streams: what truly runs side by side, calculated by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import analysed, kernel


def test_concurrency_adds_up_to_busy_and_pairs_tell_true_overlap() -> None:
    # stream 7: 0..100; stream 20: 60..160 and 200..230; stream 30: 80..90
    result = analysed(
        kernel("a", 0, 100, stream=7),
        kernel("b", 60, 100, stream=20),
        kernel("b", 200, 30, stream=20),
        kernel("c", 80, 10, stream=30),
    )
    streams = result.streams
    levels = dict(zip(streams.concurrency.streams.tolist(), streams.concurrency.time.tolist(), strict=True))
    assert levels == {1: (60 + 60 + 30) * 1000, 2: (20 + 10) * 1000, 3: 10 * 1000}
    assert sum(levels.values()) == int(result.gpu_time.busy[0])
    pairs = {
        (left, right): (overlap, share)
        for left, right, overlap, share in zip(
            streams.pairs.left,
            streams.pairs.right,
            streams.pairs.overlap.tolist(),
            streams.pairs.share.tolist(),
            strict=True,
        )
    }
    assert pairs[("20", "7")] == (40_000, pytest.approx(0.4))
    assert pairs[("7", "30")] == (10_000, 1.0)
    assert pairs[("20", "30")] == (10_000, 1.0)
    alone = dict(zip(streams.times.stream, streams.times.alone.tolist(), strict=True))
    assert alone == {"7": 60_000, "20": 60_000 + 30_000, "30": 0}


def test_streams_that_take_turns_are_pairs_without_overlap() -> None:
    streams = analysed(kernel("a", 0, 10, stream=7), kernel("b", 10, 10, stream=8)).streams
    assert streams.pairs.overlap.tolist() == [0]
    assert streams.concurrency.streams.tolist() == [1]


def test_overlap_within_one_stream_is_told_apart() -> None:
    times = analysed(kernel("a", 0, 10), kernel("b", 8, 10)).streams.times
    assert (times.busy.tolist(), times.sum.tolist(), times.own_overlap.tolist()) == (
        [18_000],
        [20_000],
        [2_000],
    )


def test_a_device_of_which_no_record_has_a_time_has_no_streams() -> None:
    assert not len(analysed(kernel("a", 0, 0)).streams.times)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 15), st.integers(1, 4)), min_size=1, max_size=25)
)
def test_levels_and_times_alone_hold_for_any_streams(drawn: list[tuple[int, int, int]]) -> None:
    result = analysed(*(kernel("k", at, dur, stream=stream) for at, dur, stream in drawn))
    at_work = {s: {t for at, dur, own in drawn if own == s for t in range(at, at + dur)} for s in range(1, 5)}
    expected: dict[int, int] = {}
    for t in range(60):
        level = sum(t in held for held in at_work.values())
        if level:
            expected[level] = expected.get(level, 0) + 1000
    levels = result.streams.concurrency
    assert dict(zip(levels.streams.tolist(), levels.time.tolist(), strict=True)) == expected
    for stream, alone in zip(result.streams.times.stream, result.streams.times.alone.tolist(), strict=True):
        others = set().union(*(held for s, held in at_work.items() if s != int(stream)))
        assert alone == 1000 * len(at_work[int(stream)] - others)
