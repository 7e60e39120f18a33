"""One label per name of a document: chart, table, timeline, key numbers and terminal all show the same.

Labels are made over all names of the trace, not over the rows shown, so that a `#2` means the same
kernel everywhere. Rules for short names are for kernels; operators keep their namespace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from traceview.analyses import Analysis
from traceview.findings.said import Row
from traceview.units import LABEL_LIMIT, distinct, middle, short_name, shown

MOST_KERNELS = 20_000  # a label costs a third of a millisecond; kernels beyond the largest keep their text
LONGEST = 8192  # characters of a full name on a page
_TAG = re.compile(r"(?: \[[^\[\]]*\]| #\d+)(?:~\d+)?$")
_TURNS = 3  # of telling apart labels that are cut to the same


@dataclass(frozen=True)
class Labels:
    """Hold the labels of kernels and of the names in tables; other names are shown in full."""

    by_name: Mapping[str, str] = field(default_factory=dict)
    show_paths: bool = False

    def text(self, name: str) -> str:
        """Return the full text of a name as it may be shown: no invisible characters, no home folder, no book."""
        return shown(name, LONGEST, self.show_paths)

    def of(self, name: str) -> str:
        """Return the label of a name."""
        return self.by_name.get(name) or self.text(name)

    def stands_for(self, row: Row) -> str:
        """Return what a sentence calls a row: as its table does, or cut to the length of a label."""
        return row.text or self.by_name.get(row.name) or shown(row.name, LABEL_LIMIT, self.show_paths)


def labels_of(analysis: Analysis, show_paths: bool = False) -> Labels:
    """Make the labels of a document."""
    plain = Labels(show_paths=show_paths)
    tables = (analysis.operators.name, analysis.copies.name, analysis.launches.by_call.name)
    others = {str(n): plain.text(str(n)) for column in tables for n in column}
    kernels = {str(n): plain.text(str(n)) for n in analysis.kernels.name[:MOST_KERNELS]}
    made = distinct(others, lambda text: middle(text, LABEL_LIMIT)) | distinct(kernels, short_name)
    return Labels(made, show_paths)


def fitted(labels: list[str], limit: int) -> list[str]:
    """Cut labels before their tag: in the middle, or where those that would look alike differ."""
    texts = [_fit(label, limit) for label in labels]
    for _ in range(_TURNS):
        groups: dict[str, list[int]] = {}
        for i, text in enumerate(texts):
            groups.setdefault(text, []).append(i)
        for members in groups.values():
            common = _in_common([labels[i] for i in members])
            for i in members if len(members) > 1 else ():
                texts[i] = _fit(labels[i], limit, common)
    return texts


def _in_common(labels: list[str]) -> int:
    """Return how many characters all labels begin with."""
    first, last = min(labels), max(labels)
    alike = zip(first, last, strict=False)
    return next((i for i, (a, b) in enumerate(alike) if a != b), min(len(first), len(last)))


def _fit(label: str, limit: int, differs: int = 0) -> str:
    """Cut a label to a length; from `differs` on it is told apart from another."""
    tag = _TAG.search(label)
    suffix = tag.group() if tag else ""
    base, room = label.removesuffix(suffix), max(limit - len(suffix), limit // 2)
    if len(base) <= room or not differs:
        return middle(base, room) + suffix
    head = room // 3
    tail = base[max(min(differs - 1, len(base) - room + head + 1), head) :]
    return base[:head] + "…" + (tail if len(tail) < room - head else tail[: room - head - 2] + "…") + suffix
