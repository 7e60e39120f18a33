"""What `traceview bench` does between its options and its lines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from traceview.capture.bench.collect import Bench, bench, rows
from traceview.capture.bench.texts import bench_document, bench_text
from traceview.capture.bench.wishes import Wishes, ladder, parse_shape
from traceview.capture.runs import Runs
from traceview.cli.capturing import need_torch
from traceview.cli.output import print_json
from traceview.cli.streams import say
from traceview.errors import OutputError, UsageError
from traceview.units import plural, safe

_PLAIN = ("precision", "device", "warmup", "iters", "seed", "repeat", "profile")


def run_bench(target: str, options: Mapping[str, Any], form: str, quiet: bool) -> None:
    """Time a target, print what was found, and keep it in the table of runs."""
    shapes = ladder(
        [parse_shape(s) for s in options["shapes"]], _batches(options["batch"]), options["zipped"]
    )
    wishes = Wishes(target, shapes, **{k: options[k] for k in _PLAIN})
    need_torch()
    if wishes.profile is not None:
        _ready(wishes.profile)
    table = None if options["no_record"] else Runs(options["runs"])
    if table is not None:
        table.ready()

    def tell(text: str) -> None:
        if not quiet:
            say("traceview: " + "\n".join(safe(line) for line in text.splitlines()))

    found = bench(wishes, tell)
    numbers: list[int] = []
    try:  # before printing: who reads may be gone
        numbers = table.add(rows(found)) if table is not None else []
    finally:  # and what was measured is said even where no row could be added
        _print(found, form)
    if table is not None and numbers:
        span = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
        tell(f"{plural(len(numbers), 'row')} in {table.path}: {span}")


def _print(found: Bench, form: str) -> None:
    if form == "json":
        print_json(bench_document(found))
    else:
        click.echo(bench_text(found), nl=False)


def _ready(profile: str) -> None:
    """Refuse, before anything is timed, a folder that could take no trace."""
    if not profile.strip():
        raise UsageError("--profile: no folder was named", "name the folder of the traces")
    place = Path(profile).absolute()
    reason = "no folder"
    try:
        above = next(p for p in (place, *place.parents) if p.exists())
        if above.is_dir():
            reason = "" if os.access(above, os.W_OK | os.X_OK) else "not writable"
    except OSError as error:  # a name that is too long
        reason = error.strerror or str(error)
    if reason:
        raise OutputError(
            f"--profile {profile}: traces cannot be written there ({reason})", "name another folder"
        )


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
