"""Host time spent to launch each kernel name."""

from __future__ import annotations

import numpy as np

from traceview.events import Kind, Trace


def launch_cost(trace: Trace) -> dict[str, float]:
    """Return ns of launching calls by kernel name; a graph's launch is divided among its kernels."""
    slices = trace.slices
    rows = trace.rows_of(Kind.KERNEL)
    rows = rows[slices.link[rows] >= 0]
    if not len(rows):
        return {}
    launch = slices.link[rows]
    each = slices.dur[launch] / np.bincount(launch)[launch]
    codes = slices.name[rows]
    total = np.bincount(codes, weights=each)
    return {trace.names[code]: float(total[code]) for code in np.unique(codes).tolist()}
