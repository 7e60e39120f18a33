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

    `waits` are rows of the device's own records of stream waits; of ranks that have none, the host
    calls serve, which do not name their stream. The text is empty where none is recorded.
    """
    trace, work = workspace.trace, workspace.work
    found = np.full(len(records), "", object)
    calls = named_rows(trace, trace.rows_of(Kind.RUNTIME), _CALL)
    if not len(records) or not len(waits) + len(calls):
        return found
    scope = workspace.scope_of_track
    recorded = np.isin(scope[work.track[records]], scope[trace.slices.track[waits]])
    launch = work.link[records]
    before, at = _launch_before(workspace)[records], trace.slices.start[launch]
    track = np.where(recorded, work.track[records], trace.slices.track[launch])
    for rows, mask in ((waits, recorded), (calls, ~recorded)):
        asked = np.flatnonzero(mask)
        place = _last_before(trace.slices.track[rows], trace.slices.start[rows], track[asked], at[asked])
        asked, place = asked[place >= 0], place[place >= 0]
        held = trace.slices.start[rows[place]] > before[asked]
        found[asked[held]] = _texts(workspace, rows[place[held]])
    return found


def _last_before(track: np.ndarray, start: np.ndarray, asked: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the last of some slices (by start) that began by a time on a track, -1 for none."""
    found = np.full(len(asked), -1, np.int64)
    order, questions = np.argsort(track, kind="stable"), np.argsort(asked, kind="stable")
    for code in np.intersect1d(track, asked).tolist():
        own = order[slice(*np.searchsorted(track[order], (code, code + 1)))]
        some = questions[slice(*np.searchsorted(asked[questions], (code, code + 1)))]
        place = np.searchsorted(start[own], time[some], "right") - 1
        found[some] = np.where(place >= 0, own[place], -1)
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
