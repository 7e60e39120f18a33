"""Measure traceview against the script people write by hand, whole processes, in one run.

    python tests/perf/bench.py [--runs 5] [--steps 2000] [--skip-8000] [--keep FOLDER]

Writes the recipe (recipe.py) of 2,000 steps and of four times as many, then runs by turns: the baseline, the reader,
`summary`, `report`. Prints medians of wall time and of peak memory, and the ratios with the limits they must keep;
the exit status is 1 when one is missed. Takes about four minutes on two quiet cores. See README.md beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import recipe  # type: ignore[import-not-found]  # a script finds its neighbours

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WATCH_SECONDS = 0.05
LONG_RUNS = 3  # a run of 8,000 steps takes long enough to be steady
_READ = """
import sys, traceview
trace = traceview.read_trace(sys.argv[1])
a = trace.account
assert a.events_read == a.used + sum(a.ignored.values()), a
assert len(trace.slices) == int(sys.argv[2]), len(trace.slices)
"""


@dataclass(frozen=True)
class Measured:
    """One whole process and its children: wall time and time on cores in seconds, peak memory in MB."""

    seconds: float
    on_cores: float
    megabytes: float


@dataclass(frozen=True)
class Limit:
    """A ratio and the bound it must keep."""

    what: str
    value: float
    bound: float
    at_least: bool

    @property
    def holds(self) -> bool:
        """Tell whether the bound is kept."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return (
            f"{self.what:46} {self.value:8.2f}   {sign} {self.bound:<6g} {'ok' if self.holds else 'MISSED'}"
        )


def measure(command: Sequence[str]) -> Measured:
    """Run a process to its end; stop the benchmark when it fails."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    watch = TreeWatch(process.pid)
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    watch.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed with status {process.returncode}: {' '.join(map(str, command))}")
    scale = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kB elsewhere
    on_cores = usage.ru_utime + usage.ru_stime
    return Measured(seconds, on_cores, max(usage.ru_maxrss / scale, watch.peak_kb / 1e3))


class TreeWatch(threading.Thread):
    """Watch the memory of a process with all its children, each shared page counted once.

    The kernel's own peak is exact, but of the largest process alone: a reader with helpers must not look small.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_kb = 0
        self._pid = pid
        self._over = threading.Event()

    def run(self) -> None:
        """Look every so often until told to stop."""
        while not self._over.wait(WATCH_SECONDS):
            self.peak_kb = max(self.peak_kb, tree_kb(self._pid))

    def stop(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()


def tree_kb(pid: int) -> int:
    """Return the proportional memory of a process and its children in kB, 0 where the system does not tell."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        children = [
            c for t in Path(f"/proc/{pid}/task").iterdir() for c in (t / "children").read_text().split()
        ]
    except OSError:  # it has ended meanwhile, or this is no Linux
        return 0
    own = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return own + sum(tree_kb(int(child)) for child in children)


def commands(trace: Path, steps: int) -> dict[str, list[str]]:
    """Return what is measured, by name."""
    python, cli = sys.executable, [sys.executable, "-m", "traceview"]
    page = str(trace.with_suffix(".html"))
    return {
        "baseline": [python, str(HERE / "baseline.py"), str(trace.parent)],
        "read": [python, "-c", _READ, str(trace), str(steps * recipe.EVENTS_PER_STEP)],
        "summary": [*cli, "summary", str(trace), "--format", "json"],
        "report": [*cli, "report", str(trace), "-o", page, "--force"],
    }


def medians(chosen: dict[str, list[str]], runs: int) -> dict[str, Measured]:
    """Run all commands by turns, so that a busy moment of the machine hits all of them."""
    seen: dict[str, list[Measured]] = {name: [] for name in chosen}
    for _ in range(runs):
        for name, command in chosen.items():
            seen[name].append(measure(command))
    for name, all_of in seen.items():
        fastest, slowest = min(m.seconds for m in all_of), max(m.seconds for m in all_of)
        middle, spread = middle_of(all_of), f"{fastest:.2f} to {slowest:.2f}"
        times = f"{middle.seconds:8.2f} s  ({spread:>14}) {middle.on_cores:8.2f} s on cores"
        print(f"  {name:10} {times} {middle.megabytes:7.0f} MB peak", flush=True)
    return {name: middle_of(all_of) for name, all_of in seen.items()}


def middle_of(all_of: Sequence[Measured]) -> Measured:
    """Return the median of each figure."""
    return Measured(*(statistics.median(figures) for figures in zip(*map(astuple, all_of), strict=True)))


def write_recipe(folder: Path, steps: int) -> Path:
    """Write the recipe into a folder of its own, or take the one that is there."""
    trace = folder / str(steps) / "recipe.json.gz"
    if not trace.exists():
        trace.parent.mkdir(parents=True, exist_ok=True)
        recipe.write(steps, trace)
    print(
        f"{steps:,} steps, {steps * recipe.EVENTS_PER_STEP:,} events, {trace.stat().st_size / 1e6:.0f} MB gzip:"
    )
    return trace


def short_limits(m: dict[str, Measured], steps: int) -> list[Limit]:
    """Compare traceview with the baseline on one file."""
    base, read = m["baseline"], m["read"]
    allowed = 120 + 130 * steps * recipe.EVENTS_PER_STEP / 1e6
    return [
        Limit("read: times faster than the script", base.seconds / read.seconds, 4, at_least=True),
        Limit(
            "read: share of the script's peak memory", read.megabytes / base.megabytes, 0.2, at_least=False
        ),
        Limit("read: MB, against 120 MB + 130 bytes an event", read.megabytes, allowed, at_least=False),
        Limit("report: times faster than the script", base.seconds / m["report"].seconds, 2.5, at_least=True),
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="processes per command (default 5)")
    parser.add_argument("--steps", type=int, default=2000, help="steps of the recipe (default 2000)")
    parser.add_argument("--skip-8000", action="store_true", help="leave out the trace four times as long")
    parser.add_argument("--keep", type=Path, help="write the traces here and use them again next time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        short = medians(commands(write_recipe(folder, options.steps), options.steps), options.runs)
        limits = short_limits(short, options.steps)
        if not options.skip_8000:
            chosen = commands(write_recipe(folder, options.steps * 4), options.steps * 4)
            del chosen["baseline"]  # needs 8 GB there
            long = medians(chosen, min(options.runs, LONG_RUNS))
            limits += [
                Limit(
                    f"{n}: time for four times the steps",
                    long[n].seconds / short[n].seconds,
                    4.6,
                    at_least=False,
                )
                for n in chosen
            ]
    print(*limits, sep="\n")
    return 0 if all(limit.holds for limit in limits) else 1


if __name__ == "__main__":
    sys.exit(main())
