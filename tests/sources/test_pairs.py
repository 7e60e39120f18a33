"""Begin and end events make ranges."""

from __future__ import annotations

import pytest

from tests.sources.trace_text import read


def mark(ph: str, ts: float, name: str | None = None, tid: int = 1) -> dict[str, object]:
    made: dict[str, object] = {"ph": ph, "ts": ts, "pid": 9, "tid": tid}
    return made if name is None else {**made, "name": name}


def ranges(*events: dict[str, object]) -> tuple[list[tuple[str, float, float]], int, list[str]]:
    trace = read([*events, {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "p"}}])
    s = trace.slices
    found = [
        (trace.names[n], (t + trace.origin_ns) / 1000, d / 1000)
        for n, t, d in zip(s.name, s.start, s.dur, strict=True)
    ]
    return found, trace.account.ignored.get("end without a begin", 0), list(trace.open_ranges)


def test_an_end_closes_the_innermost_open_range_of_its_thread() -> None:
    events = [
        mark("B", 0, "a"),
        mark("B", 1, "b"),
        mark("E", 2),
        mark("E", 5),
        mark("B", 3, "c", tid=2),
        mark("E", 4, tid=2),
    ]
    assert ranges(*events) == ([("a", 0, 5), ("b", 1, 1), ("c", 3, 1)], 0, [])


def test_events_may_stand_in_any_order_in_the_file() -> None:
    events = [mark("E", 5), mark("B", 1, "b"), mark("E", 2), mark("B", 0, "a")]
    assert ranges(*events) == ([("a", 0, 5), ("b", 1, 1)], 0, [])


def test_at_a_tie_the_older_range_closes_before_the_new_one_opens() -> None:
    assert ranges(mark("B", 0, "a"), mark("E", 2), mark("B", 2, "b"), mark("E", 4)) == (
        [("a", 0, 2), ("b", 2, 2)],
        0,
        [],
    )


def test_an_end_that_follows_its_own_begin_closes_it_at_length_zero() -> None:
    events = [mark("B", 0, "a"), mark("B", 2, "b"), mark("E", 2), mark("E", 4)]
    assert ranges(*events) == ([("a", 0, 4), ("b", 2, 0)], 0, [])


def test_a_name_finds_its_own_range_under_a_newer_one() -> None:
    events = [mark("B", 0, "a"), mark("B", 2, "b"), mark("E", 2, "a"), mark("E", 4, "b")]
    assert ranges(*events) == ([("a", 0, 2), ("b", 2, 2)], 0, [])


def test_an_end_with_a_name_that_is_not_open_closes_nothing() -> None:
    assert ranges(mark("B", 0, "a"), mark("E", 1, "other"), mark("E", 3, "a")) == ([("a", 0, 3)], 1, [])


def test_a_range_that_never_ends_is_named_and_swallows_nothing() -> None:
    assert ranges(mark("B", 0, "open"), mark("B", 1, "a"), mark("E", 2, "a")) == ([("a", 1, 1)], 0, ["open"])


@pytest.mark.parametrize("events", [[mark("E", 1)], [mark("B", 1, "a")]])
def test_what_has_no_partner_is_left_out_and_said(events: list[dict[str, object]]) -> None:
    trace = read([*events, {"ph": "X", "name": "x", "pid": 9, "tid": 1, "ts": 0, "dur": 1}])
    assert [n.code for n in trace.notices] == ["unmatched_begin_end"]
    assert trace.account.used == 1
