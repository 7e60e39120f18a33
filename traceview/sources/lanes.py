"""What each lane of a document is: its dialect's answer, its thread, its scope."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from traceview.sources.dialects import Dialect, Hints, recognise
from traceview.sources.dialects.base import LaneClass, LaneFacts
from traceview.sources.raw import Lane, Phase, phase_of
from traceview.sources.reader import Document

# tools that merge ranks put the rank before the pid: "[TP00] 1234", "rank0 1234"
_SCOPE = re.compile(r"^(?:\[([^\]]{1,40})\]|(rank[ _-]?\d+))[ :_/-]*(.*)$", re.IGNORECASE)


@dataclass(frozen=True)
class LaneTable:
    """Hold one entry per lane of the raw columns; `scopes` are the names of merged ranks ("" for none)."""

    dialect: Dialect
    facts: list[LaneFacts]
    classes: list[LaneClass]
    categories: list[str]
    scopes: list[str]
    category: np.ndarray
    kind: np.ndarray
    thread: np.ndarray
    scope: np.ndarray
    by_name: np.ndarray
    on_device: np.ndarray


def read_lanes(document: Document) -> LaneTable:
    """Recognise the dialect of a document and let it classify every lane."""
    raw = document.raw
    labels = {name: {_key(k): v for k, v in table.items()} for name, table in raw.labels.items()}
    split = [_split(str(lane.pid)) for lane in raw.lanes]
    facts = [_facts(lane, pid, labels) for lane, (_, pid) in zip(raw.lanes, split, strict=True)]
    drawn = [f for f, lane in zip(facts, raw.lanes, strict=True) if phase_of(lane) is not Phase.META]
    hints = Hints(
        categories=frozenset(f.cat for f in drawn if f.cat),
        processes=frozenset(labels["process_name"].values()),
        pids=frozenset(f.pid for f in drawn),
        arguments=frozenset(raw.args),
        metadata=document.metadata,
        array_form=document.array_form,
    )
    dialect = recognise(hints)
    classes = [dialect.classify(f) for f in facts]
    scopes = {s: i for i, s in enumerate(dict.fromkeys(["", *(s for s, _ in split)]))}
    categories = {c: i for i, c in enumerate(dict.fromkeys(lane.category for lane in raw.lanes))} or {"": 0}
    threads: dict[tuple[str, str, str], int] = {}
    thread = [
        threads.setdefault((s, f.pid, f.tid), len(threads)) for (s, _), f in zip(split, facts, strict=True)
    ]
    return LaneTable(
        dialect=dialect,
        facts=facts,
        classes=classes,
        categories=list(categories),
        scopes=list(scopes),
        category=np.array(
            [categories[lane.category] for lane in raw.lanes],
            np.int16 if len(categories) < 1 << 15 else np.int32,
        ),
        kind=np.array([c.kind for c in classes], np.uint8),
        thread=np.array(thread, np.int32),
        scope=np.array([scopes[s] for s, _ in split], np.int64),
        by_name=np.array([c.by_name for c in classes], bool),
        on_device=np.array([c.device is not None for c in classes], bool),
    )


def _key(key: object) -> object:
    return tuple(str(part) for part in key) if isinstance(key, tuple) else str(key)


def _split(pid: str) -> tuple[str, str]:
    found = _SCOPE.match(pid)
    return (found[1] or found[2], found[3]) if found else ("", pid)


def _facts(lane: Lane, pid: str, labels: dict[str, dict[object, str]]) -> LaneFacts:
    whole, tid = str(lane.pid), str(lane.tid) if lane.tid is not None else ""
    return LaneFacts(
        cat=lane.category.lower(),
        pid=pid,
        tid=tid,
        process=labels["process_name"].get(whole, ""),
        thread=labels["thread_name"].get((whole, str(lane.tid)), ""),
        label=labels["process_labels"].get(whole, ""),
    )
