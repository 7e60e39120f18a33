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
from traceview.errors import InputError, OutputError, TraceviewError, UsageError

DEFAULT = Path(".traceview") / "runs.sqlite"
APPLICATION = 0x54524156  # "TRAV": what tells our files from other SQLite files
BUSY_S = 30.0  # a writer waits for the others so long
_LONGEST, _LARGEST = 2**62, 1e300  # ns, and any figure
_LAST_DAY = 2**38  # s
_LAST_ROW = 2**63 - 1  # the largest number that SQLite knows
_SAID, _SHOWN = 3, 40  # damaged rows in a sentence, and characters of what is odd
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
    """Open a table of runs; a file that is missing is made by the first row, and by nothing else."""

    def __init__(self, path: str | Path | None = None) -> None:
        if path is not None and not str(path).strip():
            raise UsageError("--runs: no file was named", f"name a file; without the option it is {DEFAULT}")
        self.path = Path(path) if path else DEFAULT

    def ready(self) -> None:
        """Refuse, before anything is measured, a table that could take no row; makes none."""
        with _outwards(self.path):
            exists = self.path.exists()
            above = next((p for p in self.path.absolute().parents if p.exists()), None)
        if above is None or not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise OutputError(f"{self.path}: cannot be written", _ANOTHER)
        if exists:
            with self._open(writes=True) as base:
                base.execute("BEGIN IMMEDIATE")
                base.execute("ROLLBACK")

    def add(self, runs: Sequence[Run]) -> list[int]:
        """Add rows, all or none; return their numbers."""
        with _outwards(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.exists()  # a name that is too long
        with self._open(writes=True) as base:
            base.execute("BEGIN IMMEDIATE")
            places = [base.execute(_INSERT, _row(run)).lastrowid for run in runs]
            base.execute("COMMIT")
        return [int(p) for p in places if p is not None]

    def rows(self, label: str | None = None, most: int | None = None) -> list[Run]:
        """Return rows, the newest first. Raises InputError where one is damaged."""
        found, damaged = self.read(label, most)
        refuse(damaged)
        return found

    def read(self, label: str | None = None, most: int | None = None) -> tuple[list[Run], list[str]]:
        """Return the rows that can be read, the newest first, and a sentence on each that cannot."""
        where, values = ("WHERE label = ?", [_bytes(label)]) if label is not None else ("", [])
        limit = "" if most is None else f"LIMIT {min(int(most), _LAST_ROW)}"
        return self._read(f"SELECT {_COLUMNS} FROM runs {where} ORDER BY id DESC {limit}", values)  # noqa: S608 - no text of a user

    def get(self, number: int) -> Run:
        """Return one row."""
        found: list[Run] = []
        if 0 < number <= _LAST_ROW:
            found, damaged = self._read(f"SELECT {_COLUMNS} FROM runs WHERE id = ?", [number])  # noqa: S608 - as above
            refuse(damaged)
        if not found:
            raise UsageError(f"no run {str(number)[:_SHOWN]} in {self.path}", "'traceview runs' lists them")
        return found[0]

    def _read(self, query: str, values: Sequence[object]) -> tuple[list[Run], list[str]]:
        try:
            size = self.path.stat().st_size
        except OSError:
            size = 0
        if not size:  # an empty file is none, and does not become one by being read
            raise InputError(f"{self.path}: no table of runs", _MAKES_ONE)
        found: list[Run] = []
        damaged: list[str] = []
        with self._open(writes=False) as base:
            rows = base.execute(query, values)
            while (row := _next(rows, found, damaged)) is not None:
                try:
                    found.append(_run(row))
                except _DAMAGE as error:
                    damaged.append(f"run {str(row[0])[:_SHOWN]} is damaged ({error})")
        return found, damaged

    @contextmanager
    def _open(self, writes: bool) -> Iterator[sqlite3.Connection]:
        base = None
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path}: no file", _ANOTHER)
        try:
            name = f"{self.path.absolute().as_uri()}?mode={'rwc' if writes else 'rw'}"
            base = sqlite3.connect(name, timeout=BUSY_S, isolation_level=None, uri=True)
            base.text_factory = _text
            _bring_up_to_date(base, self.path, writes)
            yield base
        except sqlite3.Error as error:
            raise _told(self.path, error, writes) from error
        finally:
            if base is not None:
                base.close()  # what was not committed is undone


_ANOTHER = "name another file with --runs"
_MAKES_ONE = "'traceview bench' makes one; or name it with --runs"
_DAMAGE = (ValueError, TypeError, RecursionError)
# what is no fault of the file: locked for too long, read-only, a full disk
_NOT_NOW = frozenset({
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
})  # fmt: skip


def refuse(damaged: Sequence[str]) -> None:
    """Refuse rows that are damaged, in one line."""
    if damaged:
        more = f"; and {len(damaged) - _SAID} more" if len(damaged) > _SAID else ""
        raise InputError(
            "; ".join(damaged[:_SAID]) + more, "delete them with another SQLite program, or use another file"
        )


@contextmanager
def _outwards(path: Path) -> Iterator[None]:
    """Say of a folder that cannot be made, or a name that is too long, that it cannot be written."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})", _ANOTHER) from error


def _told(path: Path, error: sqlite3.Error, writes: bool) -> TraceviewError:
    """Return what is wrong: with a file that is damaged or foreign, or with writing or reading it now."""
    code = getattr(error, "sqlite_errorcode", -1) & 0xFF
    if code not in _NOT_NOW:
        return InputError(f"{path}: {error}", f"is it a table of runs? {_ANOTHER}")
    again = f"try again, or {_ANOTHER}"
    if writes:
        return OutputError(f"{path}: cannot be written ({error})", again)
    return InputError(f"{path}: cannot be read now ({error})", again)


def _next(rows: sqlite3.Cursor, found: Sequence[Run], damaged: list[str]) -> Any:
    """Return the next row, None after the last; where a file is broken behind some rows, these are kept."""
    try:
        return rows.fetchone()
    except sqlite3.DatabaseError as error:
        if not found:
            raise
        damaged.append(f"what is older than run {found[-1].id} cannot be read ({error})")
        return None


def _text(data: bytes) -> str | bytes:
    """Return a text, or as bytes what is none: one such row is damaged, not the table."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def _bytes(label: str) -> str:
    """Return a label as it can be looked for; a word that is no UTF-8 is the label of no row."""
    return label.encode("utf-8", "replace").decode("utf-8")


_INSERT = "INSERT INTO runs (written, kind, label, conditions, figures, samples, trace, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def _row(run: Run) -> tuple[object, ...]:
    def packed(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    return (
        run.written, run.kind, run.label, packed(dict(run.conditions)), packed(dict(run.figures)),
        packed([list(s) for s in run.samples]), run.trace, packed(dict(run.notes)),
    )  # fmt: skip


def _run(row: Sequence[Any]) -> Run:
    """Return a row as a run; conditions get the names of today. What is damaged raises one of _DAMAGE."""
    number, written, kind, label, conditions, figures, samples, trace, notes = row
    return Run(
        _checked(kind, str), _checked(label, str), of_today(_pairs(conditions, str)),
        _pairs(figures, (int, float, type(None))), _samples(samples), _checked(trace, str),
        _checked(number, int), _day(written), _pairs(notes, str),
    )  # fmt: skip


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{str(value)[:_SHOWN]!r} is no {_KINDS[kind]}")
    return value


_KINDS = {str: "text", int: "number", dict: "table", list: "list"}


def _pairs(text: Any, kind: Any) -> dict[str, Any]:
    pairs = _checked(json.loads(text), dict)
    for name, value in pairs.items():
        if not isinstance(value, kind) or isinstance(value, bool) or (kind is not str and not _finite(value)):
            raise TypeError(f"{name}: {str(value)[:_SHOWN]!r}")
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


def _bring_up_to_date(base: sqlite3.Connection, path: Path, writes: bool) -> None:
    """Make the tables of a new file, and those of today of an old one."""
    if _version(base) == len(MIGRATIONS) and _application(base) == APPLICATION:
        return
    base.execute("BEGIN IMMEDIATE")  # another process may be doing the same
    version, application = _version(base), _application(base)
    if application not in (0, APPLICATION) or (application == 0 and _tables(base)):
        raise InputError(f"{path}: a SQLite file of another program", _ANOTHER)
    if not application and not writes:
        raise InputError(f"{path}: no table of runs", _MAKES_ONE)
    if version < 0:
        raise InputError(f"{path}: is damaged (version {version})", _ANOTHER)
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
