"""Measure the page in a browser: how fast one draw of the timeline is, how large the page is, when it is ready.

    python tests/perf/page.py [--keep FOLDER] [--slices 1000000] [--steps 5000]

Writes a crowd of 1.0 M slices of uneven lengths in some 40 rows, whose page with `--timeline-budget 1000000` is drawn
again and again, over the whole, at every zoom and along pans; and the recipe (recipe.py) of 5.0 M events, whose page
with defaults is weighed and opened. Prints the figures with the limits they must keep; the exit status is 1 when one is missed. Needs
Chromium and Playwright; takes about two minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import recipe  # type: ignore[import-not-found]  # a script finds its neighbours
from bench import ROOT, Limit  # type: ignore[import-not-found]

sys.path.insert(0, str(ROOT))
from tests.pages import CHROMIUM, FLAGS

LOADS = 3
KERNELS = ("gemm_64x64", "ncclDevKernel_AllReduce", "layer_norm", "vectorized_elementwise_kernel", "mix")
_SLICE = '{"ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d, "ts": %d.%03d, "dur": %d.%03d, "args": {%s}}'
_DRAWS = """() => new Promise((done) => {
  const line = TV.line, span = line.model.span, views = [], found = [];
  for (let i = 0; i < 20; i++) views.push([0, span * (1 - i / 1000)]);
  for (let part = 1; part > 1e-6; part *= 0.8) for (const at of [0.1, 0.5, 0.9]) views.push([span * at * (1 - part), span * (at * (1 - part) + part)]);
  for (const part of [0.5, 0.1, 0.01, 0.001]) for (let i = 0; i < 30; i++) views.push([span * part * i / 30, span * (part * i / 30 + part)]);
  const step = () => {
    const next = views.shift();
    if (!next) { done(found); return; }
    line.show(...next); line.flush(); found.push(line.last);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
_FRAMES = """() => new Promise((done) => {
  const line = TV.line, span = line.model.span, found = [];
  let last = performance.now(), n = 0;
  const step = (now) => {
    found.push(now - last); last = now;
    if (++n > 120) { done(found.slice(1)); return; }
    line.show(span * 0.002 * n, span * (0.5 + 0.002 * n)); requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def slice_of(cat: str, name: str, lane: int, at: int, dur: int) -> str:
    """Return an event; times in ns, kernels on stream `lane` of one device, the rest on a thread."""
    kernel = cat == "kernel"
    args = f'"device": 0, "stream": {lane}' if kernel else ""
    place = (0 if kernel else 900, lane, at // 1000, at % 1000, dur // 1000, dur % 1000)
    return _SLICE % (cat, name, *place, args)


def write_crowd(slices: int, out: Path) -> None:
    """Write eight threads of calls three deep and eight streams of kernels, all of uneven lengths."""
    dice = random.Random(5)
    operators = [f"oven::op_{i}" for i in range(300)]
    clock = [0] * 16
    with gzip.open(out, "wt", compresslevel=1, encoding="ascii") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for i in range(slices // 4):
            lane = i % 8
            begin, lasts = clock[lane] + dice.randrange(200), 3_000 + dice.randrange(40_000)
            calls = [(begin, lasts), (begin + 100, lasts // 2), (begin + 200, lasts // 3)]
            events = [slice_of("cpu_op", dice.choice(operators), lane, *call) for call in calls]
            at, dur = clock[8 + lane] + dice.randrange(9_000), 500 + dice.randrange(30_000)
            events.append(slice_of("kernel", dice.choice(KERNELS), lane, at, dur))
            clock[lane], clock[8 + lane] = begin + lasts, at + dur
            file.write((",\n" if i else "") + ",\n".join(events))
        file.write("]}\n")


def write_page(folder: Path, kind: str, size: int, *options: str) -> Path:
    """Write the trace, unless it is there, and its page; return the page."""
    trace = folder / f"{kind}-{size}.json.gz"
    if not trace.exists():
        (write_crowd if kind == "crowd" else recipe.write)(size, trace)
    page, begun = folder / f"{kind}-{size}.html", time.perf_counter()
    command = [sys.executable, "-m", "traceview", "report", str(trace), "-o", str(page), "--force", *options]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    took, size_mb = time.perf_counter() - begun, page.stat().st_size / 1e6
    print(
        f"{kind} of {size:,}, {' '.join(options) or 'defaults'}: page of {size_mb:.2f} MB in {took:.1f} s",
        flush=True,
    )
    return page


def opened(browser: Any, page: Path) -> tuple[Any, float]:
    """Open a page in a fresh context; return it and when it was ready, in ms from the beginning of the visit."""
    tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    tab.goto(f"file://{page.resolve()}")
    while not tab.evaluate("window.TV_READY === true"):
        time.sleep(0.02)
    return tab, float(tab.evaluate("performance.getEntriesByName('tv-ready')[0].startTime"))


def ready(browser: Any, page: Path) -> float:
    """Return the median of a few visits."""
    found = []
    for _ in range(LOADS):
        tab, at = opened(browser, page)
        found.append(at)
        tab.context.close()
    print(f"  ready after {', '.join(f'{t:.0f}' for t in found)} ms", flush=True)
    return statistics.median(found)


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(0.95 * (len(values) - 1))]


def draws(browser: Any, page: Path) -> float:
    """Return the 95th percentile of many draws, in ms; print more."""
    tab, _ = opened(browser, page)
    items = tab.evaluate("TV.line.model.items")
    found, frames = tab.evaluate(_DRAWS), tab.evaluate(_FRAMES)
    tab.context.close()
    print(
        f"  {items:,} items; {len(found)} draws: median {statistics.median(found):.1f}, p95 {p95(found):.1f}, max {max(found):.1f} ms"
    )
    print(
        f"  frames of a pan over half the trace: median {statistics.median(frames):.1f}, p95 {p95(frames):.1f} ms",
        flush=True,
    )
    return p95(found)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slices", type=int, default=1_000_000, help="slices all drawn (default 1,000,000)")
    parser.add_argument("--steps", type=int, default=5000, help="steps of the recipe (default 5000)")
    parser.add_argument(
        "--keep", type=Path, help="write traces and pages here and use the traces again next time"
    )
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = options.keep or Path(temporary)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        full = write_page(folder, "crowd", options.slices, "--timeline-budget", "1000000")
        drawn = draws(browser, full)
        ready(browser, full)
        usual = write_page(folder, "recipe", options.steps)
        limits = [
            Limit("budget 1,000,000: ms of a draw, p95", drawn, 14, at_least=False),
            Limit("defaults: MB of the page", usual.stat().st_size / 1e6, 2.5, at_least=False),
            Limit("defaults: ms until ready", ready(browser, usual), 1000, at_least=False),
        ]
        browser.close()
    print(*limits, sep="\n")
    return 0 if all(limit.holds for limit in limits) else 1


if __name__ == "__main__":
    sys.exit(main())
