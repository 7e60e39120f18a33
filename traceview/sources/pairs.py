"""Pair begin (B) and end (E) events into ranges, one stack per thread.

Events go by time. At a tie older ranges close before new ones open, but an end that follows its own
begin in the file closes that one (a range of length zero). Names help where present: an end closes
the innermost open range of its name, and none when no open range has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Ends(NamedTuple):
    """Hold begin or end events as columns: time in ns, thread code, name code (-1: none), place in the file."""

    time: np.ndarray
    thread: np.ndarray
    name: np.ndarray
    place: np.ndarray


class Pairs(NamedTuple):
    """Return for each begin the time of its end (-1: never), and how many ends closed nothing."""

    end: np.ndarray
    unmatched_ends: int


def pair(begins: Ends, ends: Ends) -> Pairs:
    """Pair begins with ends."""
    count = len(begins.time)
    closed = np.full(count, -1, np.int64)
    is_end = np.repeat(np.array([False, True]), [count, len(ends.time)])
    columns = [np.concatenate([b, e]) for b, e in zip(begins, ends, strict=True)]
    time, thread, name, place = columns
    order = np.lexsort((place, time, thread))
    index = np.concatenate([np.arange(count), np.arange(len(ends.time))])
    stacks: dict[int, list[tuple[int, int]]] = {}
    unmatched = 0
    rows = zip(
        *(a[order].tolist() for a in (is_end, time, thread, name, index)),
        strict=True,
    )
    for end, at, where, label, row in rows:
        stack = stacks.setdefault(where, [])
        if not end:
            stack.append((row, label))
            continue
        found = _find(stack, label)
        if found is None:
            unmatched += 1
        else:
            closed[stack.pop(found)[0]] = at
    return Pairs(closed, unmatched)


def _find(stack: list[tuple[int, int]], label: int) -> int | None:
    if not stack:
        return None
    if label < 0:
        return len(stack) - 1
    for position in range(len(stack) - 1, -1, -1):
        if stack[position][1] == label or stack[position][1] < 0:
            return position
    return None
