"""How much of single device records is hidden under other work of the same device."""

from __future__ import annotations

import numpy as np

from traceview.analyses.workspace import Workspace
from traceview.intervals import amount_before, union


def hidden(workspace: Workspace, places: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return for records (places in Workspace.work) the ns that run under the records of a mask.

    Only work of the same device hides; what no other hides is the record's exposed time.
    """
    work = workspace.work
    found = np.zeros(len(places), np.int64)
    for device in range(len(workspace.devices)):
        own = np.flatnonzero(work.device[places] == device)
        cover = under & (work.device == device)
        if len(own) and cover.any():
            covering = union(work.start[cover], work.end[cover])
            at = places[own]
            found[own] = amount_before(covering, work.end[at]) - amount_before(covering, work.start[at])
    return found
