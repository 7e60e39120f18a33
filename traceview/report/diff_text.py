"""A comparison for the terminal: what may be compared, what changed, and what is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traceview.diff.changes import signed, statements, verdict
from traceview.diff.claims import COUNTS
from traceview.diff.comparability import FINE
from traceview.diff.compare import Diff
from traceview.diff.gates import Outcome
from traceview.report.text_blocks import Block, plain_text
from traceview.units import count, duration, safe, shown

NAMES = {
    "step_time": "step time", "gpu_busy": "GPU busy", "gpu_idle": "GPU idle", "kernel_time": "kernel time", "compute": "compute",
    "exposed_comm": "exposed communication", "exposed_copy": "exposed copies", "kernels": "kernels", "launches": "launches",
    "syncs": "synchronisations", "launch_cpu": "launch CPU time", "wall": "host wall",
}  # fmt: skip
"""Headlines in the order in which they are told, and what they are called."""
CLAIMED, OPEN = "*", "~"
LEGEND = "Marks: * larger than the noise, ~ noise could explain it, or not tested"
_NAME = 44


def diff_text(diff: Diff, outcomes: Sequence[Outcome], top: int) -> str:
    """Return the comparison as plain lines, whatever the width of the terminal."""
    return plain_text(diff_blocks(diff, outcomes, top))


def diff_blocks(diff: Diff, outcomes: Sequence[Outcome], top: int) -> list[Block]:
    """Return the terminal's answer: the verdict first, tables of at most `top` rows."""
    blocks = [
        Block(tuple(safe(line) for line in _head(diff, outcomes))),
        Block(("What changed:", *(safe(line) for line in _changes(diff)))),
        _headlines(diff),
        _work(diff, top),
        Block((LEGEND,)),
    ]
    return [block for block in blocks if block is not None]


def _head(diff: Diff, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"{diff.base.label} → {diff.new.label}"
    yield verdict(diff)
    if diff.comparability.verdict != FINE:
        yield f"{diff.comparability.verdict.capitalize()}: {'; '.join(diff.comparability.reasons)}."
    for outcome in outcomes:
        yield f"Gate {outcome.gate.text}: {outcome.state} ({outcome.why})"


def _changes(diff: Diff) -> Iterator[str]:
    found = statements(diff)
    yield from (f"{CLAIMED if s.claimed else OPEN} {s.text}" for s in found)
    if not found:
        yield "nothing above half a percent of the time"


def _headlines(diff: Diff) -> Block | None:
    rows = []
    for key in headline_keys(diff):
        judged = diff.headlines[key]
        counted = key in COUNTS
        sides = [count(round(v)) if counted else duration(v) for v in (judged.base, judged.new)]
        mark = CLAIMED if judged.claimed else OPEN
        rows.append((f"{mark} {NAMES[key]}", *sides, change_text(judged.delta, counted)))
    if not rows:
        return None
    return Block((f"Headlines, medians of {diff.per}s:",), ("", "base", "new", "change"), tuple(rows), "<>>>")


def headline_keys(diff: Diff) -> list[str]:
    """Return the headlines that both sides have, in the order in which they are told."""
    return [k for k in NAMES if k in diff.headlines and all(k in m.headlines for m in diff.measured)]


def change_text(value: float, counted: bool) -> str:
    """Return a change of time or of a count with its sign."""
    if not counted:
        return signed(value)
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{abs(value):,.0f}"


def _work(diff: Diff, top: int) -> Block | None:
    rows = tuple(
        (
            f"{CLAIMED if row.judgement.claimed else OPEN} {shown(row.group.label, _NAME)}",
            duration(float(row.change.base)),
            duration(float(row.change.new)),
            signed(row.change.delta),
            f"{_number(float(row.change.base_calls))} → {_number(float(row.change.new_calls))}",
        )
        for row in diff.rows[:top]
    )
    if not rows:
        return None
    rest = len(diff.rows) - len(rows)
    after = (f"  and {count(rest)} more",) if rest else ()
    head = ("", "base", "new", "change", "calls")
    return Block((f"Work by operator and shapes, per {diff.per}:",), head, rows, "<>>>>", after)


def _number(value: float) -> str:
    return count(int(value)) if value == int(value) else f"{value:,.1f}"
