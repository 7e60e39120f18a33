"""The one dictionary of names on a page, shared by tables and timeline, kept within its budget.

Names of tables come first, then those of the timeline by the number of their items. Where all of
them are too much, the rare ones are cut in the middle, harder and harder, and counted.
"""

from __future__ import annotations

import zlib

import orjson

from traceview.report.view import NameTable
from traceview.units import hide_home, middle, safe, short_unique

BUDGET = 400_000  # bytes after deflate
LONGEST = 8192
LEFT_OUT = "(name left out)"
_LIMITS = (1200, 400, 160, 80, 40)


class NameBook:
    """Number the names in the order in which they are added."""

    def __init__(self, show_paths: bool = False) -> None:
        self._show_paths = show_paths
        self._index: dict[str, int] = {}
        self._texts: list[str] = []
        self._labelled: set[int] = set()
        self._important = 0

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, name: str, labelled: bool = False) -> int:
        """Return the number of a full name; labelled names get a short label no other one has."""
        index = self._index.get(name)
        if index is None:
            index = self._index[name] = len(self._texts)
            text = safe(name)
            self._texts.append(middle(text if self._show_paths else hide_home(text), LONGEST))
        if labelled:
            self._labelled.add(index)
        return index

    def mark(self) -> None:
        """Say that the names added so far stand in tables: they are the last to be cut."""
        self._important = len(self._texts)

    def copy(self) -> NameBook:
        """Return a book that can be added to without changing this one."""
        other = NameBook(self._show_paths)
        other._index, other._texts = dict(self._index), list(self._texts)
        other._labelled, other._important = set(self._labelled), self._important
        return other

    def table(self) -> NameTable:
        """Return all names and labels, cut until they keep the budget."""
        texts, labels = self._texts, self._labels()
        for limit in _LIMITS:
            if _size(texts, labels) <= BUDGET:
                break
            rare = self._important if limit > 80 else 0
            texts = [t if i < rare else middle(t, limit) for i, t in enumerate(self._texts)]
        kept = len(texts)
        while kept and _size(texts, labels) > BUDGET:
            kept //= 2
            texts = [t if i < kept else LEFT_OUT for i, t in enumerate(texts)]
            labels = [t if i < kept else "" for i, t in enumerate(labels)]
        shortened = sum(a is not b for a, b in zip(texts, self._texts, strict=True))
        return NameTable(tuple(texts), tuple(labels), shortened)

    def _labels(self) -> list[str]:
        short = short_unique(self._texts[i] for i in self._labelled)
        labels = [""] * len(self._texts)
        for i in self._labelled:
            label = short[self._texts[i]]
            labels[i] = "" if label == self._texts[i] else label
        return labels


def _size(texts: list[str], labels: list[str]) -> int:
    plain = sum(map(len, texts)) + sum(map(len, labels))
    return plain if plain <= BUDGET // 2 else len(zlib.compress(orjson.dumps([texts, labels]), 6))
