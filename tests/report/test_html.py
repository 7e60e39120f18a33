"""The page as a document: nothing from outside, hostile names as text, hashes that fit, links that lead somewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.pages import CPU_SAMPLE, GPU_SAMPLE, HOSTILE, html_of, report_of
from traceview.analyses import analyze
from traceview.report import build_report, figures, html, render_html
from traceview.report.view import TableView
from traceview.sources import read_trace

SAMPLES = [GPU_SAMPLE, CPU_SAMPLE, HOSTILE]
EVIL = [
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "\" onmouseover=alert(1) x='",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7 %>",
    "javascript:alert(1)",
    "=cmd|'/c calc'!A1",
    "a\u202ecod.exe\u0000\u001b[2J",
    '<span style="background:url(https://tracker.invalid/x)">',
]


class Document(HTMLParser):
    """Collect elements with their attributes, and the text of scripts, styles and visible parts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag
        if tag in ("script", "style"):
            self.inside.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in ("script", "style"):
            self.inside[self.open][-1] += data
        else:
            self.inside.setdefault("text", []).append(data)

    def attributes(self, name: str) -> list[str]:
        return [str(a[name]) for _, a in self.elements if name in a]


def evil_trace(path: Path) -> Path:
    """Write a trace whose every text is an attack."""
    events: list[dict[str, Any]] = []
    for i, name in enumerate(EVIL):
        at = 100 * i
        call = {"correlation": i}
        gpu = {"correlation": i, "device": 0, "stream": 7}
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 50},
            {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "pid": 1,
                "tid": 1,
                "ts": at + 1,
                "dur": 5,
                "args": call,
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": name,
                "pid": 0,
                "tid": 7,
                "ts": at + 9,
                "dur": 20,
                "args": gpu,
            },
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": name,
                "pid": 1,
                "tid": f"{name}",
                "ts": at,
                "dur": 50,
            },
        ]
    document = {
        "deviceProperties": [{"id": 0, "name": EVIL[0]}],
        "distributedInfo": {"backend": EVIL[0], "rank": 0, "world_size": 2},
        "cuda_runtime_version": EVIL[0],
        "traceName": f"/data/{EVIL[0]}.json",
        "traceEvents": events,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = evil_trace(tmp_path_factory.mktemp("evil") / "evil-<img src=x>.json")
    return render_html(build_report(analyze(read_trace(path))))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_page_names_no_address_outside(sample: str) -> None:
    document = Document(html_of(sample))
    for attribute in ("src", "href", "action", "data", "poster", "srcset"):
        assert all(v.startswith(("#", "data:,")) for v in document.attributes(attribute))
    assert not re.search(r"url\(|@import", "".join(document.inside["style"]))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_policy_allows_exactly_the_scripts_of_the_page(sample: str) -> None:
    text = html_of(sample)
    policy = next(a["content"] for t, a in Document(text).elements if t == "meta" and "http-equiv" in a)
    assert policy is not None
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_link_leads_to_an_element_and_ids_are_unique(sample: str) -> None:
    document = Document(html_of(sample))
    ids = document.attributes("id")
    assert len(ids) == len(set(ids))
    targets = {h.removeprefix("#") for h in document.attributes("href") if h.startswith("#")}
    assert targets <= set(ids)
    assert {v for a in document.attributes("aria-labelledby") for v in a.split()} <= set(ids)


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_element_carries_a_handler(sample: str) -> None:
    assert not [a for _, found in Document(html_of(sample)).elements for a in found if a.startswith("on")]


def test_hostile_texts_make_no_element_and_no_attribute(evil_page: str) -> None:
    assert "<img src=x" not in evil_page
    assert "</script><img" not in evil_page
    document = Document(evil_page)
    assert not [a for _, found in document.elements for a in found if a.startswith("on")]
    assert {t for t, _ in document.elements} & {"img", "iframe", "object", "embed", "form", "base"} == set()
    assert len(document.inside["script"]) == len(html.SCRIPTS) + 2 + 3  # boot, plotly; names, slices, data
    assert not [v for v in document.attributes("style") if "url" in v]


def test_hostile_names_are_shown_as_they_are(evil_page: str) -> None:
    text = "\n".join(Document(evil_page).inside["text"])
    assert EVIL[0] in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in evil_page
    assert "\x1b" not in evil_page
    assert "a\\u202ecod.exe\\u0000\\u001b[2J" in text


def test_labels_of_charts_are_escaped_for_plotly(evil_page: str) -> None:
    data = json.loads(re.search(r'id="tv-data">(.*?)</script>', evil_page, re.DOTALL).group(1))  # type: ignore[union-attr]
    labels = json.dumps([c["figure"]["layout"]["yaxis"].get("ticktext") for c in data["charts"]])
    lines = [t for c in data["charts"] for t in c["figure"]["data"]]
    labels += json.dumps([[t.get("name", ""), t.get("customdata")] for t in lines])
    assert "<" not in labels
    assert "&lt;/script&gt;" in labels


def test_without_scripts_title_key_numbers_and_first_rows_are_there() -> None:
    report = report_of(GPU_SAMPLE)
    text = " ".join("".join(Document(html_of(GPU_SAMPLE)).inside["text"]).split())
    assert report.title in text
    assert report.verdict in text
    for kpi in report.kpis:
        assert f"{kpi.value} {kpi.unit}".strip() in text
    tables = {b.id: b for s in report.sections for b in s.blocks if isinstance(b, TableView)}
    for row in tables["kernels"].rows[:10]:
        assert report.names.label(int(row[0] or 0)) in text
    assert "Scripts are off" in text


def test_a_script_that_could_end_its_block_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_text", lambda path: "var a = '</SCRIPT>';")
    with pytest.raises(ValueError, match="cannot stand inside a page"):
        html._script("x.js")


def test_templates_have_header_comments_and_the_library_its_licence() -> None:
    from traceview.assets import asset

    for path in asset("templates").rglob("*"):
        if path.is_file() and path.parent.name != "vendor":
            assert path.read_text(encoding="utf-8").lstrip()[:3] in ("{#-", "/* "), path
    assert "MIT" in asset("templates/vendor/plotly-basic.LICENSE").read_text(encoding="utf-8")


def test_the_library_is_the_version_the_python_package_makes_figures_for() -> None:
    from plotly.offline import get_plotlyjs_version

    assert figures.library_version().split(".")[0] == get_plotlyjs_version().split(".")[0]


def test_a_library_of_another_major_version_is_warned_about(tmp_path: Path) -> None:
    old = tmp_path / "plotly.js"
    old.write_text("/**\n* plotly.js (basic - minified) v1.58.5\n*/", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"plotly\.js 1\.58\.5"):
        figures.check_library(old)


def test_plotly_accepts_every_figure() -> None:
    import plotly.graph_objects as go

    for section in report_of(GPU_SAMPLE).sections:
        for block in section.blocks:
            for chart in getattr(block, "charts", ()):
                go.Figure(chart.figure)
                assert "template" not in chart.figure["layout"]
