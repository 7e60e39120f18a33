"""The command on the page: the options that were given, and names of files without their folders."""

from __future__ import annotations

from pathlib import Path

from tests.pages import GPU_SAMPLE, Visitor, html_of
from traceview.assets import asset
from traceview.cli import run


def test_the_page_shows_its_command_with_the_bare_names_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "private folder"
    folder.mkdir()
    trace = folder / "run.json.gz"
    trace.write_bytes(asset(GPU_SAMPLE).read_bytes())
    page = tmp_path / "page.html"
    arguments = ["report", str(trace), "--quiet", "--top", "7", "--skip-first", "1", "-o", str(page)]
    assert run(arguments) == 0
    text = page.read_text(encoding="utf-8")
    assert "<code>traceview report --skip-first 1 --top 7 run.json.gz</code>" in text
    assert "private folder" not in text


def test_a_button_copies_the_key_facts(visit: Visitor) -> None:
    seen = visit(html=html_of(GPU_SAMPLE))
    seen.js(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: (t) => { window.kept = t; return Promise.resolve(); }}})"
    )
    seen.page.locator("[aria-label='Copy: Key facts as JSON']").click()
    facts = seen.js("JSON.parse(window.kept)")
    assert facts["schema"] == "traceview.summary/1"
    assert facts["facts"]
