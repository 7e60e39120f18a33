"""The formats of `traceview diff`, and how each is painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from traceview.cli.output import STANDARD, json_text
from traceview.cli.screen import shown_blocks
from traceview.cli.streams import say
from traceview.cli.targets import Target
from traceview.diff.changes import verdict
from traceview.diff.compare import Diff
from traceview.diff.document import diff_document
from traceview.diff.gates import Outcome
from traceview.errors import UsageError
from traceview.report.csv_file import csv_text
from traceview.report.diff_csv import checked_diff_table, diff_columns
from traceview.report.diff_markdown import diff_markdown
from traceview.report.diff_text import diff_blocks
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html
from traceview.report.text_blocks import Block, plain_text
from traceview.report.view import Report, ReportOptions
from traceview.units import safe


def checked(forms: Sequence[str], table: str | None) -> str:
    """Return the table that is meant; refuse it where no output is CSV."""
    if table is not None and "csv" not in forms:
        raise UsageError("--table goes with .csv only", "name such an output with -o")
    return checked_diff_table(table)


@dataclass(frozen=True)
class DiffPainters:
    """Paint one comparison in several formats."""

    diff: Diff
    outcomes: Sequence[Outcome]
    options: ReportOptions
    lines: int  # rows of the text's table
    table: str  # that CSV holds

    @property
    def verdict(self) -> str:
        """Return the comparison in one sentence."""
        return verdict(self.diff)

    def of(self, target: Target) -> Callable[[BinaryIO], object]:
        """Return what writes one output."""
        if target.form == "text" and target.path == STANDARD:
            return lambda file: file.write(shown_blocks(self._blocks).encode("utf-8", "backslashreplace"))
        text = {
            "text": self._text, "json": self._json, "html": self._html, "md": self._markdown, "csv": self._csv
        }[target.form]  # fmt: skip
        return lambda file: file.write(text().encode("utf-8", "backslashreplace"))

    def tell_gates(self, quiet: bool) -> None:
        """Say on standard error what each gate came to."""
        if not quiet:
            for outcome in self.outcomes:
                say(safe(f"gate {outcome.gate.text}: {outcome.state} ({outcome.why})"))

    @cached_property
    def report(self) -> Report:
        """Return the report that page and Markdown show."""
        return build_diff(self.diff, self.outcomes, self.options)

    def _html(self) -> str:
        return render_html(self.report)

    def _markdown(self) -> str:
        return diff_markdown(self.report, self.diff, self.outcomes)

    def _csv(self) -> str:
        return csv_text(diff_columns(self.diff, self.table, self.options.show_paths))

    @property
    def _blocks(self) -> list[Block]:
        return diff_blocks(self.diff, self.outcomes, self.lines)

    def _text(self) -> str:
        return plain_text(self._blocks)

    def _json(self) -> str:
        return json_text(diff_document(self.diff, self.outcomes))
