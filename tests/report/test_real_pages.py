"""Pages of real traces, where the shared ones are there: as clean, small and quiet as those of the samples."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.pages import Visitor
from tests.report.test_accessibility import axe
from traceview.analyses import analyze
from traceview.report import build_report, render_html
from traceview.sources import read_trace

SHARED = Path(__file__).parents[3] / "shared" / "traces"
TRACES = {
    "H100 bert": "AMD-AGI__TraceLens/tests__traces__h100__gaunernst_bert-small-uncased__1016001.json.gz",
    "V100 resnet50": "pytorch__kineto/tb_plugin__samples__resnet50_num_workers_0__worker0.1623143089861.pt.trace.json.gz",
}


@cache
def page_of(name: str) -> str:
    path = SHARED / TRACES[name]
    if not path.exists():
        pytest.skip("the shared traces are not on this machine")
    return render_html(build_report(analyze(read_trace(path))))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", TRACES)
def test_axe_finds_no_fault_in_the_page_of_a_real_trace(visit: Visitor, name: str, theme: str) -> None:
    seen = visit(html=page_of(name), color_scheme=theme, bypass_csp=True)
    seen.js("TV.drawAll()")
    seen.page.locator("[data-table=kernels] .chooser summary").click()
    seen.page.evaluate(axe())
    found = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160], v["nodes"][0].get("failureSummary")) for v in found] == []


@pytest.mark.parametrize("name", TRACES)
def test_the_page_of_a_real_trace_is_small_and_fits_a_phone_and_paper(visit: Visitor, name: str) -> None:
    page = page_of(name)
    assert len(page.encode("utf-8")) <= 2_500_000
    seen = visit(html=page, viewport={"width": 390, "height": 800})
    seen.js("TV.drawAll()")
    assert seen.js("document.documentElement.scrollWidth") <= 390
    seen.page.locator("[data-table=kernels] .chooser summary").click()
    box = seen.page.locator("[data-table=kernels] .chooser fieldset").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert seen.page.pdf(format="A4")[:5] == b"%PDF-"
