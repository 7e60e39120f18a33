"""traceview prune: delete old captures, whole ones, and only when told to."""

from __future__ import annotations

import click


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the N newest captures.")
@click.option("--max-age", metavar="AGE", help="Let go what is older: 12h, 7d, 2w.")
@click.option(
    "--max-size", metavar="SIZE", help="Keep the newest captures up to so much together: 500MB, 20GB."
)
@click.option("--yes", is_flag=True, help="Delete. Without it the captures that would go are only listed.")
def prune(folder: str, keep: int | None, max_age: str | None, max_size: str | None, yes: bool) -> int:
    """List, or with --yes delete, captures in DIR that any one of the conditions condemns.

    A capture is all ranks and windows of one label and run, with their sidecars; it stays or goes as one. The
    newest stays in any case, and so does one that was written to within the last two minutes. Only files that
    are traces by their content are touched, and no link is followed.
    """
    from traceview.capture.retention import Limits, parse_age, parse_size
    from traceview.cli.pruning import prune_folder

    age = None if max_age is None else parse_age(max_age)
    size = None if max_size is None else parse_size(max_size)
    return prune_folder(folder, Limits(keep, age, size), yes)
