"""What `traceview bench` does between its options and its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from traceview.capture.bench.collect import Wishes, bench, ladder, parse_shape, rows
from traceview.capture.bench.texts import bench_document, bench_text
from traceview.capture.runs import Runs
from traceview.cli.capturing import need_torch
from traceview.cli.output import print_json
from traceview.cli.streams import say
from traceview.errors import UsageError
from traceview.units import plural, safe

_PLAIN = ("precision", "device", "warmup", "iters", "seed", "repeat", "profile")


def run_bench(target: str, options: Mapping[str, Any], form: str, quiet: bool) -> None:
    """Time a target, print what was found, and keep it in the table of runs."""
    shapes = ladder(
        [parse_shape(s) for s in options["shapes"]], _batches(options["batch"]), options["zipped"]
    )
    wishes = Wishes(target, shapes, **{k: options[k] for k in _PLAIN})
    need_torch()
    table = None if options["no_record"] else Runs(options["runs"])
    if table is not None:
        table.ready()

    def tell(text: str) -> None:
        if not quiet:
            say("traceview: " + "\n".join(safe(line) for line in text.splitlines()))

    found = bench(wishes, tell)
    if form == "json":
        print_json(bench_document(found))
    else:
        click.echo(bench_text(found), nl=False)
    if table is not None:
        numbers = table.add(rows(found))
        if numbers:
            span = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
            tell(f"{plural(len(numbers), 'row')} in {table.path}: {span}")


def _batches(texts: Sequence[str]) -> list[int]:
    """Return the batches of all --batch options, in their order."""
    found = []
    for text in texts:
        try:
            batches = [int(p) for p in text.split(",")]
        except ValueError:
            batches = [0]
        if min(batches) < 1:
            raise UsageError(f"--batch {text} is no list of batches", "write it as 1,2,4,8")
        found += batches
    return found
