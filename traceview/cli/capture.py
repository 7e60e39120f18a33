"""traceview capture: record some steps of a script as it is, or of a server that runs."""

from __future__ import annotations

import click


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("script", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "-o", "--output", metavar="DIR", help="Where traces go. Default: $PROFILER_OUTPUT_DIR, else traces."
)
@click.option("--label", help="First part of the files' names. Default: the script's name.")
@click.option(
    "--step-on",
    metavar="WHAT",
    default="auto",
    show_default=True,
    help="What a step is: optimizer, forward, module:function, or :function of the script itself. "
    "auto: the first optimizer's step, without optimizer the outermost module's forward.",
)
@click.option("--wait", type=click.IntRange(0), help="Steps before the warm-up.  [default: 2]")
@click.option("--warmup", type=click.IntRange(0), help="Steps of warm-up.  [default: 5]")
@click.option(
    "--active", type=click.IntRange(1), help="Recorded steps.  [default: 10, fewer where these are long]"
)
@click.option("--repeat", type=click.IntRange(0), help="Windows; 0: to the end.  [default: 1]")
@click.option("--skip-first", type=click.IntRange(0), help="Steps before all that.  [default: 0]")
@click.option("--shapes", is_flag=True, help="Record input shapes.")
@click.option("--stacks", is_flag=True, help="Record Python stacks: slow, and large files.")
@click.option("--memory", is_flag=True, help="Record the allocator.")
@click.option(
    "--flops",
    is_flag=True,
    help="Record shapes, from which torch counts operations; the counts are not in its file.",
)
@click.option(
    "--note", multiple=True, metavar="NAME=VALUE", help="A condition to note, as batch=8; may be repeated."
)
@click.option("--quiet", is_flag=True, help="Say warnings only.")
@click.option("--server", metavar="URL", help="Profile a vLLM or SGLang server instead of a script.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1),
    default=30.0,
    show_default=True,
    help="Longest stretch of a server.",
)
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds to wait for a server's files.",
)
def capture(script: tuple[str, ...], server: str | None, **options: object) -> int:
    """Record some steps of SCRIPT with its ARGS, unchanged, and keep its exit status.

    Write it behind --, as in: traceview capture --active 20 -- train.py --epochs 1; or -- -m package.module.
    With --server URL the server's own profiler is started and stopped instead, and its files waited for.
    """
    from traceview.cli.capturing import from_script, from_server

    if server is not None:
        return from_server(server, script, options)
    return from_script(script, options)
