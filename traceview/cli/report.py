"""traceview report: one HTML page that opens offline, and the same report for other readers."""

from __future__ import annotations

import click

from traceview.cli.options import step_options, trace_options
from traceview.crew import start_ahead

SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
}


@click.command()
@trace_options
@step_options
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help='What to write ("-": standard output), as .html, .md, .json, .csv or .parquet; may be repeated. '
    "Default: a page beside TRACE.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(SUFFIXES.values()))),
    help="Format of the one output whose name does not say it.",
)
@click.option("--table", metavar="NAME", help="Table of .csv and .parquet. Default: kernels.")
@click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
@click.option("--top", type=click.IntRange(1), default=500, show_default=True, help="Rows of each table.")
@click.option(
    "--timeline-budget",
    type=click.IntRange(1_000, 5_000_000),
    default=150_000,
    show_default=True,
    help="Slices and merged blocks of the timeline. With more than the default the page may exceed 2.5 MB.",
)
@click.option("--title", help="Title of the page. Default: label, rank and device.")
@click.option("--show-paths", is_flag=True, help="Show host names and home folders in names and paths.")
def report(
    trace: str | None,
    categories: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    outputs: tuple[str, ...],
    form: str | None,
    table: str | None,
    force: bool,
    opened: bool,
    top: int,
    timeline_budget: int,
    title: str | None,
    show_paths: bool,
) -> None:
    """Write a page that tells where the GPU time of TRACE went.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR.
    """
    start_ahead(trace)
    from traceview.analyses import Choice
    from traceview.cli.command_line import command_line
    from traceview.cli.loading import choose, load
    from traceview.cli.output import derived_name, open_page
    from traceview.cli.painting import Painters, checked
    from traceview.cli.targets import refuse_targets, targets, write_targets
    from traceview.report import ReportOptions

    choice = Choice.parsed(chosen, skip_first, step_name)
    asked = targets(outputs, form, SUFFIXES, "html")
    table = checked([t.form for t in asked] or [form or "html"], table, opened)
    path = choose(trace, quiet)
    found = asked or targets([derived_name(path, f".{form or 'html'}")], form, SUFFIXES)
    refuse_targets(found, path, force)
    _, analysis = load(path, categories, quiet, choice)
    options = ReportOptions(
        title, top, show_paths, timeline_budget, command_line(click.get_current_context())
    )
    paint = Painters(analysis, options, table)
    written = write_targets([(t, paint.of(t.form)) for t in found], paint.verdict)
    if opened:
        open_page(next(place for t, place in zip(found, written, strict=True) if t.form == "html"))
