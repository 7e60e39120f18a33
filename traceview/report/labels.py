"""One label per name of a document: chart, table, timeline, key numbers and terminal all show the same.

Labels are made over all names of the trace, not over the rows shown, so that a `#2` means the same
kernel everywhere. Rules for short names are for kernels; operators keep their namespace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from traceview.analyses import Analysis
from traceview.units import LABEL_LIMIT, distinct, hide_home, middle, safe, short_name

MOST_KERNELS = 20_000  # a label costs a third of a millisecond; kernels beyond the largest keep their text
_TAG = re.compile(r"(?: \[[^\[\]]*\]| #\d+)(?:~\d+)?$")
_LONGER = 12  # characters given back to texts that would be cut to the same


@dataclass(frozen=True)
class Labels:
    """Hold the labels of kernels and of the names in tables; other names are shown in full."""

    by_name: Mapping[str, str] = field(default_factory=dict)
    show_paths: bool = False

    def text(self, name: str) -> str:
        """Return the full text of a name as it may be shown: no invisible characters, no home folder."""
        text = safe(name)
        return text if self.show_paths else hide_home(text)

    def of(self, name: str) -> str:
        """Return the label of a name."""
        return self.by_name.get(name) or self.text(name)


def labels_of(analysis: Analysis, show_paths: bool = False) -> Labels:
    """Make the labels of a document."""
    plain = Labels(show_paths=show_paths)
    tables = (analysis.operators.name, analysis.copies.name, analysis.launches.by_call.name)
    others = {str(n): plain.text(str(n)) for column in tables for n in column}
    kernels = {str(n): plain.text(str(n)) for n in analysis.kernels.name[:MOST_KERNELS]}
    made = distinct(others, lambda text: middle(text, LABEL_LIMIT)) | distinct(kernels, short_name)
    return Labels(made, show_paths)


def fitted(labels: list[str], limit: int) -> list[str]:
    """Cut labels in the middle of what stands before their tag; those that would look alike stay longer."""
    texts = [_fit(label, limit) for label in labels]
    longest = max(map(len, labels), default=0)
    while limit < longest:
        alike = {t for t in texts if texts.count(t) > 1}
        if not alike:
            break
        limit += _LONGER
        texts = [_fit(label, limit) if t in alike else t for label, t in zip(labels, texts, strict=True)]
    return texts


def _fit(label: str, limit: int) -> str:
    tag = _TAG.search(label)
    suffix = tag.group() if tag else ""
    return middle(label.removesuffix(suffix), max(limit - len(suffix), limit // 2)) + suffix
