"""The tables of an analysis by the names that people ask for, and their columns as files have them.

In files a column says its unit in its name: times are whole nanoseconds (`sum_ns`), sizes bytes, bandwidths
`_gb_per_s`, shares 0..1; counts, ids and texts have none. What is unknown is empty, never -1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from traceview.analyses import Analysis
from traceview.errors import UsageError
from traceview.tables import Table
from traceview.units import hide_home, middle

TABLES: dict[str, Callable[[Analysis], Table]] = {
    "kernels": lambda a: a.kernels,
    "kernels-by-stream": lambda a: a.kernels_by_stream,
    "operators": lambda a: a.operators,
    "categories": lambda a: a.categories,
    "copies": lambda a: a.copies,
    "collectives": lambda a: a.collectives,
    "launches": lambda a: a.launches.by_call,
    "launch-pairs": lambda a: a.launches.pairs,
    "gpu-time": lambda a: a.gpu_time,
    "window-time": lambda a: a.window_time,
    "steps": lambda a: a.step_windows,
    "per-step": lambda a: a.per_step,
    "gaps": lambda a: a.gaps,
    "gap-causes": lambda a: a.gap_causes,
    "gap-lengths": lambda a: a.gap_lengths,
    "synchronisation": lambda a: a.syncs,
    "streams": lambda a: a.streams.times,
    "concurrency": lambda a: a.streams.concurrency,
    "stream-pairs": lambda a: a.streams.pairs,
    "phases": lambda a: a.phases,
    "kernel-lengths": lambda a: a.launch_behaviour.lengths,
    "queue-depth": lambda a: a.launch_behaviour.depth,
    "coverage": lambda a: a.health.steps,
    "unrecorded": lambda a: a.health.unrecorded,
}
_ENDINGS = {"ns": "_ns", "bytes": "_bytes", "GB/s": "_gb_per_s", "share": "_share"}


class FileColumn(NamedTuple):
    """Hold one column: its name with its unit, its values, and which of them are known."""

    name: str
    unit: str
    meaning: str
    values: np.ndarray
    known: np.ndarray


def checked_table(name: str) -> str:
    """Return the name of a table as TABLES has it; refuse one that is not there and list those that are."""
    found = name.strip().lower().replace("_", "-")
    if found not in TABLES:
        raise UsageError(f"there is no table {middle(name, 40)!r}", f"one of {', '.join(TABLES)}")
    return found


def file_columns(analysis: Analysis, table: str, show_paths: bool = False) -> list[FileColumn]:
    """Return a table of TABLES for a file; texts without home folders unless `show_paths`."""
    found = TABLES[table](analysis)
    columns = []
    for name, unit, meaning in found.columns():
        values = getattr(found, name)
        known = np.ones(len(values), bool)
        if unit == "text":
            texts = [str(v) for v in values.tolist()]
            values = np.array(texts if show_paths else [hide_home(t) for t in texts], object)
        elif unit != "bool":
            known = np.isfinite(values) & (values >= 0)
        columns.append(FileColumn(file_name(name, unit), unit, meaning, values, known))
    return columns


def file_name(column: str, unit: str) -> str:
    """Return a column's name with its unit, once."""
    ending = _ENDINGS.get(unit, "")
    return column if ending and f"_{column}".endswith(ending) else column + ending
