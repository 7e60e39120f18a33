"""The page and the Markdown of a comparison: readable, offline, and safe with any name."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.diff.runs import run, side
from tests.pages import Visitor
from tests.report.test_accessibility import axe
from traceview.diff.compare import Diff, compare
from traceview.diff.gates import judge, parse
from traceview.report.diff_markdown import diff_markdown
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html

EVIL = "</script><img src=https://evil.example/x onerror=alert(1)>|`@user #12\u202egnp"


@cache
def example() -> Diff:
    base = [[("aten::mm", "gemm", 200.0 + i % 3), (EVIL, EVIL + "a", 30.0)] for i in range(10)]
    new = [[("aten::mm", "gemm_fast", 260.0 + i % 3), (EVIL, EVIL + "b", 30.0)] for i in range(10)]
    return compare([side(run(base), "base <b>run</b>")], [side(run(new), "new")])


def page() -> str:
    found = example()
    return render_html(build_diff(found, judge([parse("step_time>5%"), parse("gpu_busy>5%")], found)))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_opens_without_a_complaint_and_axe_finds_no_fault(
    visit: Visitor, theme: str, width: int
) -> None:
    script = axe()
    seen = visit(html=page(), color_scheme=theme, viewport={"width": width, "height": 900}, bypass_csp=True)
    seen.js("TV.drawAll()")
    seen.page.evaluate(script)
    found = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in found] == []
    assert seen.js("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_the_verdict_gates_and_numbers_can_be_read(visit: Visitor) -> None:
    seen = visit(html=page(), java_script_enabled=False)
    text = seen.page.inner_text("main")
    assert "gpu_busy>5%" in text
    assert "✗ fail" in text
    assert "aten::mm" in text
    assert "larger than the noise" in text


def test_the_verdict_is_in_the_first_lines_of_the_markdown() -> None:
    found = example()
    outcomes = judge([parse("gpu_busy>5%")], found)
    text = diff_markdown(build_diff(found, outcomes), found, outcomes)
    lines = text.splitlines()
    assert lines[0].startswith("<!-- traceview:diff:")
    assert lines[1].startswith("### ❌ traceview: Step time")
    assert lines[3].startswith("- ❌ `gpu_busy>5%` fail: ")
    assert len(text) <= 60_000
    outside_code = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    assert "evil.example" in text
    assert "<img" not in outside_code
    assert "@user" not in outside_code


def test_the_marker_stays_the_same_for_another_new_run() -> None:
    found = example()
    other = compare([found.base], [side(run([[("aten::mm", "gemm", 100.0)]] * 6), "another")])
    markers = {diff_markdown(build_diff(d), d, ()).splitlines()[0] for d in (found, other)}
    assert len(markers) == 1
