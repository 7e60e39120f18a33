"""Findings on the page: readable without scripts, safe, and each opens its window in the timeline."""

from __future__ import annotations

import re

import pytest

from tests.analyses.making import analysed, op
from tests.findings.making import SLUGS, gap, lost
from tests.pages import GPU_SAMPLE, Visitor, html_of
from tests.report.test_html import EVIL
from traceview.report import Report, build_report, render_html
from traceview.report.export import summary_text
from traceview.report.sections import SECTIONS
from traceview.report.view import FindingsView


def view_of(report: Report) -> FindingsView:
    (block,) = report.sections[0].blocks
    assert isinstance(block, FindingsView)
    return block


def test_findings_come_first_with_what_they_are_known_by() -> None:
    view = view_of(build_report(analysed(*gap())))
    card = view.findings[0]
    assert SECTIONS[0].id == "findings"
    assert (card.severity, card.mark, card.slug) == ("high", "▲", "host-late-gaps")
    assert card.stake == "up to 100 µs (32.3 % of the GPU span)"
    assert card.window == (82_500, 247_500)
    assert ("heading", "When it is wrong") in card.explanation


def test_what_was_checked_is_folded_with_all_slugs() -> None:
    view = view_of(build_report(analysed(*gap())))
    assert view.folded == f"{len(SLUGS) - len(view.findings)} checks passed"
    named = " ".join(view.checks)
    assert all(slug in named for slug in SLUGS if slug not in {f.slug for f in view.findings})


def test_a_check_that_could_not_be_made_is_not_among_those_passed() -> None:
    view = view_of(build_report(analysed(*gap(), *lost(10))))
    assert "could not be made" in view.folded


def test_the_page_is_readable_without_scripts() -> None:
    page = html_of(GPU_SAMPLE)
    shown = page[page.index('<section id="findings"') : page.index('<section id="gpu-time"')]
    assert "Waiting for data" in shown
    assert "What to do:" in shown
    assert "<details>" in shown
    assert all(" hidden" in tag for tag in re.findall(r"<button[^>]*>", shown))


def test_names_of_a_trace_stay_text_in_findings() -> None:
    for name in EVIL:
        page = render_html(build_report(analysed(*gap(op(name, 115, 108)))))
        assert "<img" not in page
        assert 'tracker.invalid/x)"' not in page


def test_no_home_folder_is_named() -> None:
    view = view_of(build_report(analysed(*gap(op("/home/alice/run/train.py(3): step", 115, 108)))))
    assert "alice" not in str(view)


def test_a_finding_opens_its_window_in_the_timeline(visit: Visitor) -> None:
    seen = visit(GPU_SAMPLE)
    begin, end = seen.js("(b => [+b.dataset.from, +b.dataset.to])(document.querySelector('.finding button'))")
    seen.page.click(".finding button")
    assert seen.js("[TV.line.state.range.from, TV.line.state.range.to]") == pytest.approx([begin, end])


def test_the_terminal_says_the_worst_findings_after_the_verdict() -> None:
    lines = summary_text(analysed(*gap())).splitlines()
    (line,) = [x for x in lines if x.startswith("▲")]
    assert line.endswith("[host-late-gaps]")
    assert "100 µs (32.3 % of the GPU span)" in line
    assert lines.index(line) < 6
