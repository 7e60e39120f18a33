"""traceview findings: what is wrong, by how much, and what to do; a gate for jobs."""

from __future__ import annotations

import click

from traceview.cli.options import step_options, trace_options
from traceview.crew import start_ahead

GATE_FAILED = 1


@click.command()
@trace_options
@step_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "md"]),
    default="text",
    show_default=True,
    help="A text to read, the JSON document for scripts, or Markdown for a pull request.",
)
@click.option(
    "--fail-on",
    "gates",
    metavar="SEVERITY|SLUG",
    multiple=True,
    help="Exit with 1 on a finding of this severity or worse (high, medium, low, note), or on this rule above note; "
    "rules that only describe are refused.",
)
def findings(
    trace: str | None,
    categories: str | None,
    quiet: bool,
    chosen: str | None,
    skip_first: int,
    step_name: str | None,
    form: str,
    gates: tuple[str, ...],
) -> int:
    """Say what holds TRACE up: evidence, time at stake, what to do.

    TRACE is a trace file, "-" for standard input, or a folder: its newest capture. Without TRACE it is
    the folder $PROFILER_OUTPUT_DIR.
    """
    start_ahead(trace)
    from traceview.analyses import Choice
    from traceview.cli.loading import load
    from traceview.cli.output import print_json
    from traceview.cli.streams import say
    from traceview.findings import check, checked_gate
    from traceview.findings.document import closing, findings_document, findings_markdown, findings_text
    from traceview.report.labels import labels_of
    from traceview.report.selected import shown_of, title_of

    asked = [checked_gate(gate) for gate in gates]
    _, analysis = load(trace, categories, quiet, Choice.parsed(chosen, skip_first, step_name))
    shown = shown_of(analysis)
    found = check(shown)
    if form == "json":
        print_json(findings_document(found, shown.chosen))
    else:
        paint = findings_markdown if form == "md" else findings_text
        click.echo(paint(found, shown, title_of(analysis), labels_of(shown).stands_for), nl=False)
    if asked and found.unanswered and not quiet:
        say(f"traceview: {closing(found)[-1]} A gate says nothing about these.")
    return GATE_FAILED if any(found.fails(gate) for gate in asked) else 0
