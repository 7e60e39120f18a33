"""traceview diff: what changed between two runs, and whether it is real."""

from __future__ import annotations

import click

from traceview.cli.options import reading_options, step_options
from traceview.crew import start_ahead

SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".csv": "csv",
    ".txt": "text",
}


@click.command()
@click.argument("base")
@click.argument("new")
@reading_options
@step_options
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help='What to write ("-": standard output), as .html, .md, .json, .csv or .txt; may be repeated.',
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(SUFFIXES.values()))),
    help="Format on standard output, or of the one output whose name does not say it. Default: text.",
)
@click.option(
    "--force", is_flag=True, help="Overwrite outputs that exist; let gates judge what is not comparable."
)
@click.option("--top", type=click.IntRange(1), help="Rows of each table. Default: 500, and 10 in the text.")
@click.option(
    "--table",
    metavar="TABLE",
    help="What .csv holds: work (default), kernels, parts, categories, idle, calls, headlines, conditions.",
)
@click.option("--title", help="Title of the page.")
@click.option("--show-paths", is_flag=True, help="Show host names and home folders in names and paths.")
@click.option(
    "--per",
    type=click.Choice(["step", "call", "total"]),
    help="What figures are per. Default: step where both have complete steps.",
)
@click.option(
    "--match",
    "matching",
    type=click.Choice(["auto", "exact", "name", "op"]),
    default="auto",
    show_default=True,
    help="By what work is matched.",
)
@click.option(
    "--expect",
    metavar="WHAT",
    multiple=True,
    help="A difference that is meant: device, versions, steps, shapes, precision, ranks, profiler, graphs, order, workers, or a condition noted at capture by its name, such as batch or seed; commas or repeated.",
)
@click.option(
    "--floor",
    metavar="LIMITS",
    multiple=True,
    help="Below what nothing is claimed. Default: 5%,step:1%,10us.",
)
@click.option("--also-base", metavar="FILE", multiple=True, help="Another run of BASE; may be repeated.")
@click.option("--also-new", metavar="FILE", multiple=True, help="Another run of NEW; may be repeated.")
@click.option(
    "--fail-on",
    "gates",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 where it is exceeded: 'step_time>5%', 'launches>20x', 'kernel:gemm>1ms'; may be repeated.",
)
@click.option(
    "--unproven",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    show_default=True,
    help="What becomes of a gate that a value exceeds and too few samples prove.",
)
@click.option("--warn-only", is_flag=True, help="Exit with 0 whatever the gates say.")
def diff(
    base: str, new: str, categories: str | None, quiet: bool, chosen: str | None, skip_first: int, step_name: str | None,
    outputs: tuple[str, ...], form: str | None, force: bool, top: int | None, table: str | None, title: str | None, show_paths: bool, per: str | None, matching: str,
    expect: tuple[str, ...], floor: tuple[str, ...], also_base: tuple[str, ...], also_new: tuple[str, ...],
    gates: tuple[str, ...], unproven: str, warn_only: bool,
) -> int:  # fmt: skip
    """Compare two runs: are they comparable, what changed, is it real, and who did it.

    BASE and NEW are trace files, "-" for standard input, or folders: their newest captures.
    """
    start_ahead(base)
    from traceview.analyses import Choice
    from traceview.cli.comparing import Gates, Reading, compared, floor_of, refuse_runs
    from traceview.cli.diff_painting import DiffPainters, checked
    from traceview.cli.targets import targets, write_targets
    from traceview.diff.compare import Options
    from traceview.report.view import ReportOptions

    asked = Gates.parsed(gates, unproven, force, warn_only)
    options = Options(per, matching, [e.strip() for text in expect for e in text.split(",")], floor_of(floor))
    found = targets(outputs or ["-"], form, SUFFIXES, "text")
    listed = checked([target.form for target in found], table)
    refuse_runs((base, new, *also_base, *also_new), found, force)
    wishes = ReportOptions(title=title, top=top or 500, show_paths=show_paths)
    reading = Reading(categories, quiet, Choice.parsed(chosen, skip_first, step_name))
    result = compared((base, *also_base), (new, *also_new), reading, options)
    outcomes, refused = asked.tried(result)
    paint = DiffPainters(result, outcomes, wishes, top or 10, listed)
    write_targets([(t, paint.of(t)) for t in found], paint.verdict)
    if refused is not None:  # reports are written first
        raise refused
    if asked.asked and outputs:
        paint.tell_gates(quiet)
    return asked.status(result, paint.outcomes)
