"""The formats of `traceview diff`, and how each is painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from traceview.cli.output import json_text
from traceview.cli.streams import say
from traceview.diff.changes import verdict
from traceview.diff.compare import Diff
from traceview.diff.document import diff_document
from traceview.diff.gates import Outcome
from traceview.report.diff_text import diff_text
from traceview.units import safe


@dataclass(frozen=True)
class DiffPainters:
    """Paint one comparison in several formats."""

    diff: Diff
    outcomes: Sequence[Outcome]
    top: int

    @property
    def verdict(self) -> str:
        """Return the comparison in one sentence."""
        return verdict(self.diff)

    def of(self, form: str) -> Callable[[BinaryIO], object]:
        """Return what writes one format."""
        text = {"text": self._text, "json": self._json}[form]
        return lambda file: file.write(text().encode("utf-8", "backslashreplace"))

    def tell_gates(self, quiet: bool) -> None:
        """Say on standard error what each gate came to."""
        if not quiet:
            for outcome in self.outcomes:
                say(safe(f"gate {outcome.gate.text}: {outcome.state} ({outcome.why})"))

    def _text(self) -> str:
        return diff_text(self.diff, self.outcomes, self.top)

    def _json(self) -> str:
        return json_text(diff_document(self.diff, self.outcomes))
