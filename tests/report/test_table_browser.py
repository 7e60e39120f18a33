"""Tables in a browser: columns, signed changes, expressions that cannot hang the page, and small lines of values."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import time

import pytest

from tests.pages import Visitor
from tests.report.test_cells import REPORT
from traceview.report import Report, render_html
from traceview.report.view import Column, SectionView, TableView

HEADS = "[...document.querySelectorAll('[data-table={}] thead th')].map(e => e.textContent)"
ROWS = "[...document.querySelectorAll('[data-table={}] tbody tr')].map(r => [...r.cells].map(c => c.textContent))"


def test_a_change_shows_its_sign_its_bar_and_its_place_by_size(visit: Visitor) -> None:
    seen = visit(html=render_html(REPORT))
    assert seen.js(ROWS.format("changes")) == [
        ["faster", "−5.000", "−50.0"],
        ["slower", "+2.000", "+25.0"],
        ["same", "±0.000", "±0.0"],
        ["gone", "–", "–"],
    ]
    cells = "[...document.querySelectorAll('[data-table=changes] td.barred')].map(c => [c.className, c.style.getPropertyValue('--w')])"
    assert seen.js(cells) == [
        ["num barred fall", "100.00%"],
        ["num barred rise", "40.00%"],
        ["num barred", "0.00%"],
        ["num barred", "0.00%"],
    ]
    rows = list(csv.reader(io.StringIO(seen.js("TV.tables.changes.asCsv()"))))
    assert rows == [
        ["What", "Change ms", "Change %"],
        ["faster", "-5", "-50"],
        ["slower", "2", "25"],
        ["same", "0", "0"],
        ["gone", "", ""],
    ]


def test_columns_are_chosen_with_the_keyboard_and_nothing_is_remembered(visit: Visitor) -> None:
    seen = visit(html=render_html(REPORT))
    summary = seen.page.locator("[data-table=changes] .chooser summary")
    summary.focus()
    seen.page.keyboard.press("Enter")
    boxes = seen.page.locator("[data-table=changes] .chooser input")
    assert [b.is_checked() for b in boxes.all()] == [True, False, True]
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Space")
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Space")
    assert seen.js(HEADS.format("changes")) == ["What", "Calls", "Change %"]
    assert seen.js(ROWS.format("changes"))[0] == ["faster", "−1", "−50.0"]
    assert seen.js("TV.tables.changes.asCsv()").startswith("What,Calls,Change %\nfaster,-1,")
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator("[data-table=changes] fieldset").is_visible()
    assert summary.evaluate("e => e === document.activeElement")
    assert seen.js("Object.keys(localStorage)") == []
    seen.page.reload()
    seen.until("window.TV_READY === true")
    assert seen.js(HEADS.format("changes")) == ["What", "Change ms", "Change %"]


def test_the_first_column_stays_and_sorting_goes_on_by_a_column_out_of_sight(visit: Visitor) -> None:
    seen = visit(html=render_html(REPORT))
    labels = seen.js(
        "[...document.querySelectorAll('[data-table=changes] .chooser label')].map(l => l.textContent.trim())"
    )
    assert labels == ["Change ms", "Calls", "Change %"]
    seen.page.locator("[data-table=changes] .chooser summary").click()
    seen.page.get_by_label("Change ms").uncheck()
    assert [r[0] for r in seen.js(ROWS.format("changes"))] == ["faster", "slower", "same", "gone"]
    seen.page.mouse.click(5, 5)
    assert not seen.page.locator("[data-table=changes] fieldset").is_visible()


SAMPLES = [
    "aten::add_",
    "void gemm<128, 64>(float*)",
    "",
    "aaa",
    "AbC\nx",
    "a.b\\c",
    "ncclKernel_AllReduce_RING",
    "x-y_z 12",
    "µs",
    "[0]",
]
EXPRESSIONS = [
    "aten", "^aten::a", "add_$", "a|b", "(ab|c)+", "a{2}", "a{2,}", "a{0,1}x", "^a*$", "[a-c]{3}", "[^a-z ]", r"\d+", r"\bkernel", r"\Bkernel", r"\w+_\w+$", "gemm<.*64>",
    "(?:a|aa)+$", "^$", "x?y", ".", "a.b", r"a\.b\\c", "[A-C]b", r"[\d,]+ ", r"\s", "(a*)*", "(a+)+b", "a+?", "{", "a{,2}", r"\x61", r"\u00b5", "[]", "[^]", "()", r"[\w-]+z", "nccl.*ring",
]  # fmt: skip


def test_expressions_find_what_those_of_the_browser_find(visit: Visitor) -> None:
    seen = visit(html=render_html(REPORT))
    wrong = seen.page.evaluate(
        """([expressions, texts]) => expressions.flatMap(e => texts
            .filter(t => TV.expression(e)(t) !== new RegExp(e, "i").test(t.toLowerCase())).map(t => [e, t]))""",
        [EXPRESSIONS, SAMPLES],
    )
    assert wrong == []


def test_random_expressions_find_what_those_of_the_browser_find(visit: Visitor) -> None:
    dice = random.Random(11)

    def made(depth: int) -> str:
        if depth == 0:
            return dice.choice(["a", "b", "[ab]", "[^a]", ".", "^", "$", r"\b"])
        kind = dice.randrange(4)
        if kind == 0:
            return made(depth - 1) + made(depth - 1)
        if kind == 1:
            return f"(?:{made(depth - 1)}|{made(depth - 1)})"
        if kind == 2:
            return f"({made(depth - 1)})" + dice.choice(["*", "+", "?", "{2}", "{1,3}", "*?"])
        return made(depth - 1)

    expressions = [made(4) for _ in range(400)]
    texts = ["".join(dice.choices("ab ", k=dice.randrange(7))) for _ in range(20)]
    seen = visit(html=render_html(REPORT))
    wrong = seen.page.evaluate(
        """([expressions, texts]) => expressions.flatMap(e => texts
            .filter(t => TV.expression(e)(t) !== new RegExp(e, "i").test(t)).map(t => [e, t]))""",
        [expressions, texts],
    )
    assert wrong == []


@pytest.mark.parametrize("expression", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r".*.*.*.*.*=!", r"(a?){40}a{40}$"])
def test_no_expression_hangs_the_page(visit: Visitor, expression: str) -> None:
    seen = visit(html=render_html(REPORT))
    begin = time.monotonic()
    text = "a" * 8_000 + "!"
    assert seen.page.evaluate("([e, t]) => TV.expression(e)(t)", [expression, text]) is False
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "expression",
    ["(", ")", "[a", "a{3,2}", "*a", "a\\", "(?=a)", "(?<!a)", r"(a)\1", "(a{1000}){1000}", "[b-a]"],
)
def test_what_cannot_be_read_is_refused(visit: Visitor, expression: str) -> None:
    seen = visit(html=render_html(REPORT))
    code = "e => { try { TV.expression(e); return 'taken'; } catch (x) { return x.name; } }"
    assert seen.page.evaluate(code, expression) == "SyntaxError"


def test_a_row_has_a_small_line_of_its_steps_that_says_what_it_shows(visit: Visitor) -> None:
    seen = visit()
    spark = seen.page.locator("[data-table=kernels] .spark").first
    label = spark.get_attribute("aria-label")
    assert re.fullmatch(r"8 steps: min [\d.]+, median [\d.]+, max [\d.]+ ms", label or "")
    data = "JSON.parse(document.getElementById('tv-data').textContent).tables.find(t => t.id === 'kernels').trend"
    low, middle, high, heights = seen.js(f"{data}.rows[0]")
    assert label == f"8 steps: min {low / 1e6:.3f}, median {middle / 1e6:.3f}, max {high / 1e6:.3f} ms"
    points = seen.js(
        "document.querySelector('[data-table=kernels] .spark polyline').getAttribute('points')"
    ).split()
    assert len(points) == len(heights) == 8
    top, bottom = min(float(p.split(",")[1]) for p in points), max(float(p.split(",")[1]) for p in points)
    assert top == 1.5
    assert bottom <= 16.5
    assert seen.js("document.querySelectorAll('[data-table=operators] .spark').length") > 5
    seen.page.locator("[data-table=kernels] .chooser summary").click()
    seen.page.locator("[data-table=kernels]").get_by_label("Per step").uncheck()
    assert seen.js("document.querySelectorAll('[data-table=kernels] .spark').length") == 0
    assert "Per step" not in seen.js(HEADS.format("kernels"))


@pytest.mark.parametrize("table", ["gaps", "steps", "queue-over-time"])
def test_a_button_of_a_row_shows_its_window_in_the_timeline(visit: Visitor, table: str) -> None:
    seen = visit()
    data = json.loads(seen.js("document.getElementById('tv-data').textContent"))
    spec = next(t for t in data["tables"] if t["id"] == table)
    button = seen.page.locator(f"[data-table={table}] td.show button").nth(1)
    row = int(str(button.evaluate("b => b.closest('tr').id")).rsplit("-", 1)[1])
    zero = data["timeline"]["layout"]["zero"]
    wanted = [w - zero for w in spec["windows"][row]]
    button.click()
    begin, end = seen.js("[TV.line.state.range.from, TV.line.state.range.to]")
    assert begin <= wanted[0] < wanted[1] <= end
    assert end - begin <= 1.31 * (wanted[1] - wanted[0]) or begin == 0 or wanted[1] - wanted[0] < 1_000
    assert button.get_attribute("aria-label") == f"Show {spec['shows']} in the timeline"


FOCUSED = "document.activeElement.textContent"


def test_the_focus_stays_on_the_header_that_sorts_and_on_the_button_that_turns_pages(visit: Visitor) -> None:
    columns = (Column("n", "Number", "count"), Column("t", "Text", "text"))
    rows = tuple((i, f"row {i}") for i in range(30))
    table = TableView("many", "rows", columns, rows, 0, page=10)
    seen = visit(html=render_html(Report("T", "V", sections=(SectionView("s", "S", blocks=(table,)),))))
    first = "document.querySelector('[data-table=many] tbody tr').cells[0].textContent"
    head = seen.page.locator("[data-table=many] thead button").first
    head.focus()
    for expected in ("29", "0"):
        seen.page.keyboard.press("Enter")
        assert (seen.js(FOCUSED), seen.js(first)) == ("Number", expected)
    following = seen.page.locator("[data-table=many] button", has_text="Next")
    following.focus()
    for expected in ("10", "20", "20"):  # the last page is the last
        seen.page.keyboard.press("Enter")
        assert (seen.js(FOCUSED), seen.js(first)) == ("Next ›", expected)
    assert following.get_attribute("aria-disabled") == "true"
    seen.page.keyboard.press("Shift+Tab")
    seen.page.keyboard.press("Enter")
    assert (seen.js(FOCUSED), seen.js(first)) == ("‹ Previous", "10")


def test_an_expression_is_held_against_each_text_of_a_row_on_its_own(visit: Visitor) -> None:
    columns = (Column("a", "First", "text"), Column("b", "Second", "text"), Column("n", "N", "count"))
    rows = (*((f"filler {i}", "none", i) for i in range(10)), ("Gemm", "tail", 1), ("one gemm", "gemma", 2))
    table = TableView("texts", "rows", columns, rows, 2, page=15)
    seen = visit(html=render_html(Report("T", "V", sections=(SectionView("s", "S", blocks=(table,)),))))
    found = "[...document.querySelectorAll('[data-table=texts] tbody tr')].map(r => r.cells[0].textContent)"
    for query, expected in (
        ("/^gemm$/", ["Gemm"]),
        ("/gemm$/", ["one gemm", "Gemm"]),
        ("/^tail/", ["Gemm"]),
        ("/gemm tail/", ["Nothing matches. Clear the filter to see all 12."]),
        ("gemm tail", ["Gemm"]),
    ):
        seen.page.locator("[data-table=texts] input[type=search]").fill(query)
        seen.until(f"JSON.stringify({found}) === {json.dumps(json.dumps(expected, separators=(',', ':')))}")
    sizes = seen.page.locator("[data-table=texts] select[aria-label='Rows per page']")
    assert sizes.input_value() == "15"


def test_numbers_for_spreadsheets_have_no_noise_of_binary_fractions(visit: Visitor) -> None:
    seen = visit(html=render_html(REPORT))
    exact = "[['us', 1100], ['share', 0.07], ['ms', 123456789012345], ['rate', 0.1 + 0.2]].map(([f, v]) => TV.exact(f, v))"
    assert seen.js(exact) == ["1.1", "7", "123456789.012", "0.3"]


def test_no_table_of_a_training_is_wider_than_a_small_laptop(visit: Visitor) -> None:
    seen = visit()
    code = "[...document.querySelectorAll('[data-table] .scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)"
    assert seen.js("innerWidth") == 1280
    assert seen.js(code) == []


def test_on_paper_a_category_is_not_broken_inside_its_word(visit: Visitor) -> None:
    seen = visit()
    seen.page.emulate_media(media="print")
    seen.page.set_viewport_size({"width": 700, "height": 1000})
    cells = "[...document.querySelectorAll('[data-table=kernels] tbody tr')].map(r => r.cells[1])"
    lines = f"Math.max(...{cells}.filter(c => c.textContent === 'elementwise').map(c => {{ const r = document.createRange(); r.selectNodeContents(c); return r.getClientRects().length; }}))"
    assert seen.js(lines) == 1
