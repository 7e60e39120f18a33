"""Reports of shipped samples, and a real browser that counts what a page asks for."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from traceview.analyses import analyze
from traceview.assets import asset
from traceview.report import Report, ReportOptions, build_report, render_html
from traceview.sources import read_trace

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
GPU_SAMPLE = "sample_traces/demo/gpu-training-synthetic.json.gz"
CPU_SAMPLE = "sample_traces/demo/cpu-training-torch.json.gz"
HOSTILE = "sample_traces/quirks/hostile-names.json"


@cache
def report_of(sample: str, options: ReportOptions | None = None) -> Report:
    """Return the report of a shipped sample, made once."""
    return build_report(analyze(read_trace(asset(sample))), options)


@cache
def html_of(sample: str) -> str:
    """Return the page of a shipped sample."""
    return render_html(report_of(sample))


@dataclass
class Visit:
    """Hold a page open in a browser, and everything it complained about or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, code: str) -> Any:
        """Evaluate an expression in the page."""
        return self.page.evaluate(code)

    def until(self, code: str) -> None:
        """Wait for an expression to hold; polled from here because the page's policy forbids eval."""
        end = time.monotonic() + 20
        while not self.js(code):
            assert time.monotonic() < end, f"still not true: {code}; {self.complaints}"
            time.sleep(0.02)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return Chromium; without it these tests cannot say anything, and CI must have it."""
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "CI needs chromium"
        pytest.skip("no chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


Visitor = Callable[..., Visit]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visitor]:
    """Open pages of samples; at the end of the test nothing may have been complained about or requested."""
    visits: list[tuple[Any, Visit]] = []

    def open_page(sample: str = GPU_SAMPLE, html: str | None = None, link: str = "", **context: Any) -> Visit:
        path = tmp_path / f"page{len(visits)}.html"
        path.write_text(html if html is not None else html_of(sample), encoding="utf-8")
        settings = {"viewport": {"width": 1280, "height": 900}, **context}
        opened = browser.new_context(**settings)
        page = opened.new_page()
        seen = Visit(page)
        page.on(
            "console", lambda m: seen.complaints.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda e: seen.complaints.append(str(e)))

        def refuse(dialog: Any) -> None:
            seen.complaints.append(f"dialog {dialog.message}")
            dialog.dismiss()

        page.on("dialog", refuse)
        page.on("request", lambda r: seen.requests.append(r.url))
        page.goto(f"file://{path}{link}")
        visits.append((opened, seen))
        if settings.get("java_script_enabled", True):
            seen.until("window.TV_READY === true")
        return seen

    yield open_page
    for opened, seen in visits:
        outside = [u for u in seen.requests if not u.startswith(("file:", "data:", "blob:"))]
        opened.close()
        assert seen.complaints == []
        assert outside == []
