"""Take README's picture of the page: `python -m tests.picture` (needs Chromium, and Playwright from the extra `test`)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
PICTURE = ROOT / ".github" / "images" / "report.jpg"


def main() -> None:
    """Write the page of the synthetic sample and photograph its first screen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        subprocess.run(
            [sys.executable, "-m", "traceview", "report", str(SAMPLE), "-o", str(page)], check=True
        )
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1200, "height": 1400})
        view.goto(page.as_uri())
        view.wait_for_timeout(1500)
        PICTURE.parent.mkdir(exist_ok=True)
        view.screenshot(path=PICTURE, type="jpeg", quality=72)
        browser.close()
    print(f"wrote {PICTURE} ({PICTURE.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main()
