"""traceview bench: how long a model takes over a ladder of shapes, and what the figure is worth."""

from __future__ import annotations

import click


@click.command()
@click.argument("target")
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="N,N,...",
    help="Shape of the inputs; may be repeated: a ladder.",
)
@click.option(
    "--batch",
    multiple=True,
    metavar="N,N,...",
    help="Batches in place of each shape's first dimension; may be repeated.",
)
@click.option("--zip", "zipped", is_flag=True, help="Pair shapes and batches one by one, not each with each.")
@click.option(
    "--precision", type=click.Choice(["fp32", "fp16", "bf16", "amp"]), default="fp32", show_default=True,
    help="Numbers of model and inputs; amp: autocast.",
)  # fmt: skip
@click.option(
    "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1; auto: CUDA where there is one."
)
@click.option(
    "--warmup", type=click.IntRange(0), default=10, show_default=True, help="Iterations before timing."
)
@click.option("--iters", type=click.IntRange(2), default=50, show_default=True, help="Timed iterations.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of model and inputs.")
@click.option(
    "--repeat", type=click.IntRange(1), default=2, show_default=True, help="Fresh processes that time it all."
)
@click.option("--profile", metavar="DIR", help="Keep the traces of the second, profiled pass.")
@click.option(
    "--runs", metavar="FILE", help="Table of runs that gets the rows. Default: .traceview/runs.sqlite."
)
@click.option("--no-record", is_flag=True, help="Add no rows to the table of runs.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.option("--quiet", is_flag=True, help="Write no notes to standard error.")
def bench(target: str, form: str, quiet: bool, **options: object) -> None:
    """Time the model of TARGET, module:factory or file.py:factory.

    The factory returns (model, make): make(shape) returns the model's inputs, a tensor, a tuple or list
    of arguments, or a dict of keywords. They are made once from the seed; the profiler is off while anything is timed.
    """
    from traceview.cli.benching import run_bench

    run_bench(target, options, form, quiet)
