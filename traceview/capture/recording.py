"""Record a few steps of a loop with torch.profiler, without standing in the loop's way.

Order of events for a window: torch stops its profiler at the window's last step() and hands it over; the trace is
written under a hidden name, compressed, and given its name at the end. Whatever fails on that way is said
once, and the job goes on without a profiler.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from traceview.capture import naming, session
from traceview.capture.calls import around, followed
from traceview.capture.compiled import Apart, has_compiled
from traceview.capture.guard import attempt, is_success
from traceview.capture.keeping import Hook, Keeper
from traceview.capture.options import Options, schedule_of
from traceview.capture.progress import Progress
from traceview.capture.schedule import (
    ACTIVE,
    LAST,
    WAIT,
    WARMUP,
    whole,
)
from traceview.capture.telling import (
    HIDDEN,
    HOW,
    ONLY_STRAYS,
    Silence,
    Voice,
    nothing_written,
    other_number,
    silence,
)
from traceview.errors import UsageError

PATIENCE_S = 30.0  # without a step() before somebody is told
LONGEST_WINDOW_S = 30.0  # of recorded steps, unless their number was asked for
FEWEST = 3  # recorded steps, however long they are

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Hooks:
    """Hold what is done around a recording; none of it may fail the job."""

    before: tuple[Callable[[Recording], None], ...] = ()
    warming: tuple[Callable[[Recording], None], ...] = ()  # the profiler is on, nothing is kept yet
    opening: tuple[Callable[[Recording], None], ...] = ()  # just before a window's first step
    closing: tuple[Callable[[Recording], None], ...] = ()  # in a window's last step, the device still at work
    written: tuple[Hook, ...] = ()
    ended: tuple[Callable[[Recording], None], ...] = ()


class Recording:
    """Record steps: `with record("train") as steps: for batch in loader: train(batch); steps.step()`."""

    def __init__(self, label: str, folder: Path, hooks: Hooks, options: Options) -> None:
        self.label, self.folder, self.hooks, self.options = label, folder, hooks, options
        self._voice = Voice(label, bool(options.get("quiet")))
        self._keeper = Keeper(label, folder, options, hooks.written, self._voice)
        self.absent, self.advice = "step() was never called", HOW  # what to say and to do where no step comes
        self.is_watched = False  # steps are seen from outside, not called by the program
        self._planned = self.schedule = schedule_of(options)
        self._profiler: Any = None
        self._now = Progress()
        self._lock = threading.RLock()
        self._watch: Silence | None = None
        self._entered = 0  # times more than once
        self._actions: dict[str, Any] = {}
        self._is_profiling: Callable[[], bool] = bool
        self._count = Apart(self._counted)

    def _again(self) -> Self:  # each call of a decorated function is a recording of its own
        return type(self)(self.label, self.folder, self.hooks, self.options)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Record each call of a function, also of a generator or an async function."""
        recorded: Callable[P, R] = around(function, self._again)
        return recorded

    @property
    def files(self) -> list[Path]:
        """Return the traces written so far."""
        return list(self._keeper.written)

    @property
    def steps(self) -> int:
        """Return how often step() was called."""
        return self._now.steps

    # before

    def __enter__(self) -> Self:
        if self in _CURRENT:
            self._voice.once("this recording is under way already: a second 'with' of it does nothing")
            self._entered += 1
            return self
        self.schedule, self._now = self._planned, Progress(time.monotonic())
        self._keeper.written.clear()
        if find_spec("torch") is None:
            self._voice.once(
                "torch is not installed, so nothing is recorded; pip install 'traceview[capture]'"
            )
            self._now.failed = True
            return self
        if naming.speaks():
            self._voice.plan(self.schedule, self._total)
            for hook in self.hooks.before:
                attempt("the check before recording", lambda hook=hook: hook(self))  # type: ignore[misc]
        try:
            attempt("the profiler", self._prepare, self._give_up)
        except BaseException:  # interrupted
            self._give_up()
            self._run(self.hooks.ended)
            raise
        if self._profiler is not None:
            self._watch = Silence(PATIENCE_S, self._tell_silence)
            _CURRENT.append(self)
        return self

    @property
    def _total(self) -> int | None:
        total = self.options.get("total")
        return None if total is None else whole("total", total)

    def _prepare(self) -> None:
        import torch

        self.folder.mkdir(parents=True, exist_ok=True)
        self._actions = session.actions()
        self._is_profiling = torch.autograd._profiler_enabled
        session.watch(self._give_way)
        self._start()

    def _start(self) -> None:
        """Make a profiler that begins with the next step; where one gave way, from there with the whole schedule."""
        now = self._now
        now.offset = now.steps
        if now.gave_way:
            self._postpone(now.steps)
        made = session.profiler(self.options, lambda step: self._action(step + now.offset), self._keep)
        self._let(made.start)
        self._profiler, now.gave_way = made, False
        self._warmed()

    def _postpone(self, step: int) -> None:
        """Let the windows that are still to come begin anew at a step."""
        repeat = self.schedule.repeat
        left = max(repeat - self._now.window, 1) if repeat else 0
        self.schedule = replace(self.schedule, skip_first=step, repeat=left)

    def _action(self, step: int) -> Any:
        """Return what torch.profiler shall do in a step; it asks once for each, in order."""
        now, phase = self._now, self.schedule.phase(step)
        if phase != WAIT and now.phase == WAIT:
            if not session.claim(self):
                self._voice.once("another profiler is running in this process: these steps are not recorded")
                self._postpone(step + 1)
                phase = WAIT
            else:
                now.owner = threading.get_ident()
                if phase == WARMUP:
                    self._run(self.hooks.warming)
        if phase in (ACTIVE, LAST) and now.phase != ACTIVE:
            self._open_window(step)
            phase = self.schedule.phase(step)
        if phase == LAST and now.phase == ACTIVE:
            self._run(self.hooks.closing)
        now.phase = phase
        return self._actions[phase]

    def _run(self, hooks: tuple[Callable[[Recording], None], ...]) -> None:
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

    # while

    def step(self) -> None:
        """Say that an iteration is done."""
        self._count()

    def _counted(self) -> None:
        now = self._now
        if now.owner is not None and now.owner != threading.get_ident():
            now.strays += 1
            self._voice.once(
                "step() came from another thread than the one that is recorded: such calls are ignored"
            )
            return
        with self._lock:
            now.steps += 1
            now.latest = time.monotonic()
            if self._profiler is not None:
                attempt("the profiler", self._advance, self._give_up)
            elif now.gave_way and not session.is_taken():
                attempt("the profiler", self._start, self._give_up)
            elif now.entered is None:
                self._voice.once(
                    "step() outside of the recording: write 'with record(...) as steps:' around the loop"
                )

    def _advance(self) -> None:
        self._check_session()
        self._let(self._profiler.step)
        if self._now.phase == WAIT:
            self._closed()
        else:
            self._warmed()

    def _let(self, torch_does: Callable[[], Any]) -> None:
        """Let torch change its session; what fails or interrupts that leaves nothing that more can be asked of."""
        done = False
        try:
            session.ours(torch_does)
            done = True
        finally:
            if not done:
                self._give_up()

    def _closed(self) -> None:
        self._now.owner = None
        session.release(self)

    def _warmed(self) -> None:
        """Take the time of warm-up steps from when the profiler is on: to start it may take seconds."""
        if self._now.phase == WARMUP and self._now.warm_since is None:
            self._now.warm_since = time.perf_counter()

    def _check_session(self) -> None:
        if self._now.phase in (ACTIVE, LAST) and not self._is_profiling():
            raise RuntimeError("torch's session was ended by somebody else")

    def _give_up(self) -> None:
        """Go on without a profiler that has failed.

        It is not stopped: torch crashes the process when it stops a session that it could not prepare. Only where
        a session of this thread is open it is closed.
        """
        opened = self._now.owner == threading.get_ident()
        self._profiler, self._now.failed = None, True
        if opened:
            attempt("closing the profiler", session.close)
        self._closed()
        session.unwatch(self._give_way)

    def _give_way(self) -> None:
        """Drop the window at work: the job is about to start a profiler of its own, and two crash the process."""
        now = self._now
        with self._lock:
            if now.owner is None or self._profiler is None:
                return
            if now.owner != threading.get_ident():
                self._voice.once("a profiler starts in another thread: this recording ends")
                self._give_up()
                return
            self._voice.once("the job starts a profiler of its own: the window at work is dropped")
            if now.phase in (ACTIVE, LAST):
                now.begun.pop()
            now.discard = True
            attempt("stopping the profiler", self._stop)
            now.discard, now.gave_way, now.phase = False, True, WAIT
            self._profiler = now.warm_since = None
            self._closed()

    def _stop(self) -> None:
        self._check_session()
        self._let(self._profiler.stop)

    def each(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose every call is a step."""
        stepped: Callable[P, R] = followed(function, self.step)
        return stepped

    def _tell_silence(self) -> str:
        """Say that no step() comes; return what was said."""
        now = self._now
        if now.entered is None or (now.steps and now.owner is None):
            return ""
        quiet = time.monotonic() - now.latest
        said = silence(quiet, PATIENCE_S, now.steps, (now.latest - now.entered) / max(now.steps, 1))
        if said:
            self._voice.once(f"{said}; {self.advice}, or nothing is recorded")
        return said

    # after

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._entered:
            self._entered -= 1
            return
        if self._watch is not None:
            self._watch.end()
        if self in _CURRENT:
            _CURRENT.remove(self)
        now = self._now
        now.closing, now.broken = True, error is not None and not is_success(error)
        try:
            if self._profiler is not None:
                self._finish()
        finally:
            self._profiler = None
            self._closed()
            session.unwatch(self._give_way)
            self._run(self.hooks.ended)
        if not now.failed:
            attempt("the last word", self._tell_end)

    def _finish(self) -> None:
        now = self._now
        if now.owner not in (None, threading.get_ident()):
            self._voice.once("the window was begun in another thread and cannot be ended here: it is dropped")
            session.abandon(now.owner)
            return
        if now.phase == ACTIVE and not now.broken:  # cut short
            self._run(self.hooks.closing)
        attempt("stopping the profiler", self._stop)

    def _tell_end(self) -> None:
        now, total, voice = self._now, self._total, self._voice
        if now.broken:
            if now.begun and now.window > len(self._keeper.written):
                voice.say("the window at work when the exception came was dropped")
            return
        if not now.steps:
            hidden = HIDDEN if self.is_watched and has_compiled() else ""
            absent = ONLY_STRAYS if now.strays else f"{self.absent}{hidden}"
            voice.end(f"{absent}, so {self._keeper.outcome}; {self.advice}")
        elif not self._keeper.written:
            voice.end("nothing was recorded" if voice.told else nothing_written(self.schedule, now.steps))
        if total is not None and now.steps and now.steps != total:
            voice.warn(other_number(now.steps, total))

    def _keep(self, profiler: Any) -> None:
        """Keep the window that torch hands over, unless it is empty or broken."""
        now = self._now
        if now.discard:
            return
        latest = now.steps if now.closing else now.steps - 1
        steps = range(max((b for b in now.begun if b <= latest), default=0), now.steps)
        index, now.window = now.window, now.window + 1
        if not now.broken and (steps or not now.steps):
            self._keeper.keep(profiler, index, steps, self.schedule.active)


_CURRENT: list[Recording] = []  # innermost last


def step() -> None:
    """Step the recording that is under way, where the loop does not hold it; without one nothing happens."""
    if _CURRENT:
        _CURRENT[-1].step()


def _after_fork() -> None:
    """Record nothing in a process forked within a session: that one is its parent's."""
    for recording in _CURRENT:
        if recording._now.owner is not None:
            recording._give_up()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def recording_into(label: str, folder: str | Path | None, hooks: Hooks, options: Options) -> Recording:
    """Return a recording into a folder: the given one, $PROFILER_OUTPUT_DIR, or `traces`."""
    if not isinstance(label, str):
        raise UsageError(
            f"a label is text, not {type(label).__name__}", "as a decorator write @record() with brackets"
        )
    place = Path(
        folder or os.environ.get("PROFILER_OUTPUT_DIR") or "traces"
    ).absolute()  # a job may change folders
    return Recording(label, place, hooks, options)
