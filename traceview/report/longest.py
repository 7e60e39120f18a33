"""Where the longest record of each name is: what the row of a name shows in the timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceview.events import Kind, Trace

Window = tuple[int, int]


def longest_records(trace: Trace, kinds: Sequence[Kind], names: Sequence[str]) -> tuple[Window | None, ...]:
    """Return start and end (ns) of the longest timed record of these kinds for each name, the first of equals."""
    s, wanted = trace.slices, set(names)
    codes = {name: code for code, name in enumerate(trace.names) if name in wanted}
    listed = np.zeros(len(trace.names), bool)
    listed[list(codes.values())] = True
    rows = trace.rows_of(*kinds)
    rows = rows[listed[s.name[rows]] & trace.timed[rows]]
    best = np.full(len(trace.names), -1, np.int64)
    order = rows[np.argsort(-s.dur[rows], kind="stable")][::-1]
    best[s.name[order]] = order  # of equal indices numpy keeps the last
    found = [int(best[codes[name]]) if name in codes else -1 for name in names]
    return tuple((int(s.start[r]), int(s.start[r] + s.dur[r])) if r >= 0 else None for r in found)
