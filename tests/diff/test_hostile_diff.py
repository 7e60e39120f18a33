"""A comparison of two traces whose every text attacks: whatever is pressed, nothing runs and nothing is invisible."""

from __future__ import annotations

import json

import pytest

from tests.pages import Visitor
from tests.report import test_hostile_page as hostile
from tests.report.test_html import EVIL
from tests.report.test_markdown import tokens
from traceview.analyses import analyze
from traceview.diff.build import side_of
from traceview.diff.compare import Diff, compare
from traceview.diff.overview import overview
from traceview.report.diff_markdown import diff_markdown
from traceview.report.diff_text import diff_text
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html
from traceview.report.overview_view import build_overview
from traceview.report.view import ReportOptions
from traceview.sources import read_trace


@pytest.fixture(scope="module")
def diff(tmp_path_factory: pytest.TempPathFactory) -> Diff:
    """Compare the trace with one in which every other kernel is twice as long and half of the names attack otherwise."""
    folder = tmp_path_factory.mktemp("besieged")
    base = hostile.besieged(folder / "base.json")
    document = json.loads(base.read_text(encoding="utf-8"))
    for i, event in enumerate(e for e in document["traceEvents"] if e["cat"] == "kernel"):
        event["dur"] *= 1 + i % 2
        event["name"] += hostile.attack(i) if i % 3 else ""
    new = folder / "new.json"
    new.write_text(json.dumps(document), encoding="utf-8")
    sides = [side_of(analyze(read_trace(p)), hostile.attack(i)) for i, p in enumerate((base, new))]
    return compare([sides[0]], [sides[1]])


@pytest.fixture(scope="module")
def page(diff: Diff) -> str:
    return render_html(build_diff(diff))


def test_no_invisible_character_reaches_the_page_of_a_comparison(page: str) -> None:
    hostile.test_no_invisible_character_reaches_the_page_anywhere(page)
    hostile.test_the_title_and_every_attribute_hold_text_only(page)


def test_nor_does_one_reach_the_page_of_runs_side_by_side(diff: Diff, visit: Visitor) -> None:
    page = render_html(build_overview(overview([diff.base, diff.new, diff.base]), ReportOptions()))
    hostile.test_no_invisible_character_reaches_the_page_anywhere(page)
    assert visit(html=page).js(f'document.querySelectorAll("{hostile.LIVE}").length') == 0


def test_whatever_is_pressed_on_the_page_of_a_comparison_nothing_runs(visit: Visitor, page: str) -> None:
    seen = visit(html=page)
    seen.js("TV.drawAll()")
    seen.until("document.querySelectorAll('.plot svg').length > 1")
    seen.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    pressed = seen.js(
        """(() => {
          const found = [...document.querySelectorAll("main button:not(:disabled)")].filter(b => !/Copy|Theme/.test(b.textContent));
          found.forEach(b => b.click());
          document.querySelectorAll("dialog").forEach(d => d.close());
          return found.length;
        })()"""
    )
    assert pressed > 40
    for link in seen.js("[...document.querySelectorAll('.changes a')].map(a => a.hash)"):
        seen.js(f"location.hash = '{link}'")
    for text in EVIL:
        seen.js(f"TV.find({json.dumps(text)})")
    for item in range(0, seen.js("TV.line.model.items"), 3):
        seen.js(f"TV.line.choose({item}, true)")
    assert seen.js(f'document.querySelectorAll("{hostile.LIVE}").length') == 0
    shown = seen.js("document.body.innerText")
    assert [c for c in hostile.INVISIBLE if not c.isprintable() and c in shown] == []
    hostile.test_the_csv_of_every_table_is_safe_for_spreadsheets(visit, page)


def test_comment_and_terminal_hold_text_only(diff: Diff) -> None:
    text = diff_markdown(build_diff(diff), diff, ())
    assert not {t.type for t in tokens(text)} & {"link_open", "image"}
    assert len(text) <= 60_000
    for shown in (text, diff_text(diff, (), 10)):
        assert all(line.isprintable() or not line for line in shown.splitlines())


def test_headings_leave_no_level_out(page: str) -> None:
    hostile.test_headings_leave_no_level_out_and_the_focus_follows_the_page(page)
