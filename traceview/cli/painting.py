"""The formats of `traceview report`: what each of them needs, and how it is painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from traceview.analyses import Analysis
from traceview.cli.output import json_text
from traceview.errors import UsageError
from traceview.report import Report, ReportOptions, build_report, render_html
from traceview.report.csv_file import csv_text
from traceview.report.export import summary_document
from traceview.report.kpis import verdict
from traceview.report.markdown import report_markdown
from traceview.report.parquet import require_pyarrow, write_table
from traceview.report.result_tables import checked_table, file_columns
from traceview.report.selected import shown_of

TABULAR = ("csv", "parquet")


def checked(forms: Sequence[str], table: str | None, opened: bool) -> str:
    """Return the table that is meant; refuse options that none of the formats can use, and a missing package."""
    if table is not None and not set(forms) & set(TABULAR):
        raise UsageError("--table goes with .csv and .parquet only", "name such an output with -o")
    if opened and "html" not in forms:
        raise UsageError("--open goes with a page only", "name an .html output with -o")
    found = checked_table("kernels" if table is None else table)
    if "parquet" in forms:
        require_pyarrow()
    return found


@dataclass(frozen=True)
class Painters:
    """Paint one analysis in several formats; the report is built once."""

    analysis: Analysis
    options: ReportOptions
    table: str

    @cached_property
    def report(self) -> Report:
        """Return the report that page and Markdown show."""
        return build_report(self.analysis, self.options)

    @property
    def verdict(self) -> str:
        """Return where the time went, in a sentence."""
        return verdict(shown_of(self.analysis))

    def of(self, form: str) -> Callable[[BinaryIO], object]:
        """Return what writes one format."""
        if form == "parquet":
            return self._parquet
        text = {"html": self._html, "md": self._markdown, "json": self._json, "csv": self._csv}[form]
        return lambda file: file.write(text().encode("utf-8", "backslashreplace"))

    def _html(self) -> str:
        return render_html(self.report)

    def _markdown(self) -> str:
        return report_markdown(self.report)

    def _json(self) -> str:
        return json_text(summary_document(self.analysis))

    def _csv(self) -> str:
        return csv_text(file_columns(shown_of(self.analysis), self.table, self.options.show_paths))

    def _parquet(self, file: BinaryIO) -> None:
        write_table(
            file, file_columns(shown_of(self.analysis), self.table, self.options.show_paths), self.table
        )
