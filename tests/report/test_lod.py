"""Level of detail: the budget is kept, nothing overlaps, no busy time is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.report.lod import Bars, Items, join, joined, reduce, touched, touches

Row = list[tuple[int, int]]  # (hole before, length)
rows = st.lists(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), max_size=40), max_size=5)


def bars_of(shape: list[Row]) -> Bars:
    """Lay out slices row by row."""
    row, start, end = [], [], []
    for number, slices in enumerate(shape):
        at = 0
        for hole, length in slices:
            row.append(number)
            start.append(at + hole)
            at += hole + length
            end.append(at)
    source = np.arange(len(row), dtype=np.int64)
    return Bars(np.array(row, np.int32), np.array(start, np.int64), np.array(end, np.int64), source)


def overlaps(items: Items) -> bool:
    same = items.row[1:] == items.row[:-1]
    return bool((same & (items.start[1:] < items.end[:-1])).any())


@given(rows, st.integers(0, 60))
def test_items_never_overlap_inside_a_row(shape: list[Row], budget: int) -> None:
    assert not overlaps(reduce(bars_of(shape), budget))


@given(rows, st.integers(0, 60))
def test_every_slice_and_all_busy_time_is_in_some_item(shape: list[Row], budget: int) -> None:
    bars = bars_of(shape)
    items = reduce(bars, budget)
    assert int(items.number.sum()) == len(bars)
    for row in np.unique(bars.row):
        of_row = bars.row == row
        assert int(items.busy[items.row == row].sum()) == int((bars.end - bars.start)[of_row].sum())


@given(rows, st.integers(0, 60))
def test_the_budget_is_kept_or_one_block_per_row_remains(shape: list[Row], budget: int) -> None:
    bars = bars_of(shape)
    assert len(reduce(bars, budget)) <= max(budget, len(np.unique(bars.row)))


@given(rows, st.integers(1, 60), st.integers(0, 10**6), st.integers(1, 10**6))
def test_slices_in_the_focus_window_stay_exact_within_the_budget(
    shape: list[Row], budget: int, begin: int, length: int
) -> None:
    bars = bars_of(shape)
    inside = (bars.start < begin + length) & (bars.end > begin)
    items = reduce(bars, budget, ((begin, begin + length),))
    exact = set(items.source[items.number == 1].tolist())
    blocks_needed = len(np.unique(bars.row)) + int(inside.sum())
    if int(inside.sum()) + blocks_needed <= budget:
        assert set(bars.source[inside].tolist()) <= exact


windows = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)), max_size=5)


@given(rows, windows)
def test_what_touches_any_of_several_windows_is_found_and_counted_once(
    shape: list[Row], lengths: list[tuple[int, int]]
) -> None:
    bars = bars_of(shape)
    asked = tuple((begin, begin + length) for begin, length in lengths)
    by_hand = [
        any(s < last and e > first for first, last in joined(asked))
        for s, e in zip(bars.start.tolist(), bars.end.tolist(), strict=True)
    ]
    assert touches(bars, asked).tolist() == by_hand
    assert touched(bars, asked) == sum(by_hand)


def test_windows_that_overlap_become_one() -> None:
    assert joined(((30, 40), (0, 10), (5, 20), (20, 21))) == ((0, 21), (30, 40))


def test_a_trace_within_the_budget_is_exact() -> None:
    bars = bars_of([[(5, 10), (0, 3)]])
    items = reduce(bars, 2)
    assert items.tau == 0
    assert items.start.tolist() == [5, 15]


def test_long_slices_stay_exact_where_short_ones_are_merged() -> None:
    short: Row = [(10, 50)] * 100
    bars = bars_of([[*short, (10, 10**6), *short]])
    items = reduce(bars, 10)
    assert 100 in items.source[items.number == 1]
    assert 50 < items.tau <= 10**6


def test_a_block_carries_the_name_of_its_longest_slice() -> None:
    items = reduce(bars_of([[(0, 5), (1, 90), (1, 5)]]), 1)
    assert items.source.tolist() == [1]
    assert items.busy.tolist() == [100]
    assert (items.start[0], items.end[0]) == (0, 102)


def test_slices_of_one_length_still_spend_the_budget() -> None:
    items = reduce(bars_of([[(10, 50)] * 10_000]), 9_000)
    assert len(items) > 2_000


def test_an_empty_lane_gives_no_items() -> None:
    assert len(reduce(bars_of([]), 0)) == 0


@pytest.mark.parametrize("budget", [1, 7, 100])
def test_joined_items_are_sorted_by_row(budget: int) -> None:
    first = reduce(bars_of([[], [(1, 2)] * 5]), budget)
    second = reduce(bars_of([[(1, 2)] * 5]), budget)
    both = join([first, second])
    assert (np.diff(both.row) >= 0).all()
    assert int(both.number.sum()) == 10
