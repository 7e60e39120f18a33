"""What a recording says: the plan before the loop, silence in it, and what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from traceview.capture.guard import say
from traceview.capture.schedule import FEWEST_COMPARED, GAPLESS, REFUSE, Schedule, plan, plural, too_few

HOW = "call it at the end of each iteration"
HIDDEN = " (what runs inside of a compiled function is not seen; the function itself can be a step)"
ONLY_STRAYS = "step() was called in other threads only"
LOST = "the thread that was recorded ended inside of a window: it is dropped"
STOPPED = "torch's buffers for the device were full, so it stopped"
_LOOKS = 10  # in the time that a silence may last
_PATIENT = 5  # times the mean step that a silence may last


class Voice:
    """Speak for a recording: its label first, and what could repeat once."""

    def __init__(self, label: str, quiet: bool) -> None:
        self._label, self._quiet = label, quiet
        self.told: set[str] = set()

    def say(self, text: str) -> None:
        """Say what is no warning."""
        if not self._quiet:
            say(f"{self._label}: {text}")

    def warn(self, text: str) -> None:
        """Say what needs attention, always."""
        say(f"{self._label}: warning: {text}")

    def end(self, text: str) -> None:
        """Say what became of the recording, always."""
        say(f"{self._label}: {text}")

    def once(self, text: str) -> None:
        """Say what may happen at every step, at the first one only."""
        if text not in self.told:
            self.told.add(text)
            say(f"{self._label}: {text}")

    def plan(self, schedule: Schedule, total: int | None) -> None:
        """Say which iterations end up in which file, and what is wrong with that."""
        if schedule.is_gapless:
            self.warn(GAPLESS)
        if total is None:
            if schedule.active < FEWEST_COMPARED:
                self.say(too_few(schedule.active))
            return
        planned = plan(schedule, total)
        for line in (*planned.windows(), *planned.notes):
            self.say(line)
        for warning in planned.warnings:
            self.warn(warning)

    def shortened(self, schedule: Schedule, seconds: float, total: int | None) -> None:
        """Say that fewer steps are recorded than by default, and what that makes of the plan."""
        few = ""
        if schedule.active < FEWEST_COMPARED:
            few = f", too few for 'traceview diff', which wants {FEWEST_COMPARED}"
        self.say(
            f"a step takes {seconds:.1f} s, so only {schedule.active} are recorded{few}; active= says otherwise"
        )
        for line in plan(schedule, total).windows() if total is not None else ():
            self.say(f"now {line}")


def nothing_written(schedule: Schedule, steps: int, told: bool) -> str:
    """Say why a loop of so many steps left no file, unless that was told."""
    short = plan(schedule, steps)
    reason = (
        "; ".join(short.warnings) if short.verdict == REFUSE else "" if told else "no file could be written"
    )
    return f"nothing was recorded: {reason}" if reason else "nothing was recorded"


def other_number(steps: int, total: int) -> str:
    """Say that the loop was not as long as planned."""
    return f"step() was called {plural(steps, 'time')}, and the plan was made for {total}"


class Silence:
    """Tell once when no step() comes for long."""

    def __init__(self, patience: float, told: Callable[[], str]) -> None:
        self._pause, self._told, self._ended = patience / _LOOKS, told, threading.Event()
        threading.Thread(target=self._look, name="traceview", daemon=True).start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(self._pause):
            if self._told():
                return


def silence(seconds: float, patience: float, steps: int, mean: float) -> str:
    """Return what to say of so many seconds without a step(), nothing where that is no wonder."""
    if not steps:
        return f"no step() in the first {patience:.0f} s"
    return (
        f"no step() for {seconds:.0f} s after {plural(steps, 'step')}"
        if seconds > max(patience, _PATIENT * mean)
        else ""
    )
