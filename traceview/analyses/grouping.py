"""Group and spread: exact integer sums and quantiles per group, without a loop over events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

EXACT_FLOAT = 1 << 53
_TABLE = 1 << 20  # entries of a table that is faster than a sort


class Spread(NamedTuple):
    """Hold one value per group: calls as a count, the rest in the unit of the values, as int64.

    `median` and `p95` interpolate linearly between neighbours; they and `mean` are rounded to a
    whole unit. A group without values has zeros.
    """

    calls: np.ndarray
    sum: np.ndarray
    mean: np.ndarray
    median: np.ndarray
    p95: np.ndarray
    min: np.ndarray
    max: np.ndarray


@dataclass(frozen=True)
class Quantiles:
    """Hold the spread of one set of values; `count` is never 0."""

    count: int
    min: int
    median: int
    p95: int
    p99: int
    max: int
    mean: int
    sum: int


def compact(codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, in order, and for each item the place of its code among them."""
    used = np.flatnonzero(np.bincount(codes, minlength=size)) if len(codes) else np.empty(0, np.int64)
    place = np.zeros(size, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return used, place[codes]


def combined(left: np.ndarray, right: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of codes that occur, as two arrays in order, and for each item the place of its pair.

    `size` is above all codes of `right`.
    """
    keys = left.astype(np.int64) * max(size, 1) + right
    top = int(keys.max()) + 1 if len(keys) else 0
    used, group = compact(keys, top) if top <= _TABLE else np.unique(keys, return_inverse=True)
    return used // max(size, 1), used % max(size, 1), group


def sums(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Return the sum per group; exact, as int64."""
    if not len(values):
        return np.zeros(groups, np.int64)
    if float(values.max()) * len(values) < EXACT_FLOAT:
        return np.bincount(group, values, groups).astype(np.int64)
    added = np.zeros(groups, np.int64)
    np.add.at(added, group, values)
    return added


def spread(group: np.ndarray, values: np.ndarray, groups: int) -> Spread:
    """Return calls, sum and quantiles per group, from the single values (not negative)."""
    calls = np.bincount(group, minlength=groups) if len(group) else np.zeros(groups, np.int64)
    ordered = _ordered(group, values, groups)
    stop = np.cumsum(calls)
    first = stop - calls
    added = np.concatenate(([0], np.cumsum(ordered)))
    total = added[stop] - added[first]
    some = np.flatnonzero(calls)
    columns = np.zeros((5, groups), np.int64)
    if len(some):
        begin, count = first[some], calls[some]
        columns[0, some] = np.rint(total[some] / count)
        columns[1, some] = _quantile(ordered, begin, count, 0.5)
        columns[2, some] = _quantile(ordered, begin, count, 0.95)
        columns[3, some] = ordered[begin]
        columns[4, some] = ordered[begin + count - 1]
    return Spread(calls, total, *columns)


def quantiles(values: np.ndarray) -> Quantiles | None:
    """Return the spread of values (not negative), None where there are none."""
    if not len(values):
        return None
    ordered = np.sort(values)
    begin, count = np.zeros(1, np.int64), np.array([len(values)])
    middle, p95, p99 = (int(_quantile(ordered, begin, count, q)[0]) for q in (0.5, 0.95, 0.99))
    total = int(ordered.sum())
    mean = round(total / len(ordered))
    return Quantiles(len(ordered), int(ordered[0]), middle, p95, p99, int(ordered[-1]), mean, total)


def texts(values: Iterable[str]) -> np.ndarray:
    """Return texts as an object array: fixed-width ones would each take the length of the longest."""
    listed = list(values)
    column = np.empty(len(listed), object)
    column[:] = listed
    return column


def by_size(size: np.ndarray, names: Sequence[str] | np.ndarray) -> np.ndarray:
    """Return the order by size, largest first; at ties by name."""
    sizes = size.tolist()
    return np.array(sorted(range(len(sizes)), key=lambda i: (-sizes[i], names[i])), np.int64)


def _ordered(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Return the values sorted by group, then by size."""
    if not len(values):
        return values
    bits = int(values.max()).bit_length()
    if groups.bit_length() + bits < 63:  # one sort of plain integers is much faster than two keys
        keys: np.ndarray = (group.astype(np.int64) << bits) | values
        keys.sort()
        keys &= (1 << bits) - 1
        return keys
    ordered: np.ndarray = values[np.lexsort((values, group))]
    return ordered


def _quantile(ordered: np.ndarray, begin: np.ndarray, count: np.ndarray, share: float) -> np.ndarray:
    place = (count - 1) * share
    low = place.astype(np.int64)
    high = np.minimum(low + 1, count - 1)
    below, above = ordered[begin + low], ordered[begin + high]
    value: np.ndarray = below + np.rint((above - below) * (place - low)).astype(np.int64)
    return value
