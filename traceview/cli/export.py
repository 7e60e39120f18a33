"""traceview export: the slices of a trace, as a table or as a slim trace for viewers."""

from __future__ import annotations

import click

from traceview.cli.options import step_options
from traceview.crew import start_ahead

SUFFIXES = {".parquet": "parquet", ".json.gz": "json.gz", ".json": "json"}


@click.command()
@click.argument("trace", required=False)
@click.option("--quiet", is_flag=True, help="Write no progress and no notes to standard error.")
@step_options
@click.option(
    "--window",
    metavar="START:END",
    help="What this time touches, whole, with its launches and their device work; from the trace's first event: "
    "12.5ms:30ms; either side may be missing.",
)
@click.option(
    "--stacks", is_flag=True, help="Keep the Python stacks in a slim trace; tables always have them."
)
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    required=True,
    help='What to write ("-": standard output): all slices as .parquet, or a trace as .json.gz or .json; '
    "may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(SUFFIXES.values())),
    help="Format of the one output whose name does not say it.",
)
@click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
@click.option("--show-paths", is_flag=True, help="Keep home folders in names.")
def export(
    trace: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    window: str | None,
    stacks: bool,
    outputs: tuple[str, ...],
    form: str | None,
    force: bool,
    show_paths: bool,
) -> None:
    """Write the slices of TRACE: a table, or a slim trace.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR. A slim trace opens in Perfetto and chrome://tracing; it holds nothing of
    the file's metadata but devices, versions and ranks.
    """
    start_ahead(trace)
    from traceview.cli.excerpts import Excerpt, checked
    from traceview.cli.loading import Progress, choose
    from traceview.cli.targets import refuse_targets, targets, write_targets
    from traceview.sources import read_trace

    found = targets(outputs, form, SUFFIXES)
    part = checked([t.form for t in found], (chosen, skip_first, step_name), window, stacks)
    path = choose(trace, quiet)
    refuse_targets(found, path, force)
    with Progress(quiet) as progress:
        excerpt = Excerpt(read_trace(path, progress), part, show_paths)
    write_targets([(t, excerpt.of(t.form)) for t in found], excerpt.summary([t.form for t in found]))
