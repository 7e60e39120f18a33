"""What device copies and fills cost, apart from kernels."""

from __future__ import annotations

import re

import numpy as np

from traceview.analyses.exposure import hidden
from traceview.analyses.grouping import by_size, compact, spread, sums, texts
from traceview.analyses.host_states import BLOCKING, SYNC, SYNC_KINDS, HostStates
from traceview.analyses.results import Copies
from traceview.analyses.workspace import Workspace
from traceview.events import Kind

_DIRECTION = re.compile(r"([HDP]to[HDP])|(Host|Device|Peer)To(Host|Device|Peer)")
_ABSURD = 2.0**62  # bytes
_MEMORY = re.compile(r"\(([^()]*)\)\s*$")


def copies(workspace: Workspace) -> Copies:
    """Return copies and fills by name."""
    trace, work = workspace.trace, workspace.work
    rows = workspace.usable[trace.slices.kind[workspace.usable] != Kind.KERNEL]
    used, group = compact(trace.slices.name[rows], len(trace.names))
    place = np.zeros(len(trace.names), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    timed = work.where(work.kind != Kind.KERNEL)
    found = spread(place[timed.name], timed.dur, len(used))
    calls = np.bincount(group, minlength=len(used)) if len(used) else np.zeros(0, np.int64)
    names = texts(trace.names[n] for n in used.tolist())
    fills = np.zeros(len(used), bool)
    fills[group[trace.slices.kind[rows] == Kind.FILL]] = True
    size = _bytes(workspace, rows, group, len(used))
    places = np.flatnonzero(work.kind != Kind.KERNEL)
    under = sums(place[timed.name], hidden(workspace, places, work.kind == Kind.KERNEL), len(used))
    known = (size >= 0) & (found.sum > 0)
    rate = np.divide(size, found.sum, out=np.full(len(used), np.nan), where=known)
    table = Copies(
        names,
        texts("fill" if fill else "copy" for fill in fills.tolist()),
        texts(_direction(n) for n in names),
        texts(m[1] if (m := _MEMORY.search(n)) else "" for n in names),
        calls,
        *found[1:],
        size,
        found.sum - under,
        _blocking(workspace, timed.link, place[timed.name], len(used)),
        rate,
    )
    return table.take(by_size(table.sum, names))


def _blocking(workspace: Workspace, link: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Count per name the records whose call copies from or to pageable memory, or blocks by its name."""
    states = workspace.once(HostStates.found)
    calls = states.rows[SYNC][states.sync_kind == SYNC_KINDS.index(BLOCKING)]
    held = (link >= 0) & np.isin(link, calls)
    return np.bincount(group[held], minlength=groups) if groups else np.zeros(0, np.int64)


def _direction(name: str) -> str:
    found = _DIRECTION.search(name)
    if not found:
        return ""
    return found[1] or f"{found[2][0]}to{found[3][0]}"


def _bytes(workspace: Workspace, rows: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    size = workspace.trace.arg("bytes").lookup(rows, -1).astype(np.int64)
    said = size >= 0
    if groups:  # sizes that add up to more than any memory holds are no sizes
        about = np.bincount(group[said], size[said].astype(np.float64), groups)
        said &= about[group] < _ABSURD
    added = sums(group[said], size[said], groups)
    silent = np.bincount(group[said], minlength=groups) == 0 if groups else np.zeros(0, bool)
    return np.where(silent, -1, added)
