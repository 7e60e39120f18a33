"""Rows of a lane: depth for nested slices, first fit for others, no overlap in any."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceview.report.rows import DEEPEST, assign

slices = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=60)


def lane(spans: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return start and length, sorted by start and longer first, as a trace has them."""
    ordered = sorted(spans, key=lambda s: (s[0], -s[1]))
    return np.array([s for s, _ in ordered], np.int64), np.array([d for _, d in ordered], np.int64)


@given(slices)
def test_no_two_slices_of_a_row_overlap(spans: list[tuple[int, int]]) -> None:
    start, dur = lane(spans)
    row, end = assign(start, dur), start + np.maximum(dur, 1)
    for level in range(DEEPEST):
        of_row = row == level
        assert (start[of_row][1:] >= end[of_row][:-1]).all()


def test_nested_slices_get_their_depth() -> None:
    start, dur = lane([(0, 100), (10, 40), (10, 20), (60, 30), (100, 5)])
    assert assign(start, dur).tolist() == [0, 1, 2, 1, 0]


def test_slices_one_after_the_other_share_a_row() -> None:
    start, dur = lane([(0, 10), (10, 10), (20, 10)])
    assert assign(start, dur).tolist() == [0, 0, 0]


def test_a_slice_without_length_lies_under_its_parent() -> None:
    start, dur = lane([(0, 10), (5, 0)])
    assert assign(start, dur).tolist() == [0, 1]


def test_a_child_that_outlives_its_parent_does_not_push_others_into_its_row() -> None:
    start, dur = lane([(0, 10), (5, 6), (10, 10), (12, 3)])
    assert assign(start, dur).tolist() == [0, 1, 0, 1]


def test_kernels_that_overlap_partly_take_the_next_free_row() -> None:
    start, dur = lane([(0, 10), (5, 10), (11, 10), (16, 3)])
    assert assign(start, dur).tolist() == [0, 1, 0, 1]


def test_what_lies_too_deep_is_marked() -> None:
    many = DEEPEST + 5
    start, dur = lane([(i, 2 * many - 2 * i) for i in range(many)])
    assert int(assign(start, dur).max()) == DEEPEST


def test_only_so_many_rows_are_filled_where_slices_overlap_partly() -> None:
    start, dur = lane([(10 * i, 25) for i in range(20)])
    assert set(assign(start, dur).tolist()) == {0, 1, 2}
    assert set(assign(start, dur, levels=2).tolist()) == {0, 1, DEEPEST}
