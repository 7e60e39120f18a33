"""The report as Markdown: short enough, whole, and nothing in it is the trace's doing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import analysed, copy, kernel, launch, note, op
from traceview.report import build_report
from traceview.report.markdown import LIMIT, code_span, report_markdown

markdown_it = pytest.importorskip("markdown_it")
HOSTILE = "a|b `c` ``d`` <img src=x onerror=alert(1)> @team #12 GH-1 https://x.y www.x.y [l](javascript:1) \u202e\n| x"


def tokens(text: str) -> list[Any]:
    flat = []
    for token in markdown_it.MarkdownIt("commonmark").enable("table").parse(text):
        flat += [token, *(token.children or [])]
    return flat


def busy(name: str = "k", number: int = 3) -> Any:
    events = [note("ProfilerStep#1", 0, 900), op("aten::mm", 1, 50)]
    for i in range(number):
        events += [launch(2 + i, 1, i), kernel(f"{name}{i or ''}", 100 + 20 * i, 10 + i, i)]
    return analysed(*events, copy(950, 9))


def test_the_verdict_stands_first_then_figures_findings_and_folded_tables() -> None:
    lines = report_markdown(build_report(busy())).splitlines()
    assert lines[0].startswith("### The GPU was busy ")
    text = "\n".join(lines)
    places = [text.index(w) for w in ("| figure | value | of |", "**Findings**", "<summary>Kernels")]
    assert places == sorted(places)
    assert text.count("<details>") == text.count("</details>") > 2
    assert lines[-1].startswith("traceview ")


@given(st.text(st.sampled_from("a`|\\ \n<"), max_size=30))
def test_a_code_span_shows_exactly_its_text_in_a_table_too(text: str) -> None:
    shown = text.replace("\n", "\\u000a")
    (code,) = [t for t in tokens(f"x {code_span(text)} y") if t.type == "code_inline"]
    table = f"| h | i |\n| --- | --- |\n| {code_span(text, True)} | last |\n"
    (cell,) = [t for t in tokens(table) if t.type == "code_inline"]
    assert code.content.strip(" ") == shown.strip(" ")
    assert cell.content.strip(" ") == shown.strip(" ")


def test_nothing_that_a_trace_names_becomes_markup_a_mention_or_a_reference() -> None:
    text = report_markdown(build_report(busy(HOSTILE)))
    kinds = {t.type for t in tokens(text)}
    assert not kinds & {"link_open", "image"}
    html = [t.content for t in tokens(text) if t.type in ("html_inline", "html_block")]
    assert all(re.fullmatch(r"(?:<details><summary>[^<>]*</summary>|</details>)\s*", h) for h in html)
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for piece in ("@", "GH-1", "https:", "www.", "<img", "\u202e"):
        assert piece not in outside_code, piece
    assert not re.search(r"(?<!&)#\d", outside_code)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows
    assert "\u202e" not in text


def test_every_table_is_read_as_one_whatever_its_names() -> None:
    report = build_report(busy(HOSTILE))
    found = tokens(report_markdown(report))
    tables = sum(t.type == "table_open" for t in found)
    assert tables == report_markdown(report).count("<details>") + 2  # figures and findings are not folded
    widths: list[int] = []
    for token in found:
        if token.type == "tr_open":
            widths.append(0)
        widths[-1:] = [w + (token.type in ("th_open", "td_open")) for w in widths[-1:]]
    assert min(widths) >= 3


@pytest.mark.parametrize("limit", [2_500, 6_000, 12_000, LIMIT])
def test_it_keeps_its_limit_by_leaving_out_whole_parts_and_names_them(limit: int) -> None:
    text = report_markdown(build_report(busy("some_kernel_with_a_long_name_", 40)), limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    whole = report_markdown(build_report(busy("some_kernel_with_a_long_name_", 40)))
    left = set(re.findall("<summary>(.*?)</summary>", whole)) - set(
        re.findall("<summary>(.*?)</summary>", text)
    )
    assert bool(left) == ("Left out to keep this comment short" in text)
    assert limit < LIMIT or not left
    for title in left if limit > 5000 else ():
        assert title in text
    parts = re.findall("<details>.*?</details>", text, re.DOTALL)
    assert all(part in whole for part in parts)


def test_the_largest_rows_are_shown_and_no_more_than_ten() -> None:
    text = report_markdown(build_report(busy("k_", 40)))
    (table,) = re.findall(r"<summary>Kernels \(10 of 40\)</summary>(.*?)</details>", text, re.DOTALL)
    names = re.findall(r"^\| `(k_\d*)` ", table, re.MULTILINE)
    assert names == [f"k_{i}" for i in range(39, 29, -1)]
