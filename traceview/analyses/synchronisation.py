"""Where the host waited for a device, and how much idle time that may have cost.

A device goes idle only as a wait returns. So the damage of a wait that covers a gap's opening is at
most the gap's slices of waiting and of a late host, and at most the time for which the host had been
blocked when the gap opened: had it gone on, it would have been that much further. An upper bound;
data loading and allocation are not charged to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.gaps import gaps
from traceview.analyses.grouping import sums, texts
from traceview.analyses.host_stack import climb
from traceview.analyses.host_states import BLOCKING, DEVICE, ITEM, STREAM, SYNC, SYNC_KINDS, HostStates
from traceview.analyses.steps import step_of
from traceview.analyses.windows import marked_steps
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind
from traceview.tables import Table, column

_ITEM_OPS = frozenset({"aten::item", "aten::_local_scalar_dense"})


@dataclass(frozen=True, eq=False)
class Syncs(Table):
    """Hold one row per call, kind and place, largest damage first, then host time."""

    name: np.ndarray = column("name of the call, or of the device's record where no call is recorded", "text")
    kind: np.ndarray = column("device, stream, event, blocking copy, or item (a wait inside .item())", "text")
    op: np.ndarray = column("innermost operator around it", "text")
    annotation: np.ndarray = column("innermost annotation around it, steps left out", "text")
    calls: np.ndarray = column("calls", "count")
    host_time: np.ndarray = column("added time of the calls on the host", "ns")
    damage: np.ndarray = column("idle time that they caused at most", "ns")
    gaps: np.ndarray = column("gaps with such damage", "count")
    inside_steps: np.ndarray = column("calls that began inside a step", "count")
    final: np.ndarray = column("the profiler's own last synchronise, to be set aside", "bool")


def synchronisation(workspace: Workspace) -> Syncs:
    """Return every wait of the host for a device, by name, kind and place."""
    trace, states = workspace.trace, workspace.once(HostStates.found)
    rows = states.rows[SYNC]
    if not len(rows):
        return Syncs(*(np.empty(0, _DTYPES.get(c.unit, np.int64)) for c in Syncs.columns()))
    op, annotation = _around(workspace, rows)
    kind = states.sync_kind.astype(np.int64)
    item = np.append(np.array([n in _ITEM_OPS for n in trace.names], bool), False)[op]
    kind[item & np.isin(kind, [SYNC_KINDS.index(STREAM), SYNC_KINDS.index(BLOCKING)])] = SYNC_KINDS.index(
        ITEM
    )
    damage, opened = _damage(workspace, states)
    inside = step_of(trace, marked_steps(trace), rows) >= 0
    final = _final(workspace, rows, kind, inside)
    keys = np.stack((trace.slices.name[rows], kind, op, annotation, final.astype(np.int64)))
    used, group = np.unique(keys, axis=1, return_inverse=True)
    group, count = group.reshape(-1), used.shape[1]
    names = np.append(texts(trace.names), "")
    table = Syncs(
        name=names[used[0]],
        kind=texts(SYNC_KINDS)[used[1]],
        op=names[used[2]],
        annotation=names[used[3]],
        calls=np.bincount(group, minlength=count).astype(np.int64),
        host_time=sums(group, trace.slices.dur[rows], count),
        damage=sums(group, damage, count),
        gaps=sums(group, opened, count),
        inside_steps=sums(group, inside.astype(np.int64), count),
        final=used[4] > 0,
    )
    listed = zip(*(getattr(table, c).tolist() for c in ("damage", "host_time", "name", "op")), strict=True)
    order = sorted(enumerate(listed), key=lambda x: (-x[1][0], -x[1][1], x[1][2], x[1][3]))
    return table.take(np.array([i for i, _ in order], np.int64))


_DTYPES: dict[str, type] = {"text": object, "bool": np.bool_}


def _around(workspace: Workspace, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of the innermost operator and annotation around rows, as codes, -1 for none."""
    s, tree = workspace.trace.slices, workspace.nesting
    at = tree.at(rows).astype(np.int64)
    noted = (s.kind[tree.rows] == Kind.ANNOTATION) & ~np.isin(tree.rows, workspace.trace.steps.row)
    found = (workspace.innermost_op(at), climb(tree, at, noted))
    op, annotation = (
        np.where(p >= 0, s.name[tree.rows[np.maximum(p, 0)]], -1).astype(np.int64) for p in found
    )
    return op, annotation


def _damage(workspace: Workspace, states: HostStates) -> tuple[np.ndarray, np.ndarray]:
    """Return for each wait the idle time that it caused at most, and the number of such gaps.

    Of several that cover an opening, the one that lasts longest is charged.
    """
    trace, table = workspace.trace, workspace.once(gaps)
    rows = states.rows[SYNC]
    damage, opened = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    scope = np.array([t.scope for t in trace.tracks], np.int64)
    of_device = dict(zip(workspace.devices, workspace.scope_of_device.tolist(), strict=True))
    scope_of_gap = np.array([of_device[d] for d in table.device.tolist()], np.int64)
    for code in np.unique(scope_of_gap).tolist():
        own = np.flatnonzero(scope[trace.slices.track[rows]] == code)
        if not len(own):
            continue
        start = trace.slices.start[rows[own]]
        end = start + trace.slices.dur[rows[own]]
        reach = np.maximum.accumulate(end)
        furthest = np.maximum.accumulate(np.where(end == reach, np.arange(len(own)), 0))
        some = np.flatnonzero(scope_of_gap == code)
        opening = table.start[some]
        place = np.searchsorted(start, opening, "left") - 1
        wait = furthest[np.maximum(place, 0)]
        covers = (place >= 0) & (end[wait] > opening)
        some, wait = some[covers], wait[covers]
        cost = table.host_late[some] + table.synchronisation[some]
        cost = np.minimum(cost, table.start[some] - start[wait])
        damage += sums(own[wait], cost, len(rows))
        opened += np.bincount(own[wait[cost > 0]], minlength=len(rows))
    return damage, opened


def _final(workspace: Workspace, rows: np.ndarray, kind: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return which wait is the profiler's own at its end: for the whole device, outside steps, no work after it."""
    trace, s = workspace.trace, workspace.trace.slices
    final = np.zeros(len(rows), bool)
    scope = np.array([t.scope for t in trace.tracks], np.int64)
    calls = np.flatnonzero((s.kind == Kind.LAUNCH) & ((s.flags & Flag.NESTED_CALL) == 0))
    link = s.link[workspace.usable]
    working = np.union1d(calls, link[link >= 0])
    for code in np.unique(scope[s.track[rows]]).tolist():
        own = np.flatnonzero(scope[s.track[rows]] == code)
        last = s.start[working[scope[s.track[working]] == code]].max(initial=-1)
        at = own[-1]
        final[at] = kind[at] == SYNC_KINDS.index(DEVICE) and not inside[at] and s.start[rows[at]] >= last
    return final
