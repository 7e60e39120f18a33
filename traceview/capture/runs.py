"""The table of runs: one SQLite file with a row per measured configuration, its conditions and its samples.

Several processes may add rows at once: each addition is one transaction, and waits for the others. The schema has a
version; an older file is brought up to date in one transaction, a newer one is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview.capture.run_words import of_today
from traceview.errors import InputError, OutputError, UsageError

DEFAULT = Path(".traceview") / "runs.sqlite"
APPLICATION = 0x54524156  # "TRAV": what tells our files from other SQLite files
BUSY_S = 30.0  # a writer waits for the others so long
_LONGEST, _LARGEST = 2**62, 1e300  # ns, and any figure
_LAST_DAY = 2**38  # s
_COLUMNS = "id, written, kind, label, conditions, figures, samples, trace, notes"
# each brings a file from the version of its place to the next one
MIGRATIONS = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, written INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL,
        conditions TEXT NOT NULL, figures TEXT NOT NULL, samples TEXT NOT NULL)""",
    "ALTER TABLE runs ADD COLUMN trace TEXT NOT NULL DEFAULT ''; CREATE INDEX runs_label ON runs (label, written)",
    "ALTER TABLE runs ADD COLUMN notes TEXT NOT NULL DEFAULT '{}'",
)


@dataclass(frozen=True)
class Run:
    """Hold a measured configuration.

    `conditions` are texts; `figures` numbers whose names end with their unit; `samples` are lists of ns, one
    list per process that measured; `notes` are texts that say what a figure is of, and are no conditions.
    """

    kind: str  # "bench" or "summary"
    label: str
    conditions: Mapping[str, str]
    figures: Mapping[str, float | None]
    samples: Sequence[Sequence[int]]
    trace: str = ""  # base name of the trace
    id: int = 0  # 0: not yet in a table
    written: int = field(default_factory=lambda: int(time.time()))
    notes: Mapping[str, str] = field(default_factory=dict)


class Runs:
    """Open a table of runs; a file that is missing is made by the first row."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path else DEFAULT

    def ready(self) -> None:
        """Refuse, before anything is measured, a table that could take no row; makes none."""
        if self.path.exists():
            with self._open() as base, _written(self.path):
                base.execute("BEGIN IMMEDIATE")
                base.execute("ROLLBACK")
            return
        above = next((p for p in self.path.absolute().parents if p.exists()), None)
        if above is None or not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise OutputError(f"{self.path}: cannot be written", "name another file with --runs")

    def add(self, runs: Sequence[Run]) -> list[int]:
        """Add rows, all or none; return their numbers."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written ({error.strerror})", "name another file with --runs"
            ) from error
        with self._open() as base, _written(self.path):
            base.execute("BEGIN IMMEDIATE")
            places = [base.execute(_INSERT, _row(run)).lastrowid for run in runs]
            base.execute("COMMIT")
        return [int(p) for p in places if p is not None]

    def rows(self, label: str | None = None, most: int | None = None) -> list[Run]:
        """Return rows, the newest first."""
        where, values = ("WHERE label = ?", [label]) if label is not None else ("", [])
        limit = "" if most is None else f"LIMIT {int(most)}"
        return self._read(f"SELECT {_COLUMNS} FROM runs {where} ORDER BY id DESC {limit}", values)  # noqa: S608 - no text of a user

    def get(self, number: int) -> Run:
        """Return one row."""
        found = self._read(f"SELECT {_COLUMNS} FROM runs WHERE id = ?", [number])  # noqa: S608 - as above
        if not found:
            raise UsageError(f"no run {number} in {self.path}", "'traceview runs' lists them")
        return found[0]

    def _read(self, query: str, values: Sequence[object]) -> list[Run]:
        if not self.path.exists():
            raise InputError(
                f"{self.path}: no table of runs", "'traceview bench' makes one; or name it with --runs"
            )
        with self._open() as base:
            return [_run(row) for row in base.execute(query, values)]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        base = None
        try:
            base = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
            _bring_up_to_date(base, self.path)
            yield base
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: {error}", "is it a table of runs? name another file with --runs"
            ) from error
        finally:
            if base is not None:
                base.close()  # what was not committed is undone


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:  # locked for too long, read-only, or a full disk
        raise OutputError(
            f"{path}: cannot be written ({error})", "try again, or name another file with --runs"
        ) from error


_INSERT = "INSERT INTO runs (written, kind, label, conditions, figures, samples, trace, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def _row(run: Run) -> tuple[object, ...]:
    def packed(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    return (
        run.written, run.kind, run.label, packed(dict(run.conditions)), packed(dict(run.figures)),
        packed([list(s) for s in run.samples]), run.trace, packed(dict(run.notes)),
    )  # fmt: skip


def _run(row: Sequence[Any]) -> Run:
    """Return a row as a run; conditions get the names of today."""
    number, written, kind, label, conditions, figures, samples, trace, notes = row
    try:
        found = Run(
            _checked(kind, str), _checked(label, str), of_today(_pairs(conditions, str)),
            _pairs(figures, (int, float, type(None))), _samples(samples), _checked(trace, str),
            number, _day(written), _pairs(notes, str),
        )  # fmt: skip
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"run {number} is damaged ({error})", "delete it with another SQLite program, or use another file"
        ) from error
    return found


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{str(value)[:40]!r} is no {_KINDS[kind]}")
    return value


_KINDS = {str: "text", int: "number", dict: "table", list: "list"}


def _pairs(text: Any, kind: Any) -> dict[str, Any]:
    pairs = _checked(json.loads(text), dict)
    for name, value in pairs.items():
        if not isinstance(value, kind) or isinstance(value, bool) or (kind is not str and not _finite(value)):
            raise TypeError(f"{name}: {str(value)[:40]!r}")
    return dict(pairs)


def _day(value: Any) -> int:
    if not 0 <= _checked(value, int) < _LAST_DAY:
        raise ValueError(f"written at {value}")
    return int(value)


def _finite(value: float | None) -> bool:
    return value is None or abs(value) < _LARGEST  # no NaN either


def _samples(text: Any) -> list[list[int]]:
    found: list[list[int]] = _checked(json.loads(text), list)
    for run in found:
        if any(not isinstance(s, int) or not 0 <= s < _LONGEST for s in _checked(run, list)):
            raise TypeError("samples that are no times")
    return found


def _bring_up_to_date(base: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, and those of today of an old one."""
    if _version(base) == len(MIGRATIONS) and _application(base) == APPLICATION:
        return
    base.execute("BEGIN IMMEDIATE")  # another process may be doing the same
    version, application = _version(base), _application(base)
    if application not in (0, APPLICATION) or (application == 0 and _tables(base)):
        raise InputError(f"{path}: a SQLite file of another program", "name another file with --runs")
    if version > len(MIGRATIONS):
        raise InputError(f"{path}: written by a newer traceview (version {version})", "update traceview")
    for number in range(version, len(MIGRATIONS)):
        for statement in MIGRATIONS[number].split(";"):
            base.execute(statement)
    base.execute(f"PRAGMA application_id = {APPLICATION}")
    base.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    base.execute("COMMIT")


def _version(base: sqlite3.Connection) -> int:
    return int(base.execute("PRAGMA user_version").fetchone()[0])


def _application(base: sqlite3.Connection) -> int:
    return int(base.execute("PRAGMA application_id").fetchone()[0])


def _tables(base: sqlite3.Connection) -> int:
    return int(base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
