"""One damaged event never loses the file: it is mended or skipped, and counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.sources.trace_text import rows
from traceview.events import Trace
from traceview.sources import read_blocks

GOOD = '{"ph": "X", "cat": "cpu_op", "name": "good", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'


def read_with(damaged: str, tail: str = "]}") -> Trace:
    return read_blocks(
        [f'{{"traceEvents": [{GOOD}, {damaged}, {GOOD}{tail}'.encode("utf-8", "surrogateescape")]
    )


def codes(trace: Trace) -> dict[str, int]:
    return {n.code: n.count for n in trace.notices}


def names(trace: Trace) -> list[str]:
    return sorted(name for name, *_ in rows(trace))


def named(text: str) -> str:
    return '{"ph": "X", "name": "' + text + '", "pid": 1, "tid": 1, "ts": 6, "dur": 1}'


def test_a_windows_path_keeps_every_backslash() -> None:
    trace = read_with(named(r"C:\work\new\user.py"))
    assert names(trace) == [r"C:\work\new\user.py", "good", "good"]
    assert codes(trace) == {"json_repaired": 1}
    assert trace.notices[0].place == "byte 102 of the text"


def test_control_characters_inside_a_text_are_kept() -> None:
    trace = read_with(named("tab\tnewline\nescape\x1b"))
    assert names(trace) == ["good", "good", "tab\tnewline\nescape\x1b"]


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    trace = read_with(named("caf\udce9"))
    assert names(trace) == ["caf\ufffd", "good", "good"]
    assert codes(trace) == {"encoding_repaired": 1}


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_kept() -> None:
    trace = read_with(named(r"\ud83d \ud83d\ude00"))
    assert names(trace) == ["good", "good", "\ufffd \U0001f600"]
    assert codes(trace) == {"encoding_repaired": 1}


def test_bare_nan_and_infinities_are_missing_values() -> None:
    damaged = '{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 6, "dur": 1, "args": {"a": nan, "b": -inf, "c": Infinity, "d": NaN}}'
    trace = read_with(damaged)
    assert names(trace) == ["good", "good", "x"]
    assert codes(trace) == {"nonfinite_number": 4}


def test_a_name_that_says_nan_is_no_damage() -> None:
    trace = read_with('{"ph": "X", "name": "nan", "pid": 1, "tid": 1, "ts": 6, "dur": 1, "args": {"v": inf}}')
    assert names(trace) == ["good", "good", "nan"]


def test_trailing_commas_and_bare_words_are_mended() -> None:
    trace = read_with(
        '{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 6, "dur": 1, "args": {"p": 0x7f00, "q": none,},}'
    )
    assert names(trace) == ["good", "good", "x"]
    assert codes(trace)["json_repaired"] == 4


def test_an_event_that_cannot_be_mended_is_dropped_alone() -> None:
    trace = read_with(named('foo "bar" }, { baz'))
    assert names(trace) == ["good", "good"]
    assert codes(trace) == {"dropped_event": 1}
    assert trace.account.ignored == {"unreadable event": 1}


def test_things_between_events_that_are_no_objects_are_counted() -> None:
    trace = read_with('null, 17, "text", [1, 2], true')
    assert names(trace) == ["good", "good"]
    assert codes(trace) == {"dropped_event": 5}


def test_a_cut_inside_a_text_ends_the_trace_there() -> None:
    trace = read_with('{"ph": "X", "name": "cut in mid-', tail="")
    assert trace.cut
    assert "truncated_input" in codes(trace)


def test_a_text_that_looks_like_the_end_of_an_event_is_no_end() -> None:
    trace = read_with(named(r"}, {\"ph\": \"X\" }]"))
    assert names(trace) == ["good", "good", '}, {"ph": "X" }]']
    assert codes(trace) == {}


def test_metadata_after_the_list_may_hold_brackets() -> None:
    trace = read_with(named("x"), tail='], "traceName": "a]}, {"}')
    assert len(trace) == 3
    assert codes(trace) == {}


def test_a_second_document_is_not_mixed_in() -> None:
    ghost = '{"traceEvents": [' + named("ghost") + "]}"
    trace = read_with(named("x"), tail="]}\n" + ghost)
    assert "ghost" not in names(trace)
    assert codes(trace) == {"trailing_data": 1}


@given(st.binary(max_size=60), st.integers(0, 200))
def test_foreign_bytes_anywhere_never_raise_anything_but_a_refusal(foreign: bytes, at: int) -> None:
    from traceview.errors import InputError

    whole = ('{"traceEvents": [' + ", ".join([GOOD] * 3) + '], "traceName": "t"}').encode()
    damaged = whole[:at] + foreign + whole[at:]
    try:
        trace = read_blocks([damaged])
    except InputError:
        return
    assert trace.account.events_read == trace.account.used + sum(trace.account.ignored.values())
    assert read_blocks([damaged[i : i + 5] for i in range(0, len(damaged), 5)]).account == trace.account
