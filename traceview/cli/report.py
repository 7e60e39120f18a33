"""traceview report: one HTML page that opens offline."""

from __future__ import annotations

import click

from traceview.cli.options import step_options, trace_options
from traceview.crew import start_ahead


@click.command()
@trace_options
@step_options
@click.option(
    "-o", "--output", metavar="FILE", help='Page to write ("-": standard output). Default: beside TRACE.'
)
@click.option("--force", is_flag=True, help="Overwrite the page if it exists.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
@click.option("--top", type=click.IntRange(1), default=500, show_default=True, help="Rows of each table.")
@click.option("--title", help="Title of the page. Default: label, rank and device.")
@click.option("--show-paths", is_flag=True, help="Show host names and home folders in names and paths.")
def report(
    trace: str | None,
    categories: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    output: str | None,
    force: bool,
    opened: bool,
    top: int,
    title: str | None,
    show_paths: bool,
) -> None:
    """Write a page that tells where the GPU time of TRACE went.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR.
    """
    start_ahead(trace)
    from traceview.analyses import Choice
    from traceview.cli.loading import choose, load
    from traceview.cli.output import derived_name, open_page, refuse_existing, write_page
    from traceview.report import ReportOptions, build_report, render_html

    choice = Choice.parsed(chosen, skip_first, step_name)
    path = choose(trace, quiet)
    target = derived_name(path) if output is None else output
    refuse_existing(target, path, force)
    _, analysis = load(path, categories, quiet, choice)
    page = build_report(analysis, ReportOptions(title=title, top=top, show_paths=show_paths))
    written = write_page(target, render_html(page), page.verdict)
    if opened:
        open_page(written)
