"""The commands, and one call of them: what click says of wrong usage becomes our one line."""

from __future__ import annotations

import sys

import click

from traceview import __version__
from traceview.cli.bench import bench
from traceview.cli.capture import capture
from traceview.cli.compare import compare
from traceview.cli.diff import diff
from traceview.cli.explain import explain
from traceview.cli.export import export
from traceview.cli.findings import findings
from traceview.cli.prune import prune
from traceview.cli.report import report
from traceview.cli.runs import runs
from traceview.cli.statuses import BROKEN_PIPE, INTERRUPTED
from traceview.cli.streams import silence
from traceview.cli.summary import summary
from traceview.errors import OutputError, UsageError


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 1 a gate failed, 2 wrong usage, 3 input unreadable, 4 not comparable, 5 output not written, 70 internal error.",
)
@click.version_option(__version__, prog_name="traceview", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an internal error.")
def traceview() -> None:
    """Tell what a GPU really did, from a profiler's Chrome trace."""


traceview.add_command(bench)
traceview.add_command(capture)
traceview.add_command(compare)
traceview.add_command(diff)
traceview.add_command(explain)
traceview.add_command(export)
traceview.add_command(findings)
traceview.add_command(prune)
traceview.add_command(report)
traceview.add_command(runs)
traceview.add_command(summary)


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit status; raises TraceviewError."""
    try:
        status = traceview.main(arguments, prog_name="traceview", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        if not arguments:  # the help is the answer
            error.show()
            return error.exit_code
        raise _usage(error, arguments[0]) from error
    except click.Abort as error:
        if isinstance(error.__cause__, EOFError):  # click takes it for an interruption
            raise error.__cause__ from None
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click has turned a broken pipe into an exit
        silence(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is not None:
            raise
        silence(sys.stdout)
        raise OutputError(f"standard output: cannot be written ({error.strerror})") from error
    return status if isinstance(status, int) else 0


def _usage(error: click.ClickException, first: str) -> UsageError:
    """Say in one line what click says in four."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    command = f"traceview {first}" if first in traceview.commands else "traceview"
    return UsageError(message[:1].lower() + message[1:], f"try '{command} --help'")
