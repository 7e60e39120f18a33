"""traceview summary: the answer in the terminal, or as JSON."""

from __future__ import annotations

import click

from traceview.cli.options import step_options, trace_options
from traceview.crew import start_ahead


@click.command()
@trace_options
@step_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A text to read, or the JSON document for scripts.",
)
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Rows of each table of the text."
)
@click.option(
    "--save", metavar="FILE", help="Keep what a later comparison needs: small JSON, nothing private in it."
)
@click.option("--force", is_flag=True, help="Overwrite the file of --save if it exists.")
@click.option("--record", "recorded", is_flag=True, help="Add the run to the table of runs.")
@click.option("--runs", metavar="FILE", help="Table of runs. Default: .traceview/runs.sqlite.")
def summary(
    trace: str | None,
    categories: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    form: str,
    top: int,
    save: str | None,
    force: bool,
    recorded: bool,
    runs: str | None,
) -> None:
    """Print where the GPU time of TRACE went.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR.
    """
    start_ahead(trace)
    from traceview.analyses import Choice
    from traceview.cli.loading import choose, load
    from traceview.cli.output import print_json
    from traceview.cli.saving import record_run, refuse_saving, save_run
    from traceview.cli.screen import shown_summary
    from traceview.report.export import summary_document

    choice = Choice.parsed(chosen, skip_first, step_name)
    path = choose(trace, quiet)
    if save is not None:
        refuse_saving(save, path, force)
    _, analysis = load(path, categories, quiet, choice)
    if form == "json":
        print_json(summary_document(analysis))
    else:
        click.echo(shown_summary(analysis, top), nl=False)
    if save is not None:
        save_run(save, analysis, quiet)
    if recorded:
        record_run(runs, analysis, quiet)
