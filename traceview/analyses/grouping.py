"""Group and spread: exact integer sums and quantiles per group, without a loop over events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from traceview.errors import InputError

EXACT_FLOAT = 1 << 53
_INT64 = 1 << 63
_LOW = (1 << 32) - 1
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


def alike(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group rows whose codes (-1 or more) are alike in all columns.

    Returns the first row of each group, groups in the order of their codes, and the group of each row.
    """
    key = columns[0].astype(np.int64)
    reach = int(key.max(initial=0)) + 2
    for further in columns[1:]:
        column = further
        size = int(column.max(initial=0)) + 2
        if reach >= (1 << 62) // size:  # as places in their order both are short
            key, column = (np.unique(c, return_inverse=True)[1].reshape(-1) for c in (key, column))
            reach, size = int(key.max(initial=0)) + 2, int(column.max(initial=0)) + 2
        key, reach = (key + 1) * size + (column + 1), reach * size
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def added(values: np.ndarray) -> int:
    """Return the sum of all values, exact whatever its size."""
    if not len(values) or values.dtype == bool or _reach(values) < _INT64:
        return int(values.sum())
    return (int((values >> 32).sum()) << 32) + int((values & _LOW).sum())


def sums(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Return the sum per group; exact, as int64.

    Raises InputError where a sum is none: it would take over 292 years in ns.
    """
    if not len(values):
        return np.zeros(groups, np.int64)
    reach = _reach(values)
    if reach < EXACT_FLOAT:
        return np.bincount(group, values, groups).astype(np.int64)
    if reach >= _INT64:
        _refuse_endless(group, values, groups)
    found = np.zeros(groups, np.int64)
    np.add.at(found, group, values)
    return found


def spread(group: np.ndarray, values: np.ndarray, groups: int) -> Spread:
    """Return calls, sum and quantiles per group, from the single values (not negative).

    Raises InputError where a sum is no int64, as `sums` does.
    """
    calls = np.bincount(group, minlength=groups) if len(group) else np.zeros(groups, np.int64)
    if len(values) and _reach(values) >= _INT64:
        _refuse_endless(group, values, groups)
    ordered = _ordered(group, values, groups)
    stop = np.cumsum(calls)
    first = stop - calls
    running = np.concatenate(
        ([0], np.cumsum(ordered))
    )  # may run over; its differences are right all the same
    total = running[stop] - running[first]
    some = np.flatnonzero(calls)
    columns = np.zeros((5, groups), np.int64)
    if len(some):
        begin, count = first[some], calls[some]
        columns[0, some] = _rounded(total[some], count)
        columns[1, some] = _quantile(ordered, begin, count, 50)
        columns[2, some] = _quantile(ordered, begin, count, 95)
        columns[3, some] = ordered[begin]
        columns[4, some] = ordered[begin + count - 1]
    return Spread(calls, total, *columns)


def quantiles(values: np.ndarray) -> Quantiles | None:
    """Return the spread of values (not negative), None where there are none."""
    if not len(values):
        return None
    ordered = np.sort(values)
    begin, count = np.zeros(1, np.int64), np.array([len(values)])
    middle, p95, p99 = (int(_quantile(ordered, begin, count, percent)[0]) for percent in (50, 95, 99))
    total = added(ordered)
    mean = round(Fraction(total, len(ordered)))
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


def _quantile(ordered: np.ndarray, begin: np.ndarray, count: np.ndarray, percent: int) -> np.ndarray:
    """Return a quantile of each stretch of values; in integers, which stay exact where doubles do not."""
    low, part = np.divmod((count - 1) * percent, 100)
    below, above = ordered[begin + low], ordered[begin + np.minimum(low + 1, count - 1)]
    whole, rest = np.divmod(above - below, 100)
    value: np.ndarray = below + _rounded(rest * part, 100, whole * part)
    return value


def _rounded(value: np.ndarray, by: np.ndarray | int, more: np.ndarray | int = 0) -> np.ndarray:
    """Return `more` plus whole quotients of what is not negative, halves rounded to even."""
    quotient, rest = np.divmod(value, by)
    quotient += more
    up = (2 * rest > by) | ((2 * rest == by) & (quotient % 2 == 1))
    rounded: np.ndarray = quotient + up
    return rounded


def _reach(values: np.ndarray) -> int:
    """Return what no sum of the values exceeds."""
    return max(int(values.max()), -int(values.min())) * len(values)


def _refuse_endless(group: np.ndarray, values: np.ndarray, groups: int) -> None:
    about = np.bincount(group, values.astype(np.float64), groups)
    if np.abs(about).max() >= _INT64 * (1 - 1e-6):
        raise InputError(
            "times or sizes of one name add up to more than 64 bits hold",
            "look for records that cannot be true",
        )
