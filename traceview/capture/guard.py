"""Speak on standard error, and keep what goes wrong with the profiler away from the job it watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Self, TypeVar

from traceview.capture.interruptions import came_of_a_signal
from traceview.errors import UsageError

Result = TypeVar("Result")


def say(text: str) -> None:
    """Write a line to standard error; a stream that takes none is no reason to stop a job."""
    # a label may hold what moves the cursor
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    with suppress(OSError, ValueError, AttributeError):  # full, closed, or None
        sys.stderr.write(f"traceview: {shown}\n")
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


def caught(action: Callable[[], Result]) -> tuple[Result | None, BaseException | None]:
    """Return what something of the user's own gives, such as a module that is imported, or what it raises."""
    try:
        return action(), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - see above
        return None, error


class Thrown:
    """Take what is thrown into a generator where it waits, but its end, so that it can be handed on."""

    error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return not isinstance(error, GeneratorExit)


def required(what: str, hint: str, action: Callable[[], Result]) -> Result:
    """Return what something of the user's own gives; raise UsageError, in a line, where it fails."""
    result, error = caught(action)
    if error is None:
        return result  # type: ignore[return-value]
    if isinstance(error, UsageError):
        raise error
    raise UsageError(f"{what}: {type(error).__name__}: {_reason(error)}", hint) from error


def _reason(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:200]
    except Exception:  # noqa: BLE001 - an exception of the job's own kind may fail to say what it is
        return "no reason"


def is_success(error: BaseException) -> bool:
    """Tell whether an exception is a program's end with status 0, or that of a generator of which nobody wants more."""
    return isinstance(error, GeneratorExit) or (isinstance(error, SystemExit) and error.code in (None, 0))


def ended(run: Callable[[], None], ours: Collection[str]) -> int:
    """Return the exit status that Python gives a program, having told what ended it as Python tells it.

    `ours` are ends of the names of files whose frames stand above the program's own. An interruption is left to
    the command line, unless the program has its own hook for what nobody catches.
    """
    try:
        run()
        return 0
    except SystemExit as leaving:
        return _status(leaving)
    except BaseException as error:  # noqa: BLE001 - as Python itself does for a program
        uncaught = error
    # not within the except: the hook of a program finds nothing that is being handled
    is_interrupted = isinstance(uncaught, KeyboardInterrupt)
    if is_interrupted and getattr(sys, "excepthook", None) is sys.__excepthook__:
        raise uncaught
    status = _tell(_below(uncaught, ours), ours)
    if is_interrupted:
        raise uncaught
    return status


def _status(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    _write(f"{leaving.code}\n")
    return 1


def _below(error: BaseException, ours: Collection[str]) -> BaseException:
    """Return an exception as if there were no frames of ours above those of the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.endswith((__file__, *ours)):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _tell(error: BaseException, ours: Collection[str]) -> int:
    """Give what nobody caught to sys.excepthook, the program's own or Python's; return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # full, closed, or None
            stream.flush()
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        _write("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit as leaving:
        return _status(leaving)
    except BaseException as another:  # noqa: BLE001 - see above
        _write("Error in sys.excepthook:\n")
        _display(_below(another, ours))
        _write("\nOriginal exception was:\n")
        _display(error)
    return 1


def _display(error: BaseException) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.__excepthook__(type(error), error, error.__traceback__)


def _write(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
