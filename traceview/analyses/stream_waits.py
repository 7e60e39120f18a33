"""Which recorded wait of one stream for another may have held a record back."""

from __future__ import annotations

import re

import numpy as np

from traceview.analyses.grouping import texts
from traceview.analyses.windows import named_rows
from traceview.analyses.workspace import Workspace
from traceview.events import Kind

_CALL = re.compile(r"StreamWaitEvent")


def waits_of(workspace: Workspace, records: np.ndarray, waits: np.ndarray) -> np.ndarray:
    """Return for device records (places in `work`) the stream wait issued since the launch before on their stream.

    `waits` are rows of the device's own records of stream waits; where the trace has none, the host
    calls serve, which do not name their stream. The text is empty where none is recorded.
    """
    trace, work = workspace.trace, workspace.work
    found = np.full(len(records), "", object)
    calls = waits if len(waits) else named_rows(trace, trace.rows_of(Kind.RUNTIME), _CALL)
    if not len(records) or not len(calls):
        return found
    launch = work.link[records]
    track = work.track[records] if len(waits) else trace.slices.track[launch]
    before, at = _launch_before(workspace)[records], trace.slices.start[launch]
    for code in np.unique(track).tolist():
        own = calls[trace.slices.track[calls] == code]
        asked = np.flatnonzero(track == code)
        place = np.searchsorted(trace.slices.start[own], at[asked], "right") - 1
        held = place >= 0
        held[held] = trace.slices.start[own[place[held]]] > before[asked[held]]
        found[asked[held]] = _texts(workspace, own[place[held]])
    return found


def _launch_before(workspace: Workspace) -> np.ndarray:
    """Return when the work before each record on its stream was launched, ns; before all time for the first."""
    work, order = workspace.work, workspace.by_stream
    start = workspace.trace.slices.start
    launched = np.where(work.link >= 0, start[np.maximum(work.link, 0)], np.iinfo(np.int64).min)[order]
    before = np.full(len(order), np.iinfo(np.int64).min)
    same = work.track[order[1:]] == work.track[order[:-1]]
    before[order[1:][same]] = launched[:-1][same]
    return before


def _texts(workspace: Workspace, rows: np.ndarray) -> np.ndarray:
    trace = workspace.trace
    awaited = trace.arg("wait_on_stream").lookup(rows, -1)
    both = zip(trace.slices.name[rows].tolist(), awaited.tolist(), strict=True)
    return texts(f"{trace.names[n]} on stream {int(a)}" if a >= 0 else trace.names[n] for n, a in both)
