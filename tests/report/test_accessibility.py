"""What axe-core, the checker of web accessibility rules, finds in the pages."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tests.pages import CPU_SAMPLE, GPU_SAMPLE, HOSTILE, Visitor

PACKAGE = "axe_playwright_python"  # it ships axe.min.js; its own wrapper is not used


def axe() -> str:
    """Return the checker's script; a machine of the CI must have it."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        assert not os.environ.get("CI"), f"CI needs {PACKAGE}"
        pytest.skip(f"{PACKAGE} is not installed")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sample", [GPU_SAMPLE, CPU_SAMPLE, HOSTILE])
def test_axe_finds_no_fault(visit: Visitor, sample: str, theme: str) -> None:
    script = axe()
    seen = visit(sample, color_scheme=theme, bypass_csp=True)  # the page's policy lets no foreign script in
    seen.js("TV.drawAll()")
    if seen.page.locator("td.name > button").count():
        seen.page.locator("td.name > button").first.click()
    seen.js("TV.line.choose(0, false)")
    seen.js("TV.line.measure.drag(0, TV.line.model.span / 3, true)")
    seen.page.evaluate(script)
    found = seen.page.evaluate("axe.run(document).then(r => r.violations)")
    faults = [(v["id"], v["nodes"][0]["html"][:160], v["nodes"][0].get("failureSummary")) for v in found]
    assert faults == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_fault_in_the_list_of_keys(visit: Visitor, theme: str) -> None:
    script = axe()
    seen = visit(color_scheme=theme, bypass_csp=True, viewport={"width": 390, "height": 600})
    seen.page.keyboard.press("?")
    seen.page.evaluate(script)
    found = seen.page.evaluate("axe.run('dialog').then(r => r.violations)")
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in found] == []
