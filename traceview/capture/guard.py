"""Speak on standard error, and keep what goes wrong with the profiler away from the job it watches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

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
    profiler that watches ten steps of it, whatever a version of torch or a driver raises.
    """
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - see above
        reason = " ".join(str(error).split())[:200]
        say(f"{what} failed ({type(error).__name__}: {reason}); the job goes on without it")
        if failed is not None:
            attempt("giving up", failed)
        return None
