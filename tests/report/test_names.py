"""The dictionary of names: one number per name, hidden homes, unique labels, a budget that holds."""

from __future__ import annotations

import random
import string
import zlib

import orjson

from traceview.report.labels import LONGEST, Labels
from traceview.report.names import BUDGET, LEFT_OUT, NameBook


def noise(length: int, seed: int) -> str:
    """Return a text that deflate cannot make much smaller."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=length))


def deflated(book: NameBook) -> int:
    table = book.table()
    return len(zlib.compress(orjson.dumps([table.texts, table.labels]), 6))


def test_a_name_has_one_number() -> None:
    book = NameBook()
    assert [book.add("a"), book.add("b"), book.add("a")] == [0, 1, 0]


def test_only_names_with_another_label_have_one_in_the_page() -> None:
    book = NameBook(Labels({"void k<float>(int)": "k ‹f32›", "aten::add": "aten::add"}))
    book.add("void k<float>(int)")
    book.add("aten::add")
    book.add("void other<int>()")
    table = book.table()
    assert table.labels == ("k ‹f32›", "", "")
    assert [table.label(i) for i in range(3)] == ["k ‹f32›", "aten::add", "void other<int>()"]


def test_homes_are_hidden_unless_asked_for() -> None:
    name = "/home/alice/t.py(3): f"
    hidden, shown = NameBook(), NameBook(Labels(show_paths=True))
    hidden.add(name)
    shown.add(name)
    assert hidden.table().texts == ("~/t.py(3): f",)
    assert shown.table().texts == (name,)


def test_invisible_characters_are_shown_and_surrogates_can_be_written() -> None:
    book = NameBook()
    book.add("a\u202eb\ud800")
    assert book.table().texts == ("a\\u202eb\\ud800",)


def test_a_monstrous_name_is_cut() -> None:
    book = NameBook()
    book.add("x" * 100_000)
    assert len(book.table().texts[0]) == LONGEST


def test_rare_names_are_cut_before_those_of_tables() -> None:
    book = NameBook()
    important = noise(3000, 0)
    book.add(important)
    book.mark()
    for i in range(300):
        book.add(noise(4000, i + 1))
    table = book.table()
    assert table.texts[0] == important
    assert table.shortened == 300
    assert deflated(book) <= BUDGET


def test_the_budget_holds_for_names_that_cannot_be_cut_short_enough() -> None:
    book = NameBook()
    for i in range(32_000):
        book.add(noise(60, i))
    table = book.table()
    assert deflated(book) <= BUDGET
    assert table.texts[-1] == LEFT_OUT
    assert table.texts[0] != LEFT_OUT


def test_a_copy_can_grow_alone() -> None:
    book = NameBook()
    book.add("a")
    other = book.copy()
    other.add("b")
    assert (len(book), len(other)) == (1, 2)


def test_where_little_of_a_name_is_left_its_label_stands_for_it() -> None:
    names = [f"void k<{noise(700, i)}>()" for i in range(2_000)]
    book = NameBook(Labels({n: f"k ‹f32› #{i}" for i, n in enumerate(names)}))
    for name in names:
        book.add(name)
    table = book.table()
    assert table.label(1_999) == "k ‹f32› #1999"
    assert table.shortened == 2_000
