"""Pages of real pairs, where the shared traces are there: small, clean, quiet, on screen, phone and paper."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.pages import GPU_SAMPLE, Visit, Visitor
from tests.report.test_accessibility import axe
from traceview.analyses import analyze
from traceview.assets import asset
from traceview.diff.build import side_of
from traceview.diff.compare import compare
from traceview.diff.gates import judge, parse
from traceview.diff.side import Side
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html
from traceview.sources import read_trace

TRACES = ROOT.parent / "shared" / "traces"
PAIRS = {
    "demo": (GPU_SAMPLE, GPU_SAMPLE),
    "resnet50": ("*/*num_workers_0*", "*/*num_workers_4*"),
    "bert": ("*/*h100__gaunernst*", "*/*mi300__gaunernst*"),
}


@cache
def real(pattern: str) -> Side:
    found = [asset(pattern)] if pattern == GPU_SAMPLE else sorted(TRACES.glob(pattern))
    if not found:
        pytest.skip("the shared traces are not on this machine")
    return side_of(analyze(read_trace(Path(found[0]))), found[0].name.split(".")[0])


@cache
def page_of(name: str) -> str:
    base, new = PAIRS[name]
    diff = compare([real(base)], [real(new)])
    return render_html(build_diff(diff, judge([parse("kernel_time>5%")], diff)))


def whole(seen: Visit) -> None:
    """Draw what is not yet drawn, open a name, choose a slice, measure."""
    seen.js("TV.drawAll()")
    seen.page.locator("[data-table=work] td.name > button").first.click()
    seen.page.locator("[data-table=work] .chooser summary").click()
    seen.js("TV.line.choose(0, false)")
    seen.js("TV.line.measure.drag(TV.line.model.anchor, TV.line.model.span, true)")


@pytest.mark.parametrize("name", PAIRS)
def test_the_page_of_a_pair_is_small_and_nothing_of_it_scrolls_sideways(visit: Visitor, name: str) -> None:
    page = page_of(name)
    assert len(page.encode("utf-8")) <= 2_500_000
    seen = visit(html=page)
    seen.js("TV.drawAll()")
    wide = "[...document.querySelectorAll('html, .scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.tagName + e.ariaLabel)"
    assert seen.js(wide) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAIRS)
def test_axe_finds_no_fault_in_the_page_of_a_pair(visit: Visitor, name: str, theme: str) -> None:
    script = axe()
    seen = visit(html=page_of(name), color_scheme=theme, bypass_csp=True)
    whole(seen)
    seen.page.evaluate(script)
    found = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160], v["nodes"][0].get("failureSummary")) for v in found] == []


@pytest.mark.parametrize("name", PAIRS)
def test_a_phone_and_paper_hold_the_page_of_a_pair(visit: Visitor, name: str) -> None:
    seen = visit(html=page_of(name), viewport={"width": 390, "height": 800}, bypass_csp=True)
    whole(seen)
    assert seen.js("document.documentElement.scrollWidth") <= 390
    seen.page.evaluate(axe())
    found = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in found] == []
    assert seen.page.pdf(format="A4")[:5] == b"%PDF-"


def test_a_sentence_leads_to_the_row_that_it_names(visit: Visitor) -> None:
    seen = visit(html=page_of("resnet50"))
    link = seen.page.get_by_role("link", name="data loading")
    link.click()
    seen.until("document.querySelector('tr.shown') !== null")
    assert seen.page.locator("tr.shown").inner_text().startswith("data loading")
    seen.page.locator(".changes").get_by_role("link", name="aten::copy_").click()
    seen.until("document.querySelector('[data-table=work] tr.shown') !== null")
    assert "aten::copy_" in seen.page.locator("[data-table=work] tr.shown").inner_text()


def test_what_is_claimed_differs_in_word_and_sign_from_what_is_not(visit: Visitor) -> None:
    seen = visit(html=page_of("resnet50"))
    marks = seen.page.locator(".changes .mark").all_inner_texts()
    assert len(marks) <= 8
    assert marks[:3] == ["▼ less", "▼ less", "▲ more"]  # data loading, step time, host late
    assert set(marks[3:]) <= {"~ not proven", "= counted"}


def test_bars_of_the_waterfall_differ_without_their_colours(visit: Visitor) -> None:
    seen = visit(html=page_of("resnet50"))
    seen.js("TV.drawAll()")
    figure = "JSON.parse(document.getElementById('tv-data').textContent).charts.find(c => c.id === 'chart-waterfall').figure"
    traces = seen.js(f"{figure}.data.map(t => [t.name, t.marker ? t.marker.pattern.shape : '', t.text])")
    shapes = {name: shape for name, shape, _ in traces}
    assert len(set(shapes.values())) == len(shapes) == 3
    texts = {name: text for name, _, text in traces}
    assert all(t.startswith("+") for t in texts["more"])
    assert all(t.startswith("−") for t in texts["less"])
