"""Speak on standard error, and keep what goes wrong with the profiler away from the job it watches."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypeVar

from traceview.capture.interruptions import came_of_a_signal

Result = TypeVar("Result")


def say(text: str) -> None:
    """Write a line to standard error; a stream that takes none is no reason to stop a job."""
    with suppress(OSError, ValueError, AttributeError):  # full, closed, or None
        sys.stderr.write(f"traceview: {text}\n")
        sys.stderr.flush()


def attempt(
    what: str, action: Callable[[], Result], failed: Callable[[], object] | None = None
) -> Result | None:
    """Return what an action gives; if it fails, say so, call `failed`, and return None.

    The one place outside the command line that catches everything: a job of hours must not die of the
    profiler that watches ten steps of it, whatever a version of torch or a driver raises. What a handler of a
    signal raises is no failure: it goes to the job.
    """
    try:
        return action()
    except Exception as error:
        if came_of_a_signal(error):
            raise
        reason = _reason(error)
        say(f"{what} failed ({type(error).__name__}: {reason}); the job goes on without it")
        if failed is not None:
            attempt("giving up", failed)
        return None


def tried(action: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return what something of the user's own gives, such as a module that is imported, or how it failed, in a line."""
    try:
        return action(), ""
    except (Exception, SystemExit) as error:  # noqa: BLE001 - see above
        return None, f"{type(error).__name__}: {_reason(error)}"


def _reason(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:200]
    except Exception:  # noqa: BLE001 - an exception of the job's own kind may fail to say what it is
        return "no reason"


def is_success(error: BaseException) -> bool:
    """Tell whether an exception is a program's end with status 0."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def ended(run: Callable[[], None], ours: Collection[str]) -> int:
    """Return the exit status that Python gives a program, with the traceback of what ended it on standard error.

    `ours` are ends of the names of files whose frames stand above the program's own. An interruption is left to
    the command line.
    """
    try:
        run()
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return leaving.code or 0
        sys.stderr.write(f"{leaving.code}\n")
        return 1
    except Exception as error:  # noqa: BLE001 - as Python itself does for a program
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.endswith((__file__, *ours)):
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace or error.__traceback__)
        return 1
    return 0
