"""Small runs to compare: steps of an operator with kernels, made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.analyses import making
from traceview.analyses import analyze
from traceview.diff.build import side_of
from traceview.diff.side import Side

STEP = 1000.0  # us from step to step


def run(steps: Sequence[Sequence[tuple[str, str, float]]], shapes: str = "[[8, 8]]") -> list[dict[str, Any]]:
    """Return the events of steps of (operator, kernel, duration in us); launches come one after the other."""
    events: list[dict[str, Any]] = []
    correlation = 0
    for number, work in enumerate(steps):
        start = number * STEP
        events.append(making.note(f"ProfilerStep#{number}", start, STEP))
        free = start + 20  # one kernel after the other
        for place, (op, kernel, duration) in enumerate(work):
            correlation += 1
            at = start + 1 + place * 10
            events.append(making.host("cpu_op", op, at, 8, **{"Input Dims": json.loads(shapes)}))
            events.append(making.launch(at + 1, 3, correlation))
            events.append(making.kernel(kernel, free, duration, correlation))
            free += duration + 5
    return events


def side(events: list[dict[str, Any]], label: str = "run") -> Side:
    """Return a run as a side of a comparison."""
    return side_of(analyze(making.read(*events)), label)
