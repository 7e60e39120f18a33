"""Take README's pictures of pages: `python -m tests.picture` (needs Chromium, and Playwright from the extra `test`).

The first is of the shipped sample, the others of real traces of the shared input; without that they stay as they are.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
TRACES = ROOT.parent / "shared" / "traces"
FOLDER = ROOT / ".github" / "images"


class Picture(NamedTuple):
    """Name a picture, the trace of its page, the title, and the section at its top ("": the page's first screen)."""

    file: str
    trace: Path
    title: str
    section: str
    height: int


PICTURES = (
    Picture("report.jpg", SAMPLE, "", "", 1400),
    Picture(
        "resnet50.jpg",
        TRACES
        / "pytorch__kineto"
        / "tb_plugin__samples__resnet50_num_workers_0__worker0.1623143089861.pt.trace.json.gz",
        "ResNet-50 on a V100, loader without workers",
        "",
        900,
    ),
    Picture(
        "b200.jpg",
        TRACES / "AMD-AGI__TraceLens" / "tests__traces__b200__eager_trace.json.gz",
        "A language model on a B200, eager",
        "timeline",
        820,
    ),
)


def main() -> None:
    """Write the pages and photograph them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for picture in PICTURES:
            if not picture.trace.exists():
                print(f"kept {picture.file}: its trace is not here")
                continue
            page = Path(folder) / f"{picture.file}.html"
            words = ["--title", picture.title] if picture.title else []
            command = [
                sys.executable,
                "-m",
                "traceview",
                "report",
                str(picture.trace),
                "-o",
                str(page),
                *words,
            ]
            subprocess.run(command, check=True)
            view = browser.new_page(viewport={"width": 1200, "height": picture.height})
            view.goto(page.as_uri())
            view.wait_for_timeout(1500)
            if picture.section:
                view.evaluate("id => document.getElementById(id).scrollIntoView()", picture.section)
                view.wait_for_timeout(800)
            target = FOLDER / picture.file
            view.screenshot(path=target, type="jpeg", quality=60)
            view.close()
            print(f"wrote {target} ({target.stat().st_size / 1000:.0f} kB)")
        browser.close()


if __name__ == "__main__":
    main()
