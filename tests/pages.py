"""Reports of shipped samples, and a real browser that counts what a page asks for."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

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


Visitor = Callable[..., Visit]
