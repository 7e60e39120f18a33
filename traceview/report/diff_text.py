"""A comparison for the terminal: the verdict, what to care about, what changed, gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traceview.diff.changes import signed, statements, verdict
from traceview.diff.claims import COUNTS
from traceview.diff.comparability import FINE
from traceview.diff.compare import Diff
from traceview.diff.gates import Outcome
from traceview.units import count, duration, safe, shown

NAMES = {
    "step_time": "step time", "wall": "host wall", "gpu_busy": "GPU busy", "gpu_idle": "GPU idle",
    "compute": "compute", "exposed_comm": "exposed communication", "exposed_copy": "exposed copies",
    "kernel_time": "kernel time", "kernels": "kernels", "launches": "launches", "syncs": "synchronisations",
    "launch_cpu": "launch CPU time",
}  # fmt: skip
_WIDE = 44


def diff_text(diff: Diff, outcomes: Sequence[Outcome], top: int) -> str:
    """Return the comparison as plain lines."""
    return safe_lines(_lines(diff, outcomes, top))


def safe_lines(lines: Iterator[str]) -> str:
    """Return lines in which no character of a name can act on a terminal."""
    return "".join(f"{safe(line)}\n" for line in lines)


def _lines(diff: Diff, outcomes: Sequence[Outcome], top: int) -> Iterator[str]:
    yield f"{diff.base.label} → {diff.new.label}"
    yield verdict(diff)
    if diff.comparability.verdict != FINE:
        yield f"{diff.comparability.verdict.capitalize()}: {'; '.join(diff.comparability.reasons)}."
    for outcome in outcomes:
        yield f"Gate {outcome.gate.text}: {outcome.state} ({outcome.why})"
    yield ""
    yield "What changed:"
    found = statements(diff)
    yield from (f"  {'*' if s.claimed else '~'} {s.text}" for s in found)
    if not found:
        yield "  nothing above half a percent of the time"
    if diff.headlines:
        yield ""
        yield f"  {'':24}{'base':>12}{'new':>12}{'change':>14}"
        for key, judged in diff.headlines.items():
            show = (lambda v: count(round(v))) if key in COUNTS else duration
            delta = f"{judged.delta:+,.0f}" if key in COUNTS else signed(judged.delta)
            mark = "*" if judged.claimed else "~"
            yield f"{mark} {NAMES[key]:24}{show(judged.base):>12}{show(judged.new):>12}{delta:>14}"
    yield ""
    yield f"Work by operator and shapes, per {diff.per}:"
    yield f"  {'':{_WIDE}}{'base':>12}{'new':>12}{'change':>14}{'calls':>16}"
    for row in diff.rows[:top]:
        change, mark = row.change, "*" if row.judgement.claimed else "~"
        calls = f"{_number(float(change.base_calls))} → {_number(float(change.new_calls))}"
        times = (
            f"{duration(float(change.base)):>12}{duration(float(change.new)):>12}{signed(change.delta):>14}"
        )
        yield f"{mark} {shown(row.group.label, _WIDE - 2):{_WIDE}}{times}{calls:>16}"
    if len(diff.rows) > top:
        yield f"  and {count(len(diff.rows) - top)} more"
    yield "* larger than the noise   ~ noise could explain it, or not tested"


def _number(value: float) -> str:
    return count(int(value)) if value == int(value) else f"{value:,.1f}"
