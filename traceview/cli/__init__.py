"""The command line: flags in, one library call, results out, an exit status.

Nothing heavy is imported before a command runs: --help answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from traceview import __version__
from traceview.cli.report import report
from traceview.cli.summary import summary
from traceview.errors import OutputError, TraceviewError

INTERRUPTED, BROKEN_PIPE, INTERNAL = 130, 141, 70
_DEBUG = "--debug"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 2 wrong usage, 3 input unreadable, 5 output not written, 70 internal error.",
)
@click.version_option(__version__, prog_name="traceview", message="%(prog)s %(version)s")
@click.option(_DEBUG, is_flag=True, expose_value=False, help="Show the traceback of an internal error.")
def traceview() -> None:
    """Tell what a GPU really did, from a profiler's Chrome trace."""


traceview.add_command(report)
traceview.add_command(summary)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    plain = [a for a in arguments if a != _DEBUG]  # it may stand before or behind the command
    try:
        return _call(plain)
    except TraceviewError as error:
        return _refuse(error)
    except Exception as error:  # noqa: BLE001 - the one place that catches everything: a traceback is no answer
        if _DEBUG in arguments:
            import traceback

            traceback.print_exc()
        return _confess(error)


def _call(arguments: list[str]) -> int:
    try:
        status = traceview.main(arguments, prog_name="traceview", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click has turned a broken pipe into an exit
        # the reader has gone: whatever Python still wants to flush at exit must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is not None:
            raise
        raise OutputError(f"standard output: cannot be written ({error.strerror})") from error
    return status if isinstance(status, int) else 0


def _refuse(error: TraceviewError) -> int:
    from traceview.units import safe

    click.echo(f"traceview: {safe(str(error))} [{error.slug}]", err=True)
    return error.status


def _confess(error: Exception) -> int:
    from traceview.units import middle, safe

    what = middle(safe(f"{type(error).__name__}: {error}"), 200)
    click.echo(
        f"traceview: internal error ({what}); run again with --debug and report it [internal-error]", err=True
    )
    return INTERNAL
