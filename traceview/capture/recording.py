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
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from traceview.capture import naming, session, underway
from traceview.capture.calls import around, followed
from traceview.capture.compiled import Apart, has_compiled
from traceview.capture.course import Course, Hooks
from traceview.capture.guard import attempt, is_success
from traceview.capture.keeping import Keeper, Whole
from traceview.capture.options import Options
from traceview.capture.progress import Progress
from traceview.capture.schedule import (
    ACTIVE,
    LAST,
    WAIT,
    WARMUP,
)
from traceview.capture.telling import (
    HIDDEN,
    HOW,
    LOST,
    ONLY_STRAYS,
    STOPPED,
    Silence,
    nothing_written,
    other_number,
    silence,
)
from traceview.capture.threads import Threads
from traceview.errors import UsageError

PATIENCE_S = 30.0  # without a step() before somebody is told

P = ParamSpec("P")
R = TypeVar("R")


class Recording(Course):
    """Record steps: `with record("train") as steps: for batch in loader: train(batch); steps.step()`."""

    def __init__(self, label: str, folder: Path, hooks: Hooks, options: Options) -> None:
        super().__init__(label, folder, hooks, options)
        self._keeper = Keeper(label, folder, options, hooks.written, self._voice)
        self.absent, self.advice = "step() was never called", HOW  # what to say and to do where no step comes
        self.is_watched = False  # steps are seen from outside, not called by the program
        self._profiler: Any = None
        self._range = session.StepRange()
        self._is_stepping = False
        self._lock = threading.RLock()
        self._watch: Silence | None = None
        self._entered = 0  # times more than once
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
        if underway.is_under_way(self):
            self._voice.once("this recording is under way already: a second 'with' of it does nothing")
            self._entered += 1
            return self
        self.schedule, self._now, self.threads = self._planned, Progress(time.monotonic()), Threads()
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
        done = False
        try:
            attempt("the profiler", self._prepare, self._give_up)
            done = True
        finally:
            if not done:  # interrupted
                self._give_up()
        if self._profiler is not None:
            self._watch = Silence(PATIENCE_S, self._tell_silence)
            underway.enter(self)
        return self

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
        self._begun()

    # while

    def step(self) -> None:
        """Say that an iteration is done."""
        self._count()

    def _counted(self) -> None:
        if self.threads.is_lost:
            self._lose()
        if self.threads.is_others:  # the lock may be held for long
            self._stray()
            return
        with self._lock:
            if self._is_stepping:
                self._voice.once(
                    "step() was called within step(), by a handler of a signal: such calls are ignored"
                )
                return
            self._is_stepping = True
            try:
                self._stepped()
            finally:
                self._is_stepping = False

    def _stray(self) -> None:
        self._now.strays += 1
        self._voice.once(
            "step() came from another thread than the one that is recorded: such calls are ignored"
        )

    def _stepped(self) -> None:
        now = self._now
        if not self.threads.may_step():
            self._stray()
        else:
            now.steps += 1
            now.latest = time.monotonic()
            self._hush()
            if self._profiler is not None:
                attempt("the profiler", self._advance, self._give_up)
            elif now.gave_way and not session.is_taken():
                attempt("the profiler", self._start, self._give_up)
            elif now.entered is None:
                self._voice.once(
                    "step() outside of the recording: write 'with record(...) as steps:' around the loop"
                )

    def _advance(self) -> None:
        now = self._now
        self._check_session()
        self._range.end()
        self._let(self._profiler.step)
        if now.phase != WAIT and session.is_stopped(self._profiler):
            now.is_stopped, now.phase = True, WAIT
        if now.phase != WAIT:
            self._begun()
            return
        self._closed()
        if self.schedule.is_over(now.steps):
            self._let(self._profiler.stop)
            self._profiler = None
            session.unwatch(self._give_way)

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
        self.threads.open = None
        session.release(self)

    def _begun(self) -> None:
        """Mark a step; take the time of warm-up steps from when the profiler is on: to start it may take seconds."""
        now = self._now
        if now.phase in (ACTIVE, LAST):
            self._range.begin(now.steps)
        elif now.phase == WARMUP and now.warm_since is None:
            now.warm_since = time.perf_counter()

    def _check_session(self) -> None:
        if self._now.phase in (ACTIVE, LAST) and not self._is_profiling():
            raise RuntimeError("torch's session was ended by somebody else")

    def _give_up(self) -> None:
        """Go on without a profiler that has failed.

        It is not stopped: torch crashes the process when it stops a session that it could not prepare. Only where
        a session of this thread is open it is closed.
        """
        opened = self.threads.is_mine
        if self.threads.is_others and self.threads.open is not None:
            self.threads.hushed = self.threads.open
            session.overtake(self, self.threads.open)
        self._profiler, self._now.failed = None, True
        if opened:
            attempt("closing the profiler", self._range.end)
            attempt("closing the profiler", session.close)
        self._closed()
        session.unwatch(self._give_way)
        self._run(self.hooks.ended)

    def _give_way(self) -> None:
        """Drop the window at work: the job is about to start a profiler of its own, and two crash the process."""
        threads = self.threads
        with self._lock:
            if threads.open is None or self._profiler is None:
                return
            if not threads.is_mine:
                self._voice.once("a profiler starts in another thread: this recording ends")
                self._give_up()
                return
            self._voice.once("the job starts a profiler of its own: the window at work is dropped")
            self._drop()
            self._now.discard = True
            attempt("stopping the profiler", self._stop)
            self._now.discard = False
            self._put_off()

    def _drop(self) -> None:
        if self._now.phase in (ACTIVE, LAST):
            self._now.begun.pop()

    def _put_off(self) -> None:
        """Let the window come again, with a profiler that is made when nothing else profiles."""
        now = self._now
        now.gave_way, now.phase = True, WAIT
        self._profiler = now.warm_since = None
        self._closed()

    def _lose(self) -> None:
        """Drop the window of a thread that has ended."""
        with self._lock:
            if self._profiler is not None:
                self._voice.once(LOST)
                self._drop()
                self._put_off()

    def _hush(self) -> None:
        """Let a session that must stay open record nothing more: torch crashes when it ends it."""
        if self.threads.hushed is threading.current_thread():
            self.threads.hushed = None
            attempt("closing the profiler", session.hush)

    def _stop(self) -> None:
        self._check_session()
        self._range.end()
        self._let(self._profiler.stop)

    def each(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose every call is a step."""
        stepped: Callable[P, R] = followed(function, self.step)
        return stepped

    def _tell_silence(self) -> str:
        """Say that no step() comes; return what was said."""
        now = self._now
        if now.entered is None or (now.steps and self.threads.open is None):
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
        underway.leave(self)
        now = self._now
        now.closing, now.broken = True, error is not None and not is_success(error)
        with self._lock:  # another thread may be within step()
            try:
                self._hush()
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
        now, threads = self._now, self.threads
        if threads.is_lost:
            self._voice.once(LOST)
            self._drop()
        elif threads.open is not None and not threads.is_mine:
            self._voice.once("the window was begun in another thread and cannot be ended here: it is dropped")
            session.abandon(self, threads.open)
        else:
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
            voice.end(nothing_written(self._planned, now.steps, bool(voice.told)))
        if total is not None and now.steps and now.steps != total:
            voice.warn(other_number(now.steps, total))

    def _keep(self, profiler: Any) -> None:
        """Keep the window that torch hands over, unless it is empty or broken."""
        now = self._now
        if now.discard:
            return
        latest = now.steps if now.closing else now.steps - 1
        steps = range(max((b for b in now.begun if b <= latest), default=now.steps), now.steps)
        index, now.window = now.window, now.window + 1
        if not now.broken and (steps or not now.steps):
            cut = "the loop ended" if now.closing else STOPPED
            self._keeper.keep(profiler, index, steps, Whole(self.schedule.active, cut))
        profiler.profiler = None  # all events of the window

    def forked(self) -> None:
        """Record nothing in a process forked within a session: that one is its parent's."""
        self._lock = threading.RLock()
        if self.threads.open is not None:
            self._give_up()


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
