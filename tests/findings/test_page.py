"""Findings on the page: readable without scripts, safe, and each opens its window in the timeline."""

from __future__ import annotations

import re

import pytest

from tests.analyses.making import Event, analysed, kernel, launch, op
from tests.findings.making import SLUGS, gap, lost
from tests.pages import CPU_SAMPLE, GPU_SAMPLE, HOSTILE, Visitor, html_of, report_of
from tests.report.test_html import EVIL
from traceview.findings import check
from traceview.findings.document import findings_text
from traceview.report import Report, ReportOptions, build_report, render_html
from traceview.report.export import summary_text
from traceview.report.labels import labels_of
from traceview.report.sections import SECTIONS
from traceview.report.view import FindingsView, Said, TableView


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


def shared_prefix(number: int) -> list[Event]:
    """Return kernels with names alike up to their far end, so that labels need a number."""
    events: list[Event] = []
    for i in range(number):
        name = "x" * 300 + str(i) + "y" * 300
        work = 290 if i == 3 else 40
        events += [launch(10 + 300 * i, 5, i + 1), kernel(name, 20 + 300 * i, work, i + 1)]
    return events


def test_a_finding_calls_a_kernel_as_the_table_does_and_leads_to_its_row() -> None:
    report = build_report(analysed(*shared_prefix(5)))
    (card,) = [f for f in view_of(report).findings if f.slug == "dominant-kernel"]
    (table,) = [b for s in report.sections for b in s.blocks if getattr(b, "id", "") == "kernels"]
    assert isinstance(table, TableView)
    label = report.names.label(int(table.rows[0][0] or 0))
    assert re.search(r" #\d$", label)
    assert card.sentence.startswith(f"One kernel, {label}, holds ")
    assert dict(card.evidence)["kernel"] == (Said(label, "kernels-0", "kernels"),)
    analysis = analysed(*shared_prefix(5))
    shown = findings_text(check(analysis), analysis, "", labels_of(analysis).stands_for)
    assert label in shown.replace("\n      ", " ")


@pytest.mark.parametrize("sample", [GPU_SAMPLE, CPU_SAMPLE, HOSTILE])
def test_every_link_of_the_evidence_leads_to_a_row_that_has_what_it_says(sample: str) -> None:
    report = report_of(sample)
    tables = {b.id: b for s in report.sections for b in s.blocks if isinstance(b, TableView)}
    sections = {s.id for s in report.sections}
    pieces = [p for f in view_of(report).findings for _, said in f.evidence for p in said if p.row]
    assert pieces or sample != GPU_SAMPLE
    for piece in pieces:
        name, _, place = piece.row.rpartition("-")
        table = tables[name]
        row = table.rows[int(place)]
        assert piece.section in sections
        if table.columns[0].form == "name":
            assert report.names.label(int(row[0] or 0)) == piece.text


def test_a_row_that_the_page_does_not_show_has_no_link() -> None:
    page = build_report(analysed(*shared_prefix(5)), ReportOptions(top=1))
    assert [p.row for f in view_of(page).findings for _, said in f.evidence for p in said if p.row]
    analysis = analysed(*gap(op("aten::late", 121, 98), op("aten::more", 250, 500)))
    cards = {f.slug: f for f in view_of(build_report(analysis, ReportOptions(top=1))).findings}
    where = dict(cards["host-late-gaps"].evidence)["where the host was"]
    assert where[-1] == Said("aten::late")  # another operator has the one row


def test_a_link_of_the_evidence_shows_its_row_and_can_be_passed_on(visit: Visitor) -> None:
    seen = visit(GPU_SAMPLE)
    link = ".finding a[data-row^='operators-']"
    row = seen.js(f'document.querySelector("{link}").dataset.row')
    text = seen.js(f'document.querySelector("{link}").textContent')
    seen.page.fill("[data-table=operators] input[type=search]", "nothing of that name")
    seen.page.click(link)
    seen.until(f"document.activeElement.id === 'row-{row}'")
    assert seen.js("location.hash") == f"#row-{row}"
    shown = f"document.getElementById('row-{row}')"
    assert seen.js(f"{shown}.className") == "shown"
    assert seen.js(f"{shown}.querySelector('.name button').textContent") == text
    assert seen.js(f"(b => b.top >= 0 && b.bottom <= innerHeight)({shown}.getBoundingClientRect())")
    again = visit(GPU_SAMPLE, link=f"#row-{row}")
    again.until(f"document.activeElement.id === 'row-{row}'")
    again.page.wait_for_timeout(400)  # by then a timeline that was moved has written its place
    assert again.js("location.hash") == f"#row-{row}"


def test_a_link_to_a_row_that_is_not_there_does_nothing(visit: Visitor) -> None:
    for link in ("#row-kernels-999999", "#row-nowhere-1", "#row-kernels"):
        assert visit(GPU_SAMPLE, link=link).js("document.querySelectorAll('tr.shown').length") == 0


def test_the_terminal_says_the_worst_findings_after_the_verdict() -> None:
    lines = summary_text(analysed(*gap())).splitlines()
    (line,) = [x for x in lines if x.startswith("▲")]
    assert line.endswith("[host-late-gaps]")
    assert "100 µs (32.3 % of the GPU span)" in line
    assert lines.index(line) < 6
