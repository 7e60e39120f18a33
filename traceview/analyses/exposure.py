"""How much of single device records is hidden under other work of the same device."""

from __future__ import annotations

import numpy as np

from traceview.analyses.workspace import Workspace
from traceview.intervals import amount_before, union


def hidden(workspace: Workspace, places: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return for records (places in Workspace.work) the ns that run under the records of a mask.

    Only work of the same device hides; what no other hides is the record's exposed time.
    """
    start, end = workspace.apart
    covering = union(start[under], end[under])
    found: np.ndarray = amount_before(covering, end[places]) - amount_before(covering, start[places])
    return found
