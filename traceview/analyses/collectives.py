"""What communication cost: by collective, message and group, and at which bandwidth.

The arguments stand on the device record (Kineto since 2.4) or on the host operator that launched it
(record_param_comms). With the trace of one rank a collective's time includes waiting for its peers.

Bandwidth after nccl-tests (doc/PERFORMANCE.md): the algorithm bandwidth is message size by time, the
bus bandwidth multiplies it by what the algorithm must move per byte among n ranks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from traceview.analyses.exposure import hidden
from traceview.analyses.grouping import by_size, spread, sums, texts
from traceview.analyses.workspace import Workspace
from traceview.tables import Table, column

_ITEM_BYTES = {
    **dict.fromkeys(("byte", "char", "int8", "uint8", "bool", "float8_e4m3fn", "float8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16", "float16", "short", "int16"), 2),
    **dict.fromkeys(("float", "float32", "int", "int32"), 4),
    **dict.fromkeys(("double", "float64", "long", "int64", "cfloat", "complexfloat"), 8),
}
_ARGUMENTS = ("collective", "dtype", "group_name", "group_size", "in_elements", "out_elements")


class _Formula(NamedTuple):
    """Say which message counts (in, out or the larger), and the factor of the bus bandwidth for n ranks."""

    pattern: re.Pattern[str]
    message: str
    factor: str


# factor: "2(n-1)/n", "(n-1)/n" or "1"
FORMULAS = (
    _Formula(re.compile(r"all_?reduce", re.IGNORECASE), "in", "2(n-1)/n"),
    _Formula(re.compile(r"all_?gather", re.IGNORECASE), "out", "(n-1)/n"),
    _Formula(re.compile(r"reduce_?scatter", re.IGNORECASE), "in", "(n-1)/n"),
    _Formula(re.compile(r"all_?to_?all", re.IGNORECASE), "larger", "(n-1)/n"),
    _Formula(re.compile(r"broadcast|reduce|send|recv|scatter|gather", re.IGNORECASE), "larger", "1"),
)


@dataclass(frozen=True, eq=False)
class Collectives(Table):
    """Hold one row per collective, message and group, largest sum first; "" and -1 are not recorded."""

    name: np.ndarray = column("full kernel name", "text")
    collective: np.ndarray = column("collective, as recorded or as the name says", "text")
    dtype: np.ndarray = column("type of the elements", "text")
    group: np.ndarray = column("process group", "text")
    group_size: np.ndarray = column("ranks in the group, -1: not recorded", "count")
    message: np.ndarray = column("message size that the bandwidth is of, -1: not recorded", "bytes")
    calls: np.ndarray = column("timed device records", "count")
    sum: np.ndarray = column("added durations; waiting for other ranks included", "ns")
    median: np.ndarray = column("median of the single durations", "ns")
    min: np.ndarray = column("shortest: the one that waited least", "ns")
    exposed: np.ndarray = column("added time under no compute kernel of the device", "ns")
    overlapped: np.ndarray = column("share of the sum that runs under compute kernels", "share")
    algorithm_bandwidth: np.ndarray = column("message by median duration, nan: unknown", "GB/s")
    bus_bandwidth: np.ndarray = column(
        "algorithm bandwidth times the collective's factor, nan: unknown", "GB/s"
    )


def collectives(workspace: Workspace) -> Collectives:
    """Return collectives by name, message and group."""
    trace, work = workspace.trace, workspace.work
    places = np.flatnonzero(work.collective)
    columns = [work.name[places].astype(np.int64), *_arguments(workspace, places)]
    keys = np.stack(columns) if len(places) else np.empty((len(columns), 0), np.int64)
    distinct, group = np.unique(keys, axis=1, return_inverse=True)
    group = group.reshape(-1)
    count = distinct.shape[1]
    found = spread(group, work.dur[places], count)
    under = sums(group, hidden(workspace, places, workspace.compute), count)
    names = [trace.names[n] for n in distinct[0].tolist()]
    said = [_text(workspace, argument, distinct[1 + i]) for i, argument in enumerate(_ARGUMENTS[:3])]
    kinds = [c or _from_name(n) for c, n in zip(said[0], names, strict=True)]
    size = distinct[4]
    message, factor = _messages(kinds, said[1], distinct[5], distinct[6]), _factors(kinds, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        algorithm = np.where((message >= 0) & (found.median > 0), message / found.median, np.nan)
    table = Collectives(
        texts(names),
        texts(kinds),
        texts(said[1]),
        texts(said[2]),
        size,
        message,
        found.calls,
        found.sum,
        found.median,
        found.min,
        found.sum - under,
        np.divide(under, found.sum, out=np.zeros(count), where=found.sum > 0),
        algorithm,
        algorithm * factor,
    )
    return table.take(by_size(table.sum, table.name))


def _arguments(workspace: Workspace, places: np.ndarray) -> list[np.ndarray]:
    """Return each argument of the records, from the record or from the nearest operator above its launch."""
    work, nesting = workspace.work, workspace.nesting
    rows = work.row[places]
    at = np.where(work.link[places] >= 0, nesting.at(np.maximum(work.link[places], 0)), -1)
    columns = [workspace.trace.arg(name).lookup(rows, -1).astype(np.int64) for name in _ARGUMENTS]
    silent = columns[0] < 0
    while (climbing := np.flatnonzero(silent & (at >= 0))).size:
        above = nesting.rows[at[climbing]]
        for name, column_ in zip(_ARGUMENTS, columns, strict=True):
            value = workspace.trace.arg(name).lookup(above, -1).astype(np.int64)
            column_[climbing] = np.where(column_[climbing] < 0, value, column_[climbing])
        silent = columns[0] < 0
        at[climbing] = nesting.parent[at[climbing]]
    return columns


def _text(workspace: Workspace, argument: str, codes: np.ndarray) -> list[str]:
    table = workspace.trace.arg(argument).texts or []
    return [table[c] if 0 <= c < len(table) else "" for c in codes.tolist()]


def _from_name(name: str) -> str:
    found = re.search(
        r"(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|sendrecv)", name, re.IGNORECASE
    )
    return found[0].lower() if found else ""


def _formula(kind: str) -> _Formula | None:
    return next((f for f in FORMULAS if f.pattern.search(kind)), None)


def _messages(kinds: list[str], dtypes: list[str], given: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Return message sizes in bytes, -1 where type or elements are not recorded."""
    sizes = np.full(len(kinds), -1, np.int64)
    for i, (kind, dtype) in enumerate(zip(kinds, dtypes, strict=True)):
        formula, item = _formula(kind), _ITEM_BYTES.get(dtype.lower())
        if formula is None or item is None:
            continue
        elements = {"in": given[i], "out": taken[i], "larger": max(given[i], taken[i])}[formula.message]
        if elements >= 0:
            sizes[i] = int(elements) * item
    return sizes


def _factors(kinds: list[str], ranks: np.ndarray) -> np.ndarray:
    factors = np.full(len(kinds), np.nan)
    for i, (kind, n) in enumerate(zip(kinds, ranks.tolist(), strict=True)):
        formula = _formula(kind)
        if formula is None or (n < 1 and formula.factor != "1"):
            continue
        factors[i] = {"2(n-1)/n": 2 * (n - 1) / max(n, 1), "(n-1)/n": (n - 1) / max(n, 1), "1": 1.0}[
            formula.factor
        ]
    return factors
