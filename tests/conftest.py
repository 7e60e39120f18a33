"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.pages import CHROMIUM, FLAGS, GPU_SAMPLE, Visit, Visitor, html_of

# A busy machine is no failure, so examples have no deadline. CI draws the same ones each time: what it finds is found
# again, and a change is not blamed for an example that nobody had tried before.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


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
