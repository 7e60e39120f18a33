"""Nesting against its definition, applied to one slice at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from traceview.analyses.nesting import parents
from traceview.builder import sorted_order

Slice = tuple[int, int, int]  # track, start, duration

slices = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 24), st.integers(0, 12)), max_size=24)


def ordered(drawn: list[Slice]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    track, start, dur = (
        (np.array(c, np.int64) for c in zip(*drawn, strict=True)) if drawn else (np.empty(0, np.int64),) * 3
    )
    rows = sorted_order(start, dur, track)
    rows = rows[np.argsort(track[rows], kind="stable")]
    return track[rows], start[rows], start[rows] + dur[rows]


def by_definition(track: np.ndarray, start: np.ndarray, end: np.ndarray, unit: int) -> list[int]:
    """Take the last slice before that was open and whose end, or one unit later, is not exceeded."""
    found: list[int] = []
    inside: list[int] = []  # where a slice ends within all that enclose it
    for i in range(len(start)):
        around = [
            j for j in range(i) if track[j] == track[i] and start[i] < inside[j] and end[i] <= end[j] + unit
        ]
        found.append(around[-1] if around else -1)
        inside.append(min(int(end[i]), inside[found[-1]]) if around else int(end[i]))
    return found


@given(slices)
@example([(0, 5, 12), (0, 5, 11), (0, 6, 12)])  # one unit beyond the first, two beyond the second
@example([(0, 2, 10), (0, 3, 9), (0, 2, 11), (0, 5, 9)])
def test_parents_are_those_of_the_definition_for_any_slices(drawn: list[Slice]) -> None:
    track, start, end = ordered(drawn)
    parent, _ = parents(track, start, end, 1)
    assert parent.tolist() == by_definition(track, start, end, 1)


@given(slices)
def test_depth_counts_the_ancestors(drawn: list[Slice]) -> None:
    parent, depth = parents(*ordered(drawn), 1)
    for i, above in enumerate(parent.tolist()):
        assert depth[i] == (0 if above < 0 else depth[above] + 1)


def tree(*drawn: tuple[int, int], unit: int = 1) -> list[int]:
    """Return the parents of slices (start, end) on one thread, given in the order of a trace."""
    start, end = (np.array(c, np.int64) for c in zip(*drawn, strict=True))
    return parents(np.zeros(len(start), np.int64), start, end, unit)[0].tolist()


def test_the_innermost_of_several_enclosing_slices_is_the_parent() -> None:
    assert tree((0, 100), (10, 60), (20, 30), (70, 80)) == [-1, 0, 1, 0]


def test_a_partial_overlap_is_no_relation() -> None:
    assert tree((0, 10), (5, 15)) == [-1, -1]


def test_of_equal_slices_the_later_is_the_child() -> None:
    assert tree((0, 10), (0, 10), (0, 10)) == [-1, 0, 1]


def test_a_slice_that_starts_where_another_ends_is_no_child() -> None:
    assert tree((0, 10), (10, 20), (20, 20)) == [-1, -1, -1]


@pytest.mark.parametrize(("unit", "scale"), [(1, 1), (1000, 1000)])
def test_a_child_one_unit_too_long_stays_a_child_and_keeps_its_own_children(unit: int, scale: int) -> None:
    drawn = [(0, 10), (4, 11), (6, 8)]
    assert tree(*[(s * scale, e * scale) for s, e in drawn], unit=unit) == [-1, 0, 1]


def test_what_begins_when_the_parent_ended_is_no_child_of_an_overshooting_child() -> None:
    assert tree((0, 10), (4, 11), (10, 12)) == [-1, 0, -1]


def test_two_units_too_long_are_a_partial_overlap() -> None:
    assert tree((0, 10), (4, 12)) == [-1, -1]


def test_an_empty_slice_encloses_nothing_and_can_be_a_child() -> None:
    assert tree((0, 10), (5, 5), (5, 5), (6, 7)) == [-1, 0, 0, 0]


def test_threads_do_not_enclose_each_other() -> None:
    track = np.array([0, 0, 1], np.int64)
    parent, _ = parents(track, np.array([0, 1, 2]), np.array([90, 50, 3]), 1)
    assert parent.tolist() == [-1, 0, -1]


def test_times_far_apart_on_many_threads_do_not_overflow() -> None:
    track = np.repeat(np.arange(4), 2)
    start = np.tile(np.array([0, 1]), 4) + np.array([0, 0, 0, 0, 0, 0, 1 << 61, 1 << 61])
    parent, _ = parents(track, start, start + np.tile(np.array([9, 2]), 4), 1)
    assert parent.tolist() == [-1, 0, -1, 2, -1, 4, -1, 6]


def test_the_innermost_of_several_slices_of_one_start_may_be_rounded_up() -> None:
    start = np.full(4, 5000)
    dur = np.array([10_000, 10_000, 11_000, 9_000])  # the file's order is the order of nesting
    assert sorted_order(start, dur, np.zeros(4, np.int64)).tolist() == [0, 1, 2, 3]
    assert parents(np.zeros(4, np.int64), start, start + dur, 1000)[0].tolist() == [-1, 0, 1, 2]
