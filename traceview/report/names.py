"""The one dictionary of names on a page, shared by tables and timeline, kept within its budget.

Names of tables come first, then those of the timeline by the number of their items. Where all of
them are too much, the rare ones are cut in the middle, harder and harder, and counted. Labels are
those of the document (labels.py).
"""

from __future__ import annotations

import zlib

import orjson

from traceview.report.labels import Labels
from traceview.report.view import NameTable
from traceview.units import LABEL_LIMIT, middle

BUDGET = 400_000  # bytes after deflate
LEFT_OUT = "(name left out)"
_LIMITS = (1200, 400, 160, 80, 40)
_TAG = 30  # characters that tell labels apart


class NameBook:
    """Number the names in the order in which they are added."""

    def __init__(self, labels: Labels | None = None) -> None:
        self._given = labels or Labels()
        self._index: dict[str, int] = {}
        self._texts: list[str] = []
        self._labels: list[str] = []
        self._important = 0

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, name: str) -> int:
        """Return the number of a full name."""
        index = self._index.get(name)
        if index is None:
            index = self._index[name] = len(self._texts)
            text, label = self._given.text(name), self._given.of(name)
            self._texts.append(text)
            self._labels.append("" if label == text else label)
        return index

    def uncut(self) -> NameTable:
        """Return all names and labels as they are, whatever their size."""
        return NameTable(tuple(self._texts), tuple(self._labels))

    def mark(self) -> None:
        """Say that the names added so far stand in tables: they are the last to be cut."""
        self._important = len(self._texts)

    def copy(self) -> NameBook:
        """Return a book that can be added to without changing this one."""
        other = NameBook(self._given)
        other._index, other._important = dict(self._index), self._important
        other._texts, other._labels = list(self._texts), list(self._labels)
        return other

    def table(self) -> NameTable:
        """Return all names and labels, cut until they keep the budget."""
        texts, labels = self._texts, self._labels
        for limit in _LIMITS:
            if _size(texts, labels) <= BUDGET:
                break
            texts, labels = self._cut(limit)
        kept = len(texts)
        while kept and _size(texts, labels) > BUDGET:
            kept //= 2
            texts = [t if i < kept else LEFT_OUT for i, t in enumerate(texts)]
            labels = [t if i < kept else "" for i, t in enumerate(labels)]
        shortened = sum(a is not b for a, b in zip(texts, self._texts, strict=True))
        return NameTable(tuple(texts), tuple(labels), shortened)

    def _cut(self, limit: int) -> tuple[list[str], list[str]]:
        """Cut the rare names to a length; where little of a name would be left, its label stands for it."""
        rare = self._important if limit > LABEL_LIMIT + _TAG else 0
        texts, labels = list(self._texts), list(self._labels)
        for i in range(rare, len(texts)):
            if limit <= LABEL_LIMIT + _TAG and labels[i]:
                texts[i], labels[i] = middle(labels[i], limit), ""
            else:
                texts[i] = middle(texts[i], limit)
        return texts, labels


def _size(texts: list[str], labels: list[str]) -> int:
    plain = sum(map(len, texts)) + sum(map(len, labels))
    return plain if plain <= BUDGET // 2 else len(zlib.compress(orjson.dumps([texts, labels]), 6))
