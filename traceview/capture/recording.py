"""Record a few steps of a loop with torch.profiler, without standing in the loop's way.

Order of events for a window: torch stops its profiler at the window's last step() and hands it over; the trace is
written under a hidden name, compressed, and given its name at the end. Whatever fails on that way is said
once, and the job goes on without a profiler.
"""

from __future__ import annotations

import gzip
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, Self, TypedDict, TypeVar

from traceview.capture import naming
from traceview.capture.guard import attempt, say
from traceview.capture.schedule import ACTIVE, FEWEST_COMPARED, LAST, WAIT, WARMUP, Schedule, plan, too_few

PATIENCE_S = 30.0  # without a step() before somebody is told
LONGEST_WINDOW_S = 30.0  # of recorded steps, unless their number was asked for
FEWEST = 3  # recorded steps, however long they are
_COMPRESSION = 3  # a trace shrinks 12 times with 3, 14 times with 9, in a quarter of the time
_BLOCK = 1 << 20

P = ParamSpec("P")
R = TypeVar("R")


class Options(TypedDict, total=False):
    """Name the options of `record`."""

    wait: int  # steps before each window's warm-up; default 2
    warmup: int  # steps with the profiler on and nothing kept; default 5
    active: int  # steps of a window; default 10, fewer where these would take over half a minute
    repeat: int  # windows, 0: to the end; default 1
    skip_first: int  # steps before the first cycle; default 0
    total: int  # steps that the loop will make: the plan is printed before it starts
    shapes: bool  # record input shapes
    stacks: bool  # record Python stacks: slow, and large files
    memory: bool  # record the allocator
    flops: bool
    conditions: dict[
        str, Any
    ]  # what the run's conditions cannot tell by themselves: batch, shapes, precision
    quiet: bool  # say failures and warnings only


@dataclass(frozen=True)
class Window:
    """Hold a written window: its file's name without suffix, its folder, and what was recorded in it."""

    trace: Path
    name: str
    index: int
    steps: range
    planned: int
    options: Options


Hook = Callable[[Window], None]


@dataclass(frozen=True)
class Hooks:
    """Hold what is done around a recording; none of it may fail the job."""

    before: tuple[Callable[[Recording], None], ...] = ()
    opening: tuple[Callable[[Recording], None], ...] = ()  # just before a window's first step
    written: tuple[Hook, ...] = ()


@dataclass
class _Progress:
    """Hold where a recording is."""

    steps: int = 0
    window: int = 0  # windows handed over so far, kept or not
    begun: list[int] = field(default_factory=list)  # first steps of windows
    phase: str = WAIT  # of the latest step that torch asked for
    taken: bool = False  # by a profiler of the job's own
    warm_since: float | None = None
    failed: bool = False
    closing: bool = False  # torch hands over what there is when it is stopped
    broken: bool = False  # an exception ended the loop: the window at work is dropped
    written: list[Path] = field(default_factory=list)


class Recording(ContextDecorator):
    """Record steps: `with record("train") as steps: for batch in loader: train(batch); steps.step()`."""

    def __init__(self, label: str, folder: Path, hooks: Hooks, options: Options) -> None:
        self.label, self.folder, self.hooks, self.options = label, folder, hooks, options
        names = ("wait", "warmup", "active", "repeat", "skip_first")
        self.schedule = Schedule(**{n: options[n] for n in names if n in options})  # type: ignore[literal-required]
        self._profiler: Any = None
        self._now = _Progress()
        self._watch: threading.Timer | None = None
        self._actions: dict[str, Any] = {}
        self._is_profiling: Callable[[], bool] = bool

    def _recreate_cm(self) -> Self:  # each call of a decorated function is a recording of its own
        return type(self)(self.label, self.folder, self.hooks, self.options)

    @property
    def files(self) -> list[Path]:
        """Return the traces written so far."""
        return list(self._now.written)

    @property
    def steps(self) -> int:
        """Return how often step() was called."""
        return self._now.steps

    def say(self, text: str) -> None:
        """Say what is no warning."""
        if not self.options.get("quiet"):
            say(text)

    # before

    def __enter__(self) -> Self:
        self._now = _Progress()
        if naming.speaks():
            self._tell_plan()
            for hook in self.hooks.before:
                attempt("the check before recording", lambda hook=hook: hook(self))  # type: ignore[misc]
        attempt("the profiler", self._start)
        if self._profiler is not None:
            self._watch = threading.Timer(PATIENCE_S, self._tell_silence)
            self._watch.daemon = True
            self._watch.start()
            _CURRENT.append(self)
        return self

    def _tell_plan(self) -> None:
        total = self.options.get("total")
        if total is None:
            if self.schedule.active < FEWEST_COMPARED:
                self.say(too_few(self.schedule.active))
            return
        planned = plan(self.schedule, total)
        for line in (*planned.windows(), *planned.notes):
            self.say(f"{self.label}: {line}")
        for warning in planned.warnings:
            say(f"{self.label}: warning: {warning}")

    def _start(self) -> None:
        import torch
        from torch.profiler import ProfilerAction, profile, supported_activities

        # torch warns of it at the second window of each recording; where warnings are errors that is a failure
        warnings.filterwarnings("ignore", "Warning: Profiler clears events", UserWarning)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._actions = {
            WAIT: ProfilerAction.NONE, WARMUP: ProfilerAction.WARMUP,
            ACTIVE: ProfilerAction.RECORD, LAST: ProfilerAction.RECORD_AND_SAVE,
        }  # fmt: skip
        self._is_profiling = torch.autograd._profiler_enabled
        asked = self.options.get
        profiler = profile(
            activities=supported_activities(),
            schedule=self._action,
            on_trace_ready=self._keep,
            record_shapes=asked("shapes", False),
            with_stack=asked("stacks", False),
            profile_memory=asked("memory", False),
            with_flops=asked("flops", False),
        )
        profiler.start()
        self._profiler = profiler

    def _action(self, step: int) -> Any:
        """Return what torch.profiler shall do in a step; it asks once for each, in order."""
        now, phase = self._now, self.schedule.phase(step)
        if phase != WAIT and now.phase == WAIT and self._is_taken():
            phase = WAIT
        elif phase == WARMUP and now.phase != WARMUP:
            now.warm_since = time.perf_counter()
        elif phase in (ACTIVE, LAST) and now.phase != ACTIVE:
            self._open_window(step)
            phase = self.schedule.phase(step)
        now.phase = phase
        return self._actions[phase]

    def _is_taken(self) -> bool:
        """Tell whether the job profiles itself right now: two sessions at once crash the process."""
        taken = bool(self._is_profiling())
        if taken and not self._now.taken:
            say(f"{self.label}: another profiler is running in this process, so these steps are not recorded")
        self._now.taken = taken
        return taken

    def _open_window(self, step: int) -> None:
        now = self._now
        if now.begun[-1:] == [step]:  # torch asks twice for the first step
            return
        warm, now.warm_since = now.warm_since, None
        if warm is not None and not now.begun and "active" not in self.options:
            self._shorten((time.perf_counter() - warm) / self.schedule.warmup)
        now.begun.append(step)
        for hook in self.hooks.opening:
            attempt("noting the conditions", lambda hook=hook: hook(self))  # type: ignore[misc]

    def _shorten(self, seconds: float) -> None:
        """Record fewer steps where ten would take too long."""
        fits = max(FEWEST, int(LONGEST_WINDOW_S / max(seconds, 1e-9)))
        if fits < self.schedule.active:
            self.schedule = replace(self.schedule, active=fits)
            self.say(
                f"{self.label}: a step takes {seconds:.1f} s, so only {fits} are recorded; active= says otherwise"
            )
            if fits < FEWEST_COMPARED:
                self.say(too_few(fits))

    # while

    def step(self) -> None:
        """Say that an iteration is done."""
        self._now.steps += 1
        if self._profiler is not None:
            attempt("the profiler", self._profiler.step, self._give_up)

    def _give_up(self) -> None:
        """Go on without a profiler that has failed.

        It is not stopped: torch crashes the process when it stops a session that it could not prepare, and
        where the job had a profiler of its own running, that one would be stopped.
        """
        self._profiler, self._now.failed = None, True

    def each(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function whose every call is a step."""

        @wraps(function)
        def stepped(*args: P.args, **kwargs: P.kwargs) -> R:
            result = function(*args, **kwargs)
            self.step()
            return result

        return stepped

    def _tell_silence(self) -> None:
        if not self._now.steps:
            say(
                f"{self.label}: no step() in the first {PATIENCE_S:.0f} s; call .step() at the end of each iteration, "
                "or nothing is recorded"
            )

    # after

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self in _CURRENT:
            _CURRENT.remove(self)
        now, profiler = self._now, self._profiler
        now.closing, now.broken = True, error is not None and not _is_success(error)
        if profiler is not None:
            attempt("stopping the profiler", profiler.stop)
            self._profiler = None
        if not now.failed:
            attempt("the last word", self._tell_end)

    def _tell_end(self) -> None:
        now = self._now
        if now.broken:
            if now.begun and now.window > len(now.written):
                self.say(f"{self.label}: the window at work when the exception came was dropped")
        elif not now.steps and not now.written:
            say(
                f"{self.label}: step() was never called, so nothing was recorded; call it at the end of each iteration"
            )
        elif not now.written:
            short = plan(self.schedule, now.steps).warnings
            say(f"{self.label}: nothing was recorded: {'; '.join(short) or 'no file could be written'}")

    def _keep(self, profiler: Any) -> None:
        """Write the window that torch hands over, unless it is empty or broken."""
        now = self._now
        latest = now.steps if now.closing else now.steps - 1
        steps = range(max((b for b in now.begun if b <= latest), default=0), now.steps)
        index, now.window = now.window, now.window + 1
        if now.broken or (not steps and now.steps):
            return
        written = attempt("writing the trace", lambda: self._write(profiler, index))
        if written is None:
            return
        now.written.append(written)
        name = written.name.removesuffix(naming.TRACE)
        window = Window(written, name, index, steps, self.schedule.active, self.options)
        self.say(f"wrote {written} ({_size(written.stat().st_size)}, {len(steps) or 'no'} steps)")
        if 0 < len(steps) < self.schedule.active:
            say(
                f"{self.label}: warning: the loop ended after {len(steps)} of {self.schedule.active} steps of this window"
            )
        for hook in self.hooks.written:
            attempt("the check of the trace", lambda hook=hook: hook(window))  # type: ignore[misc]

    def _write(self, profiler: Any, index: int) -> Path:
        name = naming.name_of(self.label, index)
        plain = naming.part_of(self.folder, name, ".json")
        packed = naming.part_of(self.folder, name, naming.TRACE)
        try:
            profiler.export_chrome_trace(str(plain))
            with plain.open("rb") as source, gzip.open(packed, "wb", _COMPRESSION) as target:
                shutil.copyfileobj(source, target, _BLOCK)
            return naming.publish(packed, self.folder, name, naming.TRACE)
        finally:
            plain.unlink(missing_ok=True)
            packed.unlink(missing_ok=True)


_CURRENT: list[Recording] = []  # innermost last


def step() -> None:
    """Step the recording that is under way, where the loop does not hold it; without one nothing happens."""
    if _CURRENT:
        _CURRENT[-1].step()


def _is_success(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{size / 1e3:.1f} kB"


def recording_into(label: str, folder: str | Path | None, hooks: Hooks, options: Options) -> Recording:
    """Return a recording into a folder: the given one, $PROFILER_OUTPUT_DIR, or `traces`."""
    place = Path(folder or os.environ.get("PROFILER_OUTPUT_DIR") or "traces")
    return Recording(label, place, hooks, options)
