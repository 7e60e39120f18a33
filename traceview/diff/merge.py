"""Several runs of one side as one measurement: rows side by side, compared steps one run after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from traceview.diff.side import Calls, Measured, Rows


def merge(runs: Sequence[Measured]) -> Measured:
    """Return the measurement of all runs; totals are divided by all their units."""
    if len(runs) == 1:
        return runs[0]
    sizes = [len(run.steps) for run in runs]
    shared = set(runs[0].headlines).intersection(*(run.headlines for run in runs))
    keys = set(runs[0].totals).intersection(*(run.totals for run in runs))
    rows = [run.rows for run in runs]
    calls = [run.calls for run in runs]
    return Measured(
        by_step=runs[0].by_step,
        steps=tuple(step for run in runs for step in run.steps),
        units=sum(run.units for run in runs),
        rows=Rows(
            tuple(row for part in rows for row in part.rows),
            np.concatenate([part.calls for part in rows]),
            np.concatenate([part.sum for part in rows]),
            _blocks([part.step_calls for part in rows], sizes),
            _blocks([part.step_sum for part in rows], sizes),
            np.concatenate([part.first for part in rows]),
            tuple(d for part in rows for d in part.durations) if all(p.durations for p in rows) else (),
        ),
        calls=Calls(
            tuple(call for part in calls for call in part.rows),
            np.concatenate([part.calls for part in calls]),
            np.concatenate([part.sum for part in calls]),
            _blocks([part.step_calls for part in calls], sizes),
            _blocks([part.step_sum for part in calls], sizes),
        ),
        headlines={k: np.concatenate([run.headlines[k] for run in runs]) for k in runs[0].headlines if k in shared},
        totals={k: sum(run.totals[k] for run in runs) for k in runs[0].totals if k in keys},
        causes={k: sum(run.causes.get(k, 0) for run in runs) for k in runs[0].causes},
        abridged=any(run.abridged for run in runs),
        ranges={name: n for run in runs for name, n in run.ranges.items()},
    )  # fmt: skip


def _blocks(parts: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Return the parts along the diagonal: the rows of a run are zero in the steps of the others."""
    whole = np.zeros((sum(len(p) for p in parts), sum(sizes)), np.int64)
    row = 0
    for part, column in zip(parts, (0, *accumulate(sizes)), strict=False):
        whole[row : row + part.shape[0], column : column + part.shape[1]] = part
        row += part.shape[0]
    return whole


def by_run(samples: np.ndarray, runs: Sequence[Measured]) -> list[np.ndarray]:
    """Return samples of all compared steps, run by run."""
    edges = list(accumulate(len(run.steps) for run in runs))[:-1]
    return [np.asarray(part) for part in np.split(samples, edges)]
