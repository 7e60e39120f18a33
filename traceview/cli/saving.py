"""Keep what a later comparison needs of a run."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.capture.run_rows import run_of
from traceview.capture.runs import Runs
from traceview.cli.output import STANDARD, refuse_existing, write_file
from traceview.cli.streams import say
from traceview.errors import UsageError
from traceview.report.save import saved_document, saved_text
from traceview.report.selected import shown_of
from traceview.units import safe


def refuse_saving(target: str, trace: str, force: bool) -> None:
    """Refuse standard output, where the summary goes, and to overwrite a file unasked."""
    if target == STANDARD:
        raise UsageError("--save -: the summary itself goes to standard output", "name a file")
    refuse_existing(target, trace, force)


def save_run(target: str, analysis: Analysis, quiet: bool) -> None:
    """Write the document of the run, or of its chosen steps; say so on standard error."""
    data = saved_text(saved_document(shown_of(analysis))).encode("ascii")
    write_file(target, data)
    if not quiet:
        say(f"traceview: saved {safe(target)} ({len(data) / 1000:,.0f} kB)")


def record_run(table: str | None, analysis: Analysis, quiet: bool) -> None:
    """Add the run, or its chosen steps, to the table of runs; say so on standard error."""
    runs = Runs(table)
    (number,) = runs.add([run_of(shown_of(analysis))])
    if not quiet:
        say(f"traceview: run {number} in {safe(str(runs.path))}")
