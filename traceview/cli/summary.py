"""traceview summary: the answer in the terminal, or as JSON."""

from __future__ import annotations

import click

from traceview.cli.options import step_options, trace_options


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
def summary(
    trace: str | None,
    categories: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    form: str,
    top: int,
) -> None:
    """Print where the GPU time of TRACE went.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR.
    """
    from traceview.analyses import Choice
    from traceview.cli.loading import load
    from traceview.cli.output import print_json
    from traceview.report.export import summary_document, summary_text

    _, analysis = load(trace, categories, quiet, Choice.parsed(chosen, skip_first, step_name))
    if form == "json":
        print_json(summary_document(analysis))
    else:
        click.echo(summary_text(analysis, top), nl=False)
