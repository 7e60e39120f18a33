"""Make a Trace of columns in file order: check, sort, and move every row number along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceview.events import Slices, Sparse, Trace, Track, last_digit_ns

_PASSES = 8  # the innermost of so many slices of one start may be rounded up


class TraceBuilder:
    """Make a Trace from columns in file order, and refuse nonsense.

    Raises ValueError for unequal columns, negative durations, and codes that name no track, name,
    or row. Sorting, and moving every row number with it, happens here and nowhere else.
    """

    def __init__(self, names: list[str], tracks: Sequence[Track], categories: list[str]) -> None:
        self.names, self.tracks, self.categories = names, tuple(tracks), categories
        self._slices: Slices | None = None
        self._moved: np.ndarray = np.empty(0, np.int64)

    def slices(self, columns: dict[str, np.ndarray]) -> None:
        """Take the columns of Slices in file order; `link` counts rows in file order too.

        The dict is emptied: each column is given back to memory as soon as it is sorted.
        """
        self._check(Slices(**columns))
        order = sorted_order(columns["start"], columns["dur"], columns["track"]).astype(np.int32)
        moved = np.empty(len(order) + 1, np.int32)
        moved[order] = np.arange(len(order), dtype=np.int32)
        moved[-1] = -1  # so that link -1 stays -1
        self._moved = moved
        columns["link"] = moved[columns["link"]]
        parts = {name: _frozen(columns.pop(name)[order]) for name in list(columns)}
        self._slices = Slices(**parts)

    def moved(self, rows: np.ndarray) -> np.ndarray:
        """Return where rows, numbered in file order, are now (-1 stays -1)."""
        placed: np.ndarray = self._moved[rows]
        return placed

    def sparse(self, rows: np.ndarray, values: np.ndarray, texts: list[str] | None) -> Sparse:
        """Return an argument's column, given by rows in file order, in the order of the trace."""
        placed = self._moved[rows]
        order = np.argsort(placed, kind="stable")
        return Sparse(_frozen(placed[order]), _frozen(_narrow(values[order])), texts)

    def build(self, **parts: Any) -> Trace:
        """Return the Trace; parts are its fields other than slices, names, tracks and categories."""
        if self._slices is None:
            raise ValueError("a trace needs its slices first")
        return Trace(
            slices=self._slices, names=self.names, tracks=self.tracks, categories=self.categories, **parts
        )

    def _check(self, rows: Slices) -> None:
        if not len(rows):
            return
        if int(rows.dur.min()) < 0:
            raise ValueError("a slice has a negative duration")
        for label, codes, table in (
            ("name", rows.name, self.names),
            ("track", rows.track, self.tracks),
            ("category", rows.category, self.categories),
            ("link", rows.link, rows),
        ):
            low = -1 if label == "link" else 0
            if int(codes.min()) < low or int(codes.max()) >= len(table):
                raise ValueError(f"a slice has an unknown {label}")


def sorted_order(start: np.ndarray, dur: np.ndarray, track: np.ndarray) -> np.ndarray:
    """Return the order by start, then by track, longer first, then as given.

    On one track a difference of one unit of the last digit is none: rounding may have made a child
    longer than its parent, and the parent stands first in the file.
    """
    order = np.argsort(start, kind="stable")
    ordered = start[order]
    tie = np.zeros(len(order), bool)
    same = ordered[1:] == ordered[:-1]
    tie[1:] |= same
    tie[:-1] |= same
    at = np.flatnonzero(tie)
    if len(at):
        rows = order[at]
        rows = rows[np.lexsort((rows, -dur[rows], track[rows], start[rows]))]
        order[at] = _as_given(rows, (start, track), dur, last_digit_ns(start, dur))
    return order


def _as_given(rows: np.ndarray, alike: tuple[np.ndarray, ...], dur: np.ndarray, unit: int) -> np.ndarray:
    """Put back into the given order those of one start and track whose durations differ by one unit."""
    for _ in range(_PASSES):
        near = dur[rows[:-1]] - dur[rows[1:]] == unit
        for column in alike:
            near &= column[rows[1:]] == column[rows[:-1]]
        turned = np.flatnonzero(near & (rows[1:] < rows[:-1]))
        if not len(turned):
            break
        turned = turned[np.diff(turned, prepend=-2) > 1]  # of three in a row only the first two change places
        rows[turned], rows[turned + 1] = rows[turned + 1], rows[turned]
    return rows


def _narrow(values: np.ndarray) -> np.ndarray:
    """Return integers as int32 where they fit: half the memory, equal values."""
    if values.dtype == np.int64 and len(values):
        limits = np.iinfo(np.int32)
        if limits.min <= int(values.min()) and int(values.max()) <= limits.max:
            return values.astype(np.int32)
    return values


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
