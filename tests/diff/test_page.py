"""The page and the Markdown of a comparison: readable, offline, and safe with any name."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.diff.runs import run, side
from tests.pages import Visitor
from tests.report.test_accessibility import axe
from traceview.diff.compare import Diff, compare
from traceview.diff.gates import judge, parse
from traceview.report.diff_markdown import diff_markdown
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html
from traceview.report.view import Block, ChangesView, ChartsView, Report, TableView, TimelineView

GOLDEN = Path(__file__).parent / "golden" / "slower-and-renamed.json"

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
    assert "▲ more" in text
    assert (
        text.index("Step time unchanged")
        < text.index("What changed")
        < text.index("The timeline needs scripts")
    )
    assert "+60.00" in text  # the change of mm in us


def plain(report: Report) -> dict[str, Any]:
    """Return what a reader sees of a comparison, as JSON-able data; names as their labels."""

    def cell(value: Any, form: str) -> Any:
        return report.names.label(value) if form == "name" else value

    def block(view: Block) -> Any:
        if isinstance(view, TableView):
            forms = [c.form for c in view.columns]
            rows = [[cell(v, f) for v, f in zip(row, forms, strict=True)] for row in view.rows]
            heads = [f"({c.label})" if c.hidden else c.label for c in view.columns]
            return {view.id: [heads, *rows]}
        if isinstance(view, ChangesView):
            return [f"{c.mark} {c.word}: {''.join(s.text for s in c.text)}" for c in view.items]
        if isinstance(view, ChartsView):
            return {c.id: [c.alt, c.table] for c in view.charts}
        if isinstance(view, TimelineView):
            return {"lanes": [lane.label for lane in view.lanes], "windows": [w.label for w in view.windows]}
        return None

    return {
        "title": report.title,
        "verdict": report.verdict,
        "chips": {c.label: c.text for c in report.chips},
        "banner": [report.banner_title, *(line.text for line in report.banner)],
        "kpis": {k.label: f"{k.value} {k.unit} {k.detail}" for k in report.kpis},
        "sections": {s.id: s.empty or [b for b in map(block, s.blocks) if b] for s in report.sections},
    }


def test_a_comparison_makes_the_report_of_its_golden_file() -> None:
    """Compare with the file; UPDATE_GOLDEN=1 writes it after a look at what differs."""
    found = example()
    report = build_diff(found, judge([parse("step_time>5%"), parse("gpu_busy>5%")], found))
    text = json.dumps(plain(report), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_banner_says_whether_to_take_care_or_not_to_compare_at_all() -> None:
    base = side(run([[("aten::mm", "gemm", 200.0)]] * 6))
    fewer = side(run([[("aten::mm", "gemm", 200.0)]] * 8))
    other = side(run([[("aten::bmm", "gemm", 200.0)]] * 6, "[[64, 64]]"))
    found = [build_diff(compare([base], [new])) for new in (base, fewer, other)]
    told = [(r.banner_title, bool(r.banner)) for r in found]
    assert told == [
        ("With care", True),
        ("With care", True),
        ("Not comparable", True),
    ]  # no switches are recorded
    assert "<strong>Not comparable</strong>" in render_html(found[2])
    assert found[2].verdict.startswith("Not comparable: ")


def test_conditions_that_differ_stand_apart_from_those_that_are_alike() -> None:
    base, new = ([[("aten::mm", "gemm", 200.0)]] * n for n in (6, 8))
    report = build_diff(compare([side(run(base))], [side(run(new))]))
    section = next(s for s in report.sections if s.id == "environment")
    tables = {b.id: {row[0] for row in b.rows} for b in section.blocks if isinstance(b, TableView)}
    assert "compared steps" in tables["environment"]
    assert "device records" in tables["alike"]
    assert not tables["environment"] & tables["alike"]


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
