"""traceview runs: the table of what was measured."""

from __future__ import annotations

import click


@click.group(invoke_without_command=True)
@click.option("--runs", "table", metavar="FILE", help="Table of runs. Default: .traceview/runs.sqlite.")
@click.pass_context
def runs(context: click.Context, table: str | None) -> None:
    """List, show, compare and export what bench and summary --record have measured."""
    context.obj = table
    if context.invoked_subcommand is None:
        context.invoke(list_)


@runs.command("list")
@click.option("--label", help="Only runs of this label.")
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Rows, the newest first.")
@click.pass_obj
def list_(table: str | None, label: str | None = None, most: int = 50) -> None:
    """List runs, the newest first."""
    from traceview.cli.run_tables import print_list

    print_list(table, label, most)


@runs.command()
@click.argument("number", type=int)
@click.pass_obj
def show(table: str | None, number: int) -> None:
    """Show all that is known of run NUMBER."""
    from traceview.cli.run_tables import print_run

    print_run(table, number)


@runs.command()
@click.argument("base", type=int)
@click.argument("new", type=int)
@click.option("--force", is_flag=True, help="Compare runs whose conditions differ.")
@click.option(
    "--expect", multiple=True, metavar="NAME", help="A condition that differs on purpose; may be repeated."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.pass_obj
def compare(table: str | None, base: int, new: int, force: bool, expect: tuple[str, ...], form: str) -> int:
    """Compare runs BASE and NEW: the difference, and the interval in which it lies.

    Exit status 4 where a condition differs that was not expected to.
    """
    from traceview.cli.run_tables import print_comparison

    return print_comparison(table, (base, new), expect, (force, form))


@runs.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json"]),
    default="csv",
    show_default=True,
    help="What is printed.",
)
@click.option("--label", help="Only runs of this label.")
@click.pass_obj
def export(table: str | None, form: str, label: str | None) -> None:
    """Print all runs, the oldest first: conditions and figures, in JSON the samples too."""
    from traceview.cli.run_tables import print_export

    print_export(table, form, label)
