"""The formats of `traceview export`: what goes with what, and how each is painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from traceview.analyses import Choice
from traceview.errors import UsageError
from traceview.events import Kind, Trace
from traceview.report.events_file import METADATA, event_groups
from traceview.report.excerpt import Window, rows_of_steps, rows_of_window
from traceview.report.parquet import require_pyarrow, write_groups
from traceview.report.slim import Slim, write_slim
from traceview.units import plural


class Part(NamedTuple):
    """Say which part of a trace is meant."""

    choice: Choice | None
    window: Window | None
    stacks: bool
    words: str


def checked(
    forms: Sequence[str], steps: tuple[str | None, int, str | None], window: str | None, stacks: bool
) -> Part:
    """Return the part that is meant; refuse what does not go together, and a missing package."""
    choice = Choice.parsed(*steps)
    if choice is not None and window is not None:
        raise UsageError("steps and --window both choose a part", "leave one of them out")
    if stacks and "json" not in forms and "json.gz" not in forms:
        raise UsageError("--stacks goes with a slim trace; the table has them always", "leave it out")
    found = None if window is None else Window.parsed(window)
    if "parquet" in forms:
        require_pyarrow()
    words = window or (steps[0] or "chosen steps" if choice else "")
    return Part(choice, found, stacks, words)


class Excerpt:
    """Hold the chosen part of one trace, and paint it in several formats."""

    def __init__(self, trace: Trace, part: Part, show_paths: bool) -> None:
        self._trace, self._part, self._show_paths = trace, part, show_paths
        if part.choice is not None:
            self._rows = rows_of_steps(trace, part.choice)
        elif part.window is not None:
            self._rows = rows_of_window(trace, part.window)
        else:
            self._rows = np.arange(len(trace))
        if not len(self._rows):
            span = f"the trace lasts {trace.span_ns / 1e6:.3f} ms"
            raise UsageError("nothing of the trace is in there", span)

    def summary(self, forms: Sequence[str]) -> str:
        """Say how many slices of the trace are written, of a slim trace and a table both."""
        of = f"of {plural(len(self._trace), 'slice')}"
        slim = f"{len(self._slim.rows):,} {of}" if any(f != "parquet" for f in forms) else ""
        table = f"{len(self._rows):,} {of}" if "parquet" in forms else ""
        return f"table: {table}; trace: {slim}" if table and slim and table != slim else table or slim

    def of(self, form: str) -> Callable[[BinaryIO], object]:
        """Return what writes one format."""
        if form == "parquet":
            return self._parquet
        return lambda file: write_slim(file, self._slim, form == "json.gz")

    def _parquet(self, file: BinaryIO) -> None:
        write_groups(file, event_groups(self._trace, self._rows, self._show_paths), METADATA)

    @cached_property
    def _slim(self) -> Slim:
        kind = self._trace.slices.kind[self._rows]
        stacks, repeats = kind == Kind.PYTHON, kind == Kind.DERIVED
        kept = ~repeats if self._part.stacks else ~repeats & ~stacks
        left_out = {
            "outside": len(self._trace) - len(self._rows),
            "python_frames": 0 if self._part.stacks else int(stacks.sum()),
            "repeating_lanes": int(repeats.sum()),
        }
        said: dict[str, Any] = {"part": self._part.words, "slices_left_out": left_out}
        return Slim(self._trace, self._rows[kept], self._show_paths, said)
