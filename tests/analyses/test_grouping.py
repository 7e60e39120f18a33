"""Sums and quantiles per group against numpy, one group at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.analyses.grouping import added, alike, by_size, compact, quantiles, spread, sums, texts
from traceview.errors import InputError

items = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**12)), min_size=1, max_size=60)


@given(items)
def test_a_spread_is_that_of_the_single_values(drawn: list[tuple[int, int]]) -> None:
    group, value = (np.array(c, np.int64) for c in zip(*drawn, strict=True))
    found = spread(group, value, 6)
    for g in range(6):
        own = value[group == g]
        assert found.calls[g] == len(own)
        assert found.sum[g] == own.sum()
        if len(own):
            assert found.min[g] == own.min()
            assert found.max[g] == own.max()
            assert abs(found.mean[g] - own.mean()) <= 1
            assert abs(found.median[g] - np.median(own)) <= 1
            assert abs(found.p95[g] - np.percentile(own, 95)) <= 1


@given(items)
def test_quantiles_are_those_of_numpy(drawn: list[tuple[int, int]]) -> None:
    value = np.array([v for _, v in drawn], np.int64)
    found = quantiles(value)
    assert found is not None
    assert (found.count, found.min, found.max, found.sum) == (
        len(value),
        value.min(),
        value.max(),
        value.sum(),
    )
    for got, share in ((found.median, 50), (found.p95, 95), (found.p99, 99)):
        assert abs(got - np.percentile(value, share)) <= 1


def test_no_values_have_no_quantiles() -> None:
    assert quantiles(np.empty(0, np.int64)) is None


def test_durations_too_long_for_one_key_are_grouped_all_the_same() -> None:
    value = np.array([1 << 61, 5, 3], np.int64)
    found = spread(np.array([0, 1, 1]), value, 2)
    assert found.max.tolist() == [1 << 61, 5]
    assert found.sum.tolist() == [1 << 61, 8]


def test_sums_beyond_the_exact_doubles_stay_exact() -> None:
    value = np.array([(1 << 53) + 1, 1], np.int64)
    assert sums(np.array([0, 0]), value, 1).tolist() == [(1 << 53) + 2]


huge = st.lists(st.integers(0, 1 << 61), min_size=1, max_size=12)


@given(huge)
def test_figures_beyond_the_exact_doubles_are_exact_or_refused(drawn: list[int]) -> None:
    value, group = np.array(drawn, np.int64), np.zeros(len(drawn), np.int64)
    whole = sum(drawn)
    assert added(value) == whole
    asked = quantiles(value)
    assert asked is not None
    assert (asked.sum, asked.mean) == (whole, round(Fraction(whole, len(drawn))))
    ordered, place = sorted(drawn), Fraction((len(drawn) - 1) * 95, 100)
    low = int(place)
    high = min(low + 1, len(drawn) - 1)
    assert asked.p95 == ordered[low] + round((ordered[high] - ordered[low]) * (place - low))
    if whole >= 1 << 63:
        for question in (sums, spread):
            with pytest.raises(InputError, match="64 bits"):
                question(group, value, 1)
        return
    found = spread(group, value, 1)
    assert sums(group, value, 1).tolist() == found.sum.tolist() == [whole]
    assert (int(found.mean[0]), int(found.p95[0])) == (asked.mean, asked.p95)


def test_groups_that_fit_are_exact_where_all_together_do_not() -> None:
    value, group = np.full(8, (1 << 61) + 1), np.arange(8) // 2
    assert spread(group, value, 4).sum.tolist() == sums(group, value, 4).tolist() == [(1 << 62) + 2] * 4
    assert added(value) == 8 * ((1 << 61) + 1)


@given(st.lists(st.integers(0, 30), max_size=40))
def test_compact_codes_name_the_same_things(drawn: list[int]) -> None:
    codes = np.array(drawn, np.int64)
    used, place = compact(codes, 31)
    assert used[place].tolist() == drawn
    assert used.tolist() == sorted(set(drawn))


def test_equal_sizes_are_ordered_by_name() -> None:
    assert by_size(np.array([5, 9, 5]), ["b", "c", "a"]).tolist() == [1, 2, 0]


def test_texts_of_very_different_length_cost_their_own_length_only() -> None:
    column = texts(["a", "x" * 5000])
    assert column.dtype == object
    assert column.tolist() == ["a", "x" * 5000]


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2**62 - 1), st.integers(-1, 9)), max_size=30))
def test_rows_are_alike_where_all_their_codes_are(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[i] for row in rows], np.int64) for i in range(3)]
    first, group = alike(*columns)
    distinct = sorted(set(rows))
    assert [distinct.index(row) for row in rows] == group.tolist()
    assert [rows.index(row) for row in distinct] == first.tolist()
