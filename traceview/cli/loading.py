"""From what the user named to an analysis, with notes and progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self

from traceview.analyses import Analysis, Choice, analyze, load_rules
from traceview.cli.streams import say
from traceview.errors import InputError, UsageError
from traceview.sources import read_trace
from traceview.sources.choose import choose_trace
from traceview.units import count, middle, safe

_PATIENCE = 1.0  # seconds before progress is shown
_PAUSE = 0.2  # seconds between two lines of it
_SHOWN = 80  # characters of a path in a message


def choose(trace: str | None, quiet: bool) -> str:
    """Return the file to read: a folder's newest capture, or what was named; say which where it was chosen."""
    if trace == "":
        raise UsageError("TRACE is an empty text", "name a trace file or a directory")
    try:
        path, explanation = choose_trace(trace)
    except OSError as error:  # a name that no file can have, such as one of 300 characters
        shown = middle(str(trace or os.environ.get("PROFILER_OUTPUT_DIR")), _SHOWN)
        raise InputError(
            f"{shown}: {error.strerror or error}", "check the path and its permissions"
        ) from error
    if explanation and not quiet:
        say(f"traceview: {safe(explanation)}")
    return str(path)


def load(
    trace: str | None, categories: str | None, quiet: bool, choice: Choice | None = None
) -> tuple[str, Analysis]:
    """Return the file that was read, and its analysis."""
    rules = load_rules(categories)
    path = choose(trace, quiet)
    with Progress(quiet) as progress:
        return path, analyze(read_trace(path, progress), rules, choice)


class Progress:
    """Count events on standard error, where that is a terminal and the work lasts over a second."""

    def __init__(self, quiet: bool) -> None:
        self._shown = False
        self._silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._due = time.monotonic() + _PATIENCE

    def __call__(self, events: int) -> None:
        """Show how many events were read so far."""
        now = time.monotonic()
        if self._silent or now < self._due:
            return
        self._due = now + _PAUSE
        self._shown = True
        say(f"\r{count(events)} events read", nl=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            say("\r\x1b[K", nl=False)
