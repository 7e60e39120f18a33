"""A trace whose every text attacks: whatever is pressed, nothing runs, nothing is asked for, nothing is invisible."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import pytest

from tests.pages import Visitor
from tests.report.test_html import EVIL, Document
from traceview.analyses import analyze, load_rules
from traceview.assets import asset
from traceview.report import ReportOptions, build_report, html, render_html
from traceview.report.codec import script_json
from traceview.sources import read_trace

INVISIBLE = "\u202e\u2066\u0007\u2028\u2029\ufeff\u200b\u0085\x1b[2J"
LIVE = "img, iframe, object, embed, form, base, link:not([rel=icon]), a[href^=javascript], main a:not([href^='#'])"


def attack(number: int) -> str:
    """Return a text that attacks; HTML, formulas, templates and invisible characters in turn."""
    return EVIL[number % len(EVIL)] + INVISIBLE


def besieged(path: Path) -> Path:
    """Write a trace of five steps with every part that a page has: copies, collectives, waits, streams, ranges."""
    events: list[dict[str, Any]] = []

    def host(kind: str, name: str, at: float, dur: float, **args: Any) -> None:
        events.append(
            {
                "ph": "X",
                "cat": kind,
                "name": name,
                "pid": 9,
                "tid": attack(2),
                "ts": at,
                "dur": dur,
                "args": args,
            }
        )

    def gpu(kind: str, name: str, at: float, dur: float, stream: Any, **args: Any) -> None:
        args = {"device": 0, "stream": stream, **args}
        events.append(
            {
                "ph": "X",
                "cat": kind,
                "name": name,
                "pid": 0,
                "tid": stream,
                "ts": at,
                "dur": dur,
                "args": args,
            }
        )

    for step in range(5):
        at, ids = 1000 * step, 100 * step
        host("user_annotation", f"ProfilerStep#{step}", at, 950)
        host("user_annotation", attack(step), at + 1, 900)
        for i in range(len(EVIL)):
            begin = at + 10 + 60 * i
            host("cpu_op", attack(i), begin, 50)
            host("cuda_runtime", "cudaLaunchKernel", begin + 1, 5, correlation=ids + i)
            gpu("kernel", attack(i), begin + 20, 9, attack(3) if i % 2 else 7, correlation=ids + i)
        host("cuda_runtime", "cudaDeviceSynchronize" + attack(1), at + 600, 150)
        host("cuda_runtime", "cudaMemcpyAsync", at + 800, 5, correlation=ids + 50)
        gpu("gpu_memcpy", "Memcpy HtoD" + attack(0), at + 810, 9, 7, correlation=ids + 50, bytes=999)
        host("cuda_runtime", "cudaLaunchKernel", at + 830, 5, correlation=ids + 51)
        words = {
            "Collective name": attack(0),
            "dtype": attack(4),
            "Process Group Name": attack(5),
            "Process Group Ranks": attack(6),
        }
        gpu("kernel", "ncclDevKernel_AllReduce" + attack(0), at + 840, 40, attack(7), correlation=ids + 51, **words,
            **{"In msg nelems": 9, "Out msg nelems": 9, "Group size": 2})  # fmt: skip
    document = {
        "deviceProperties": [{"id": 0, "name": attack(0)}],
        "distributedInfo": {"backend": attack(0), "rank": 0, "world_size": 2},
        "cuda_runtime_version": attack(0),
        "traceName": f"/data/{attack(0)}.json",
        "traceEvents": events,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("besieged")
    return render_html(build_report(analyze(read_trace(besieged(folder / "t.json")))))


def test_no_invisible_character_reaches_the_page_anywhere(page: str) -> None:
    assert [c for c in INVISIBLE if not c.isprintable() and c in page] == []
    data = re.search(r'id="tv-data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    texts: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, str):
            texts.append(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            collect(inner)

    collect(json.loads(data.group(1)))  # what the escapes of the JSON stand for
    assert [t for t in texts if not t.isprintable()] == []
    assert any("\\u202e" in t for t in texts)


def test_the_title_and_every_attribute_hold_text_only(page: str) -> None:
    document = Document(page)
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert title is not None
    assert "<" not in title.group(1)
    for name in ("aria-label", "title", "id", "class", "data-row", "alt"):
        assert all(v.isprintable() for v in document.attributes(name)), name
    assert not [a for _, found in document.elements for a in found if a.startswith("on")]


def test_a_title_that_was_asked_for_is_text_too(tmp_path: Path) -> None:
    options = ReportOptions(title=attack(0))
    page = render_html(build_report(analyze(read_trace(besieged(tmp_path / "t.json"))), options))
    assert "<title>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\\u202e" in page


def test_whatever_is_pressed_nothing_runs_and_nothing_is_asked_for(visit: Visitor, page: str) -> None:
    seen = visit(html=page)
    seen.js("TV.drawAll()")
    seen.until("document.querySelectorAll('.plot svg').length > 3")
    seen.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    pressed = seen.js(
        """(() => {
          const found = [...document.querySelectorAll("[data-table] button:not(:disabled)")].filter(b => !/Copy/.test(b.textContent));
          found.forEach(b => b.click());
          return found.length;
        })()"""
    )
    assert pressed > 60
    boxes = "[data-table] .chooser input"
    seen.js(f"document.querySelectorAll('{boxes}').forEach(b => b.click())")
    seen.js(f"document.querySelectorAll('{boxes}').forEach(b => b.click())")
    for text in (*EVIL, "/</script>/", "/(a+)+$/", "/[/", "/\\u202e/"):
        seen.page.locator("[data-table=operators] input[type=search]").evaluate(
            "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }", text
        )
    seen.until("document.querySelectorAll('[data-table=operators] tbody tr').length > 0")
    assert seen.js(f'document.querySelectorAll("{LIVE}").length') == 0
    shown = seen.js("document.body.innerText")
    assert [c for c in INVISIBLE if not c.isprintable() and c in shown] == []


def test_the_hover_of_charts_shows_names_as_text(visit: Visitor, page: str) -> None:
    seen = visit(html=page)
    seen.js("TV.drawAll()")
    seen.until("document.querySelectorAll('.plot svg').length > 3")
    charts = seen.js("[...document.querySelectorAll('.plot')].map(p => p.id)")
    assert {"chart-steps", "chart-launch", "chart-causes"} <= set(charts)
    for chart in charts:
        for curve in range(seen.js(f"document.getElementById('{chart}').data.length")):
            for point in range(3):
                seen.js(f"Plotly.Fx.hover('{chart}', [{{curveNumber: {curve}, pointNumber: {point}}}])")
        assert seen.js(f"document.querySelectorAll('#{chart} .hoverlayer :is(a, image, img)').length") == 0
    seen.js("Plotly.Fx.hover('chart-launch', [{curveNumber: 0, pointNumber: 1}])")
    seen.until("document.querySelector('#chart-launch .hoverlayer').textContent.length > 0")
    assert not re.search(
        r"[\u202e\u2066\u2028]", seen.js("document.querySelector('#chart-launch').textContent")
    )


def test_the_csv_of_every_table_is_safe_for_spreadsheets(visit: Visitor, page: str) -> None:
    seen = visit(html=page)
    for name in seen.js("Object.keys(TV.tables)"):
        rows = list(csv.reader(io.StringIO(seen.js(f"TV.tables['{name}'].asCsv()"))))
        assert len({len(r) for r in rows}) == 1
        cells = [c for r in rows for c in r]
        assert [c for c in cells if c[:1] in tuple("=+@-\t\r") and not re.fullmatch(r"-?[\d.e+-]+", c)] == []
        assert [c for c in cells if not c.isprintable()] == []


def test_a_category_of_a_user_is_text_on_charts_legends_and_tables(visit: Visitor, tmp_path: Path) -> None:
    rules = tmp_path / "evil.rules"
    rules.write_text("</script><iframe>\u202e = script\n", encoding="utf-8")
    trace = read_trace(besieged(tmp_path / "t.json"))
    made = render_html(build_report(analyze(trace, load_rules(rules))))
    assert "\u202e" not in made
    seen = visit(html=made)
    seen.js("TV.drawAll()")
    seen.until("document.querySelectorAll('#chart-categories svg').length > 0")
    assert "</script><iframe>\\u202e" in seen.js(
        "document.querySelector('[data-table=categories]').innerText"
    )
    assert seen.js(f'document.querySelectorAll("{LIVE}").length') == 0


def test_templates_escape_everything_and_refuse_what_is_not_defined() -> None:
    environment = html._environment()
    assert environment.autoescape is True
    assert environment.from_string("{{ name }}").render(name=EVIL[0]).startswith("&lt;/script&gt;")
    with pytest.raises(jinja2.UndefinedError):
        environment.from_string("{{ nothing }}").render()


def test_json_in_the_page_can_end_no_block_and_no_line() -> None:
    text = script_json({"a": "</script><!--&\u2028\u2029"})
    assert text == '{"a":"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\u2029"}'
    assert json.loads(text) == {"a": "</script><!--&\u2028\u2029"}


def test_no_style_moves_anything_or_asks_for_anything() -> None:
    styles = "".join(asset(f"templates/css/{name}.css").read_text(encoding="utf-8") for name in html.STYLES)
    assert not re.search(r"@keyframes|@import|url\(|smooth|transition:(?! none)|animation:(?! none)", styles)


def test_headings_leave_no_level_out_and_the_focus_follows_the_page(page: str) -> None:
    document = Document(page)
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    tags = [tag for tag, _ in document.elements]
    assert [tags.count(t) for t in ("main", "header", "nav", "footer")] == [1, 1, 1, 1]
    assert set(document.attributes("tabindex")) <= {"0", "-1"}
    assert tags.count("table") <= tags.count("caption")
