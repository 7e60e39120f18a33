"""Times and sizes that no device could have: exact, unknown or refused, and never negative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, copy, kernel, launch, note, op
from traceview.analyses.axes import shifts
from traceview.errors import InputError

YEARS = 1.15e15  # µs, 36 years: half of what the reader keeps


def negative(value: Any) -> bool:
    """Say whether any number in it is below 0."""
    if isinstance(value, dict):
        return any(negative(v) for v in value.values())
    if isinstance(value, list):
        return any(negative(v) for v in value)
    return isinstance(value, int | float) and value < 0


def test_kernels_of_thirty_six_years_add_up_exactly() -> None:
    facts = analysed(kernel("k", 0.001, YEARS), kernel("k", YEARS, YEARS), kernel("short", 5, 0.003)).facts
    assert facts["kernels"]["k"] == [2, 2 * YEARS]
    assert facts["kernel_sum_us"] == (2 * int(YEARS) * 1000 + 3) / 1000
    assert not negative(facts)


def test_a_trace_whose_times_add_up_to_more_than_64_bits_is_refused() -> None:
    with pytest.raises(InputError, match="146 years"):
        analysed(*[kernel("k", i, YEARS) for i in range(5)])


def test_spans_of_many_devices_that_add_up_to_more_than_64_bits_are_refused() -> None:
    far = [kernel("k", ts, 1, device=gpu) for gpu in range(5) for ts in (1, YEARS)]
    with pytest.raises(InputError, match="146 years"):
        analysed(*far)


def test_a_copy_of_more_bytes_than_any_memory_has_no_known_size() -> None:
    huge = 1 << 62
    table = analysed(copy(1, 5, bytes=huge), copy(10, 5, bytes=huge)).copies
    assert table.bytes.tolist() == [-1]
    assert np.isnan(table.bandwidth).all()
    assert analysed(copy(1, 5, bytes=1 << 40), copy(10, 5, bytes=3)).copies.bytes.tolist() == [(1 << 40) + 3]


far_times = st.sampled_from([0.5, 1, 2, 1e9, YEARS, 1.5 * YEARS])


@given(st.lists(st.tuples(st.integers(0, 3), far_times, far_times), min_size=1, max_size=8))
def test_no_figure_is_negative_however_far_apart_the_records_lie(
    drawn: list[tuple[int, float, float]],
) -> None:
    events: list[Event] = []
    for i, (what, ts, dur) in enumerate(drawn):
        events += [
            [kernel("k", ts, dur, i, device=i % 2, stream=i % 3), launch(ts / 2, 1, i)],
            [copy(ts, dur, i, bytes=1 << 61)],
            [op("aten::x", ts, dur), kernel("k", ts, 1, i), launch(ts, 1, i, tid=i)],
            [note(f"ProfilerStep#{i}", ts, dur)],
        ][what]
    try:
        facts = analysed(*events).facts
    except InputError:
        return
    assert not negative(facts)


def test_groups_on_one_axis_neither_overlap_nor_touch() -> None:
    group, start, end = np.array([0, 1, 1, 0]), np.array([5, 5, 7, 9]), np.array([9, 7, 20, 9])
    moved = shifts(group, start, end, 3)[group]
    first, second = (moved + end)[group == 0].max(), (moved + start)[group == 1].min()
    assert first < second
    assert ((moved + end) - (moved + start) == end - start).all()
