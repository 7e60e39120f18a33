"""The command line: flags in, one library call, results out, an exit status.

Nothing heavy is imported before a command runs: --help answers at once. Next to nothing is imported
before `main` runs: an interruption is quiet from the first moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from traceview.cli.statuses import BROKEN_PIPE, INTERNAL, INTERRUPTED

if TYPE_CHECKING:
    from traceview.errors import TraceviewError

__all__ = ["BROKEN_PIPE", "INTERNAL", "INTERRUPTED", "main", "run"]

_DEBUG = "--debug"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    import sys

    from traceview.cli import ending

    try:
        ending.prepare()
        from traceview.cli import streams

        streams.prepare()
        status = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except ModuleNotFoundError as error:  # click itself is missing
        status = _lacking(error)
    sys.exit(ending.status(status) if status == INTERRUPTED else status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    from traceview.cli import ending
    from traceview.cli.commands import call
    from traceview.errors import TraceviewError

    plain = _without_debug(arguments)
    try:
        return call(plain)
    except TraceviewError as error:
        return _refuse(error)
    except MemoryError:
        return _exhausted()
    except ModuleNotFoundError as error:
        return _lacking(error)
    except Exception as error:
        if ending.was_told():  # and something on the way has made another exception of it
            raise KeyboardInterrupt from error
        if len(plain) < len(arguments):
            import traceback

            traceback.print_exc()
        return _confess(error)
    finally:
        _dismiss()


def _without_debug(arguments: Sequence[str]) -> list[str]:
    """Take --debug out wherever it may stand: before or behind the command, but not among a script's own words."""
    words = list(arguments)
    ours = (
        words.index("--") if "--" in words else words.index("capture") if "capture" in words else len(words)
    )
    return [a for a in words[:ours] if a != _DEBUG] + words[ours:]


def _dismiss() -> None:
    from traceview.crew import dismiss_ahead

    dismiss_ahead()


def _refuse(error: TraceviewError) -> int:
    from traceview.cli.streams import say
    from traceview.units import safe

    say(f"traceview: {safe(str(error))} [{error.slug}]")
    return error.status


def _exhausted() -> int:
    from traceview.cli.streams import say

    say("traceview: out of memory; use a machine with more of it, or record fewer steps [internal-error]")
    return INTERNAL


def _lacking(error: ModuleNotFoundError) -> int:
    """Name the package that is not installed; nothing that needs a package may be used to say so."""
    import sys
    from contextlib import suppress

    from traceview.errors import InstallationError

    package = (error.name or "").partition(".")[0]
    if package in ("", "traceview") or package in sys.stdlib_module_names:
        return _confess(error)
    hint = "run 'pip install traceview', in a checkout 'pip install -e .', with the Python that runs this"
    said = InstallationError(f"the package {package} is not installed", hint)
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"traceview: {said} [{said.slug}]", file=sys.stderr, flush=True)
    return said.status


def _confess(error: Exception) -> int:
    from traceview.cli.streams import say
    from traceview.units import middle, safe

    what = middle(safe(f"{type(error).__name__}: {error}"), 200)
    say(f"traceview: internal error ({what}); run again with --debug and report it [internal-error]")
    return INTERNAL
