"""Intervals against sets of whole numbers, which need no cleverness."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceview.intervals import Intervals, amount_before, gaps, intersect, subtract, total, union

pairs = st.lists(st.tuples(st.integers(-30, 30), st.integers(0, 12)), max_size=20)


def made(drawn: list[tuple[int, int]]) -> Intervals:
    start = np.array([s for s, _ in drawn], np.int64)
    return union(start, start + np.array([d for _, d in drawn], np.int64))


def points(drawn: list[tuple[int, int]]) -> set[int]:
    return {p for s, d in drawn for p in range(s, s + d)}


def covered(intervals: Intervals) -> set[int]:
    spans = zip(intervals.start.tolist(), intervals.end.tolist(), strict=True)
    return {p for s, e in spans for p in range(s, e)}


def tidy(intervals: Intervals) -> bool:
    """Say whether intervals are sorted, not empty, and do not touch."""
    apart = (intervals.start[1:] > intervals.end[:-1]).all()
    return bool(apart and (intervals.end > intervals.start).all())


@given(pairs)
def test_a_union_covers_what_its_intervals_cover(drawn: list[tuple[int, int]]) -> None:
    assert covered(made(drawn)) == points(drawn)
    assert tidy(made(drawn))


@given(pairs)
def test_the_total_of_a_union_counts_every_point_once(drawn: list[tuple[int, int]]) -> None:
    assert total(made(drawn)) == len(points(drawn))


@given(pairs, pairs)
def test_an_intersection_covers_what_both_cover(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    both = intersect(made(a), made(b))
    assert covered(both) == points(a) & points(b)
    assert tidy(both)


@given(pairs, pairs)
def test_a_difference_covers_what_only_the_first_covers(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    rest = subtract(made(a), made(b))
    assert covered(rest) == points(a) - points(b)
    assert tidy(rest)


@given(pairs)
def test_gaps_and_union_fill_the_span_without_overlap(drawn: list[tuple[int, int]]) -> None:
    busy = made(drawn)
    holes = gaps(busy)
    assert not covered(holes) & covered(busy)
    span = int(busy.end[-1] - busy.start[0]) if len(busy.start) else 0
    assert total(busy) + total(holes) == span


@given(pairs, st.lists(st.integers(-40, 50), max_size=8))
def test_the_amount_before_a_point_counts_what_is_covered_before_it(
    drawn: list[tuple[int, int]], asked: list[int]
) -> None:
    found = amount_before(made(drawn), np.array(asked, np.int64)).tolist()
    assert found == [sum(p < at for p in points(drawn)) for at in asked]


def test_touching_intervals_become_one() -> None:
    joined = union(np.array([0, 5]), np.array([5, 9]))
    assert joined.start.tolist() == [0]
    assert joined.end.tolist() == [9]


def test_times_of_nineteen_digits_stay_exact() -> None:
    base = 1_712_195_495_521_715_604
    joined = union(np.array([base, base + 1]), np.array([base + 1, base + 3]))
    assert total(joined) == 3


def test_an_empty_set_has_no_length_and_no_gaps() -> None:
    none = union(np.empty(0, np.int64), np.empty(0, np.int64))
    assert total(none) == 0
    assert len(gaps(none).start) == 0
