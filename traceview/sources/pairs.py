"""Pair begin (B) and end (E) events into ranges, one stack per thread.

Events go by time. At a tie older ranges close before new ones open, but an end that follows its own
begin in the file closes that one (a range of length zero). Names help where present: an end closes
the innermost open range of its name, and none when no open range has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NEVER = np.iinfo(np.int64).min


class Ends(NamedTuple):
    """Hold begin or end events as columns: time in ns, thread code, name code (-1: none), place in the file."""

    time: np.ndarray
    thread: np.ndarray
    name: np.ndarray
    place: np.ndarray


class Pairs(NamedTuple):
    """Return for each begin the time of its end (NEVER where there is none), and how many ends closed nothing."""

    end: np.ndarray
    unmatched_ends: int


def pair(begins: Ends, ends: Ends) -> Pairs:
    """Pair begins with ends."""
    count = len(begins.time)
    closed = np.full(count, NEVER)
    is_end = np.repeat(np.array([False, True]), [count, len(ends.time)])
    columns = [np.concatenate([b, e]) for b, e in zip(begins, ends, strict=True)]
    time, thread, name, place = columns
    order = np.lexsort((place, time, thread))
    index = np.concatenate([np.arange(count), np.arange(len(ends.time))])
    stacks: dict[int, _Stack] = {}
    unmatched = 0
    rows = zip(
        *(a[order].tolist() for a in (is_end, time, thread, name, index)),
        strict=True,
    )
    for end, at, where, label, row in rows:
        stack = stacks.get(where)
        if stack is None:
            stack = stacks[where] = _Stack()
        if not end:
            stack.push(row, label)
            continue
        begin = stack.close(label)
        if begin < 0:
            unmatched += 1
        else:
            closed[begin] = at
    return Pairs(closed, unmatched)


class _Stack:
    """Hold the open ranges of a thread; opening and closing take the same time however many are open."""

    def __init__(self) -> None:
        self._rows: list[int] = []  # -1 where the range was closed under a newer one
        self._by_name: dict[int, list[int]] = {}  # places in _rows
        self._labels: list[int] = []

    def push(self, row: int, label: int) -> None:
        self._by_name.setdefault(label, []).append(len(self._rows))
        self._rows.append(row)
        self._labels.append(label)

    def close(self, label: int) -> int:
        """Close the innermost range of a name, or without one the innermost of all; return its row or -1."""
        if label < 0:
            self._trim()
            place = len(self._rows) - 1
        else:
            # a begin without a name takes an end of any name
            place = max((places[-1] for n in (label, -1) if (places := self._by_name.get(n))), default=-1)
        if place < 0:
            return -1
        row = self._rows[place]
        self._rows[place] = -1
        self._by_name[self._labels[place]].pop()
        self._trim()
        return row

    def _trim(self) -> None:
        while self._rows and self._rows[-1] < 0:
            self._rows.pop()
            self._labels.pop()
