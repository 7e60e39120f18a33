"""Growing columns for the arguments that only some events carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from traceview.sources.schema import ABSENT, EMPTY, Argument, Form

_LONGEST_TEXT = 1 << 12
_ODD_ID = -(1 << 62)  # ids that are no int64 get the codes from here downwards
_NONE = type(None)


class Interner(dict[Any, int]):
    """Give every new key the next code; `list(keys)` is then the table of the codes."""

    def __missing__(self, key: Any) -> int:
        code = self[key] = len(self)
        return code


def id_text(value: int, odd: Sequence[str]) -> str:
    """Return an id as it was written."""
    return str(value) if value > _ODD_ID else odd[_ODD_ID - value]


def merged(first: list[Any], second: list[Any]) -> tuple[list[Any], np.ndarray]:
    """Return both tables as one, the first's codes unchanged, and the new code of each entry of the second."""
    index: dict[Any, int] = {}
    for code, key in enumerate(first):
        index.setdefault(key, code)
    together = list(first)
    for key in second:
        if key not in index:
            index[key] = len(together)
            together.append(key)
    return together, np.array([index[key] for key in second], np.int32)


def shift_odd(first: list[str], second: list[str], values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the ids of a second stretch with its odd ids renumbered after those of a first, and all odd ids."""
    if not second:
        return values, first
    texts, codes = merged(first, second)
    odd = values <= _ODD_ID
    values = values.copy()
    values[odd] = _ODD_ID - codes[_ODD_ID - values[odd]].astype(np.int64)
    return values, texts


def opaque_ids(values: Sequence[object], odd: Interner) -> np.ndarray:
    """Return ids as int64: ints as they are, texts and ints beyond int64 as interned codes."""
    if set(map(type, values)) == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    return np.array([_opaque(v, odd) for v in values], np.int64)


def _opaque(value: object, odd: Interner) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # some tool wrote 5.0 for 5
    if type(value) is int and _ODD_ID < value < -_ODD_ID:
        return value
    if isinstance(value, str):
        text = value.strip()
        if text.isdecimal() and len(text) < 19 and (text == "0" or text[0] != "0"):
            return int(text)  # "21" and 21 are one id: JAX writes texts
        return _ODD_ID - odd[text]
    return _ODD_ID - odd[repr(value)]


class ArgumentColumn:
    """Collect one argument as (row, value) pairs, interned where it is text."""

    def __init__(self, argument: Argument) -> None:
        self.argument = argument
        self.table = Interner()
        self._rows: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def add_strict(self, rows: np.ndarray, column: Sequence[Any]) -> None:
        """Append a column of plain ints or floats, in which ABSENT, nan and EMPTY stand for nothing.

        Raises OverflowError when an int is no int64, keeping nothing.
        """
        form = self.argument.form
        if form is Form.TEXT:
            self._add_texts(rows, column)
            return
        values = np.fromiter(column, np.float64 if form is Form.FLOAT else np.int64, len(column))
        there = ~np.isnan(values) if form is Form.FLOAT else values != ABSENT
        if not there.all():
            rows, values = rows[there], values[there]
        if len(rows):
            self._rows.append(rows)
            self._values.append(values)

    def _add_texts(self, rows: np.ndarray, column: Sequence[Any]) -> None:
        absent = column.count(EMPTY)
        if absent == len(column):
            return
        if absent:
            keep = np.array([i for i, v in enumerate(column) if v is not EMPTY])
            rows, column = rows[keep], [column[i] for i in keep.tolist()]
        self._rows.append(rows)
        self._values.append(
            np.fromiter(map(self.table.__getitem__, map(bytes, column)), np.int64, len(column))
        )

    def add(self, rows: np.ndarray, column: Sequence[Any]) -> None:
        """Append the values present in a column; rows are the file rows of its entries."""
        if self.argument.form is Form.TEXT:
            self._add_texts(rows, column)
            return
        kinds = set(map(type, column))
        if kinds == {_NONE}:
            return
        if _NONE in kinds:
            keep = np.array([i for i, v in enumerate(column) if v is not None])
            rows, column = rows[keep], [column[i] for i in keep.tolist()]
        rows, values = self._numbers(rows, column, kinds)
        self._rows.append(rows)
        self._values.append(values)

    def _numbers(
        self, rows: np.ndarray, column: Sequence[Any], kinds: set[type]
    ) -> tuple[np.ndarray, np.ndarray]:
        form = self.argument.form
        if form is Form.ID:
            return rows, opaque_ids(column, self.table)
        if kinds <= {int, float, _NONE} and (form is Form.FLOAT or float not in kinds):
            try:
                return rows, np.array(column, np.float64 if form is Form.FLOAT else np.int64)
            except OverflowError:
                pass
        numbers = [_number(v) for v in column]
        keep = np.array([i for i, v in enumerate(numbers) if v is not None], np.int64)
        kept = [numbers[i] for i in keep.tolist()]
        return rows[keep], np.array(kept, np.float64 if form is Form.FLOAT else np.int64)

    def finish(self) -> tuple[np.ndarray, np.ndarray, list[str] | None]:
        """Return rows, values, and the texts of a text column or the odd ids of an id column."""
        if not self._rows:
            return np.empty(0, np.int64), np.empty(0, np.int64), None
        rows, values = np.concatenate(self._rows), np.concatenate(self._values)
        self._rows, self._values = [], []
        if self.argument.form is Form.ID:
            return rows, values, [str(k) for k in self.table]
        if self.argument.form is not Form.TEXT:
            return rows, values, None
        texts = Interner()
        codes = np.array([-1 if t is None else texts[t] for t in map(_text, self.table)], np.int64)
        values = codes[values]
        known = values >= 0
        if not known.all():
            rows, values = rows[known], values[known]
        return rows, values, list(texts)


def _text(raw: bytes) -> str | None:
    """Return the JSON text without blanks, a string without its quotes, None for null."""
    try:
        value = orjson.loads(raw)
        if value is None or isinstance(value, str):
            return value
        return orjson.dumps(value).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # broken, or nested without end
        return raw[:_LONGEST_TEXT].decode("utf-8", "replace")


def _number(value: object) -> float | int | None:
    """Return a finite number from what a file may hold in its place: a text, an object, a huge int."""
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, (int, float))), None)
    if isinstance(value, str):
        try:
            value = int(value) if value.strip().isdecimal() else float(value)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and abs(value) < 2**63:
        return value
    return None
