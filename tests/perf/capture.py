"""Measure what record().step() costs while nothing is recorded, over a bare torch.profiler: `python tests/perf/capture.py`.

Both step through wait windows by turns; the best of several rounds counts, since another program can only add time.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_US = 5.0
ENDLESS = 1_000_000_000


def per_step(step: Callable[[], None], steps: int) -> float:
    """Return microseconds per call."""
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - start) / steps * 1e6


def measure(steps: int = 20_000, rounds: int = 7) -> tuple[float, float]:
    """Return microseconds per step of a bare profiler and of record()."""
    from torch.profiler import ProfilerActivity, profile, schedule

    from traceview.capture import record

    bare, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            waiting = schedule(wait=ENDLESS, warmup=1, active=1)
            with profile(activities=[ProfilerActivity.CPU], schedule=waiting) as profiler:
                bare.append(per_step(profiler.step, steps))
            with (
                redirect_stderr(io.StringIO()),  # that nothing was recorded is no news
                record("overhead", folder, wait=ENDLESS, warmup=1, active=6, quiet=True) as recording,
            ):
                ours.append(per_step(recording.step, steps))
    return min(bare), min(ours)


def main() -> int:
    """Print both and what is added; 1 where it is too much."""
    bare, ours = measure()
    print(
        f"bare profiler {bare:.2f} us, record() {ours:.2f} us, added {ours - bare:+.2f} us of {LIMIT_US} allowed"
    )
    return int(ours - bare > LIMIT_US)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
