"""traceview compare: three runs and more side by side."""

from __future__ import annotations

import click

from traceview.cli.options import reading_options, step_options

SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".txt": "text",
}


@click.command()
@click.argument("traces", nargs=-1, required=True)
@reading_options
@step_options
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help='What to write ("-": standard output), as .html, .md, .json or .txt; may be repeated.',
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(SUFFIXES.values()))),
    help="Format on standard output, or of the one output whose name does not say it. Default: text.",
)
@click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Operators shown.")
@click.option("--title", help="Title of the page.")
def compare(
    traces: tuple[str, ...], categories: str | None, quiet: bool, chosen: str | None, skip_first: int,
    step_name: str | None, outputs: tuple[str, ...], form: str | None, force: bool, top: int, title: str | None,
) -> None:  # fmt: skip
    """Put TRACES side by side: one line per run, the best marked, and operators with time and calls of each.

    TRACES are trace files, saved runs (summary --save), or folders: their newest captures.
    """
    from traceview.analyses import Choice
    from traceview.cli.comparing import OverviewPainters, Reading, side_by_side
    from traceview.cli.targets import refuse_targets, targets, write_targets
    from traceview.errors import UsageError
    from traceview.report.view import ReportOptions

    if len(traces) < 2:
        raise UsageError("one trace has nothing to be compared with", "name two or more")
    found = targets(outputs or ["-"], form, SUFFIXES, "text")
    for trace in traces:
        refuse_targets(found, trace, force)
    reading = Reading(categories, quiet, Choice.parsed(chosen, skip_first, step_name))
    paint = OverviewPainters(side_by_side(traces, reading), ReportOptions(title=title, top=top))
    write_targets([(t, paint.of(t)) for t in found])
