"""Keep the windows that torch hands over: each a file, then looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.capture import naming
from traceview.capture.guard import attempt
from traceview.capture.interruptions import Held
from traceview.capture.options import Options
from traceview.capture.schedule import plural
from traceview.capture.telling import Voice
from traceview.capture.writing import size, write


@dataclass(frozen=True)
class Window:
    """Hold a written window: its file's name without suffix, its folder, and what was recorded in it."""

    trace: Path
    name: str
    index: int
    steps: range
    planned: int
    options: Options


@dataclass(frozen=True)
class Whole:
    """Hold of how many steps a window was planned, and what has happened where it has fewer."""

    steps: int
    cut: str


Hook = Callable[[Window], None]


class Keeper:
    """Write windows into a folder, and call what looks at each."""

    def __init__(
        self, label: str, folder: Path, options: Options, hooks: Sequence[Hook], voice: Voice
    ) -> None:
        self._label, self._folder, self._options, self._hooks = label, folder, options, hooks
        self._voice = voice
        self.written: list[Path] = []

    @property
    def outcome(self) -> str:
        """Say what is left of a loop without steps."""
        return "the file holds no steps" if self.written else "nothing was recorded"

    def keep(self, profiler: Any, index: int, steps: range, planned: Whole) -> None:
        """Write what a profiler of torch holds of these steps, of as many as were planned.

        Who ends the job while the trace is written does so at once, and nothing of it is left. As soon as it has its
        name he waits until it is whole: its conditions beside it, and looked at.
        """
        name = naming.name_of(self._label, index)
        before = self._named(name)
        with Held(lambda: self._named(name) != before):
            self._keep(profiler, name, index, steps, planned)

    def _named(self, name: str) -> set[Path]:
        with suppress(OSError):
            return set(self._folder.glob(f"{name}*{naming.TRACE}"))
        return set()

    def _keep(self, profiler: Any, name: str, index: int, steps: range, planned: Whole) -> None:
        written = attempt("writing the trace", lambda: write(profiler, self._folder, name, steps.stop))
        if written is None:
            return
        self.written.append(written)
        window = Window(
            written, written.name.removesuffix(naming.TRACE), index, steps, planned.steps, self._options
        )
        self._voice.say(f"wrote {written} ({size(written.stat().st_size)}, {plural(len(steps), 'step')})")
        if 0 < len(steps) < planned.steps:
            self._voice.warn(
                f"{planned.cut} after {len(steps)} of {plural(planned.steps, 'step')} of this window"
            )
        for hook in self._hooks:
            attempt("the check of the trace", lambda hook=hook: hook(window))  # type: ignore[misc]
