"""Small lines in tables: how the time of a name goes from step to step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.per_step import LARGEST
from traceview.report.view import Trend
from traceview.units import count, plural


def per_step(analysis: Analysis, what: str, names: Sequence[str]) -> Trend | None:
    """Return the line of each of these rows of a table, in their order; None where no step has any of them."""
    table, steps = analysis.per_step, len(analysis.step_windows)
    own = np.flatnonzero(table.what == what)
    if not len(own) or not steps:
        return None
    edges = np.flatnonzero(table.name[own][1:] != table.name[own][:-1]) + 1
    cells = {str(table.name[rows[0]]): rows for rows in np.split(own, edges)}
    found = [cells.get(name) for name in names[:LARGEST]]
    if not any(rows is not None for rows in found):
        return None
    together = -(-steps // Trend.MOST_POINTS)
    each = f", each point the mean of {together}" if together > 1 else ""
    return Trend(
        "Per step",
        f"time in each of {plural(steps, 'step')}, from zero to the highest{each}",
        "ms",
        f"{count(steps)} steps",
        tuple(None if r is None else _row(table.step[r], table.time[r], steps, together) for r in found),
    )


def _row(
    step: np.ndarray, time: np.ndarray, steps: int, together: int
) -> tuple[int, int, int, tuple[int, ...]]:
    values = np.zeros(steps, np.int64)
    values[step] = time
    first = np.arange(0, steps, together)
    drawn = np.add.reduceat(values, first) / np.diff(np.append(first, steps))
    heights = np.rint(drawn * (Trend.MOST_HEIGHT / max(float(drawn.max()), 1.0))).astype(int)
    low, middle, high = int(values.min()), round(float(np.median(values))), int(values.max())
    return low, middle, high, tuple(heights.tolist())
