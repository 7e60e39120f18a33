"""What a recording does in each step, as its schedule says, and what is done beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from traceview.capture import session
from traceview.capture.guard import attempt
from traceview.capture.keeping import Hook
from traceview.capture.options import Options, schedule_of
from traceview.capture.progress import Progress
from traceview.capture.schedule import ACTIVE, LAST, WAIT, WARMUP, whole
from traceview.capture.telling import Voice
from traceview.capture.threads import Threads

LONGEST_WINDOW_S = 30.0  # of recorded steps, unless their number was asked for
FEWEST = 3  # recorded steps, however long they are


@dataclass(frozen=True)
class Hooks:
    """Hold what is done around a recording; none of it may fail the job."""

    before: tuple[Callable[[Course], None], ...] = ()
    warming: tuple[Callable[[Course], None], ...] = ()  # the profiler is on, nothing is kept yet
    opening: tuple[Callable[[Course], None], ...] = ()  # just before a window's first step
    closing: tuple[Callable[[Course], None], ...] = ()  # in a window's last step, the device still at work
    written: tuple[Hook, ...] = ()
    ended: tuple[Callable[[Course], None], ...] = ()


class Course:
    """Answer torch what to do in a step, and run the hooks that belong there."""

    def __init__(self, label: str, folder: Path, hooks: Hooks, options: Options) -> None:
        self.label, self.folder, self.hooks, self.options = label, folder, hooks, options
        self._voice = Voice(label, bool(options.get("quiet")))
        self._planned = self.schedule = schedule_of(options)
        self._now, self.threads = Progress(), Threads()
        self._actions: dict[str, Any] = {}

    @property
    def first_step(self) -> int:
        """Return the first step of the latest window."""
        return self._now.begun[-1] if self._now.begun else 0

    @property
    def _total(self) -> int | None:
        total = self.options.get("total")
        return None if total is None else whole("total", total)

    def _postpone(self, step: int) -> None:
        """Let the windows that are still to come begin anew at a step."""
        repeat = self.schedule.repeat
        left = max(repeat - self._now.window, 1) if repeat else 0
        self.schedule = replace(self.schedule, skip_first=step, repeat=left)

    def _action(self, step: int) -> Any:
        """Return what torch.profiler shall do in a step; it asks once for each, in order."""
        now, phase = self._now, self.schedule.phase(step)
        before, now.planned = now.planned, phase
        if now.is_stopped and phase != WAIT and before != LAST:
            return self._actions[phase]  # torch does nothing of it
        now.is_stopped = False
        if phase != WAIT and now.phase == WAIT:
            if not session.claim(self):
                self._voice.once("another profiler is running in this process: these steps are not recorded")
                self._postpone(step + 1)
                phase = WAIT
            else:
                self.threads.open = threading.current_thread()
        if phase == WARMUP and now.phase != WARMUP:
            self._run(self.hooks.warming)
        if phase in (ACTIVE, LAST) and now.phase != ACTIVE:
            self._open_window(step)
            phase = self.schedule.phase(step)
        if phase == LAST and now.phase == ACTIVE:
            self._run(self.hooks.closing)
        now.phase = phase
        return self._actions[phase]

    def _run(self, hooks: tuple[Callable[[Course], None], ...]) -> None:
        for hook in hooks:
            attempt("noting the conditions", lambda hook=hook: hook(self))  # type: ignore[misc]

    def _open_window(self, step: int) -> None:
        now = self._now
        if now.begun[-1:] == [step]:  # torch asks twice for the first step
            return
        warm, now.warm_since = now.warm_since, None
        if warm is not None and not now.begun and "active" not in self.options:
            self._shorten((time.perf_counter() - warm) / self.schedule.warmup)
        now.begun.append(step)
        self._run(self.hooks.opening)

    def _shorten(self, seconds: float) -> None:
        """Record fewer steps where ten would take too long."""
        fits = max(FEWEST, int(LONGEST_WINDOW_S / max(seconds, 1e-9)))
        if fits >= self.schedule.active:
            return
        self.schedule = replace(self.schedule, active=fits)
        self._voice.shortened(self.schedule, seconds, self._total)
