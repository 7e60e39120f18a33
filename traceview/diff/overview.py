"""Three runs and more side by side: one line per run, and operators with a time and calls for each.

All runs are measured alike: per complete step where all have some, else whole. Where one cannot be compared with
the first, none is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from traceview.diff.comparability import REFUSED
from traceview.diff.compare import comparable
from traceview.diff.side import Measured, Side

FIGURES = (
    "step_time",
    "gpu_busy",
    "gpu_idle",
    "kernel_time",
    "exposed_comm",
    "exposed_copy",
    "launches",
    "syncs",
)
_BEST_LEAST = ("step_time", "gpu_idle", "kernel_time", "exposed_comm", "exposed_copy")


@dataclass(frozen=True)
class RunLine:
    """Hold one run: its device, and its figures per unit (ns, counts; None where it has none)."""

    label: str
    device: str | None
    steps: int
    figures: dict[str, float | None]


@dataclass(frozen=True)
class OperatorLine:
    """Hold one operator: added device time and calls per unit, for each run (zero where it has none)."""

    op: str
    times: tuple[Fraction, ...]
    calls: tuple[Fraction, ...]


@dataclass(frozen=True)
class Overview:
    """Hold the runs, for each figure the places of the best (the least), and operators, largest first.

    `refused` says for each run why it cannot be compared with the first; nothing where it can.
    """

    per: str
    runs: tuple[RunLine, ...]
    refused: tuple[tuple[str, ...], ...]
    best: dict[str, tuple[int, ...]]
    operators: tuple[OperatorLine, ...]


def overview(sides: Sequence[Side]) -> Overview:
    """Return runs side by side."""
    stepped = all(side.samples for side in sides)
    measured = [side.measured[stepped] for side in sides]
    runs = tuple(_line(side, m) for side, m in zip(sides, measured, strict=True))
    refused = tuple(_refused(sides[0], side, stepped) for side in sides)
    best = {key: () if any(refused) else _best([run.figures[key] for run in runs]) for key in _BEST_LEAST}
    return Overview("step" if stepped else "total", runs, refused, best, _operators(measured))


def _refused(first: Side, side: Side, stepped: bool) -> tuple[str, ...]:
    if side is first:
        return ()
    found = comparable(first, side, stepped)
    return found.reasons if found.verdict == REFUSED else ()


def _line(side: Side, measured: Measured) -> RunLine:
    figures: dict[str, float | None] = {}
    for key in FIGURES:
        if key in measured.headlines:
            figures[key] = float(np.median(measured.headlines[key]))
        elif not measured.by_step and key in measured.totals:
            figures[key] = float(measured.totals[key])
        else:
            figures[key] = None
    return RunLine(side.label, side.conditions["device"], len(measured.steps), figures)


def _best(values: Sequence[float | None]) -> tuple[int, ...]:
    """Return the places of the least value; none where a run lacks it or all are alike."""
    known = [v for v in values if v is not None]
    if len(known) < len(values) or len(set(known)) < 2:
        return ()
    return tuple(i for i, v in enumerate(values) if v == min(known))


def _operators(measured: Sequence[Measured]) -> tuple[OperatorLine, ...]:
    count = len(measured)
    times: dict[str, list[Fraction]] = {}
    calls: dict[str, list[Fraction]] = {}
    for place, m in enumerate(measured):
        for row, ns, number in zip(m.rows.rows, m.rows.sum.tolist(), m.rows.calls.tolist(), strict=True):
            name = row.chain[0].op if row.chain else row.kernel
            times.setdefault(name, [Fraction(0)] * count)[place] += Fraction(ns, m.units)
            calls.setdefault(name, [Fraction(0)] * count)[place] += Fraction(number, m.units)
    lines = [OperatorLine(op, tuple(times[op]), tuple(calls[op])) for op in times]
    return tuple(sorted(lines, key=lambda line: (-max(line.times), line.op)))
