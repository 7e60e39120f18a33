"""Torch's profiler for one recording, and what else in the process profiles.

torch keeps a session per thread and lets anybody end it. To end one that is not there crashes the process: from
another thread, or after a profiler of the job's own has ended it. So the beginnings and ends of other sessions
are watched while something is recorded.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakSet

from traceview.capture.guard import attempt
from traceview.capture.schedule import ACTIVE, LAST, WAIT, WARMUP

STEP = "traceview step "  # and its number, until the trace is written
SWITCHES = {  # how torch calls options
    "shapes": "record_shapes", "stacks": "with_stack", "memory": "profile_memory", "flops": "with_flops",
}  # fmt: skip


def profiler(options: Mapping[str, Any], action: Callable[[int], Any], ready: Callable[[Any], None]) -> Any:
    """Return a profiler of torch, not yet started; `action` says what it does in a step, as `actions` names it."""
    from torch.profiler import profile, supported_activities

    switches = {long: bool(options.get(short)) for short, long in SWITCHES.items()}
    made = profile(activities=supported_activities(), schedule=action, on_trace_ready=ready, **switches)
    made.record_steps = False  # torch marks those of every profiler, also of one that waits: see StepRange
    return made


class StepRange:
    """Mark the steps of a recording: by their numbers in the loop, and told apart from those of other profilers."""

    def __init__(self) -> None:
        self._open: Any = None

    def begin(self, number: int) -> None:
        """Begin a step."""
        import torch

        self._open = torch.profiler.record_function(f"{STEP}#{number}")
        self._open.__enter__()

    def end(self) -> None:
        """End the step that has begun, if one has."""
        mark, self._open = self._open, None
        if mark is not None:
            mark.__exit__(None, None, None)


def actions() -> dict[str, Any]:
    """Return how torch calls what a schedule says."""
    from torch.profiler import ProfilerAction

    return {
        WAIT: ProfilerAction.NONE, WARMUP: ProfilerAction.WARMUP,
        ACTIVE: ProfilerAction.RECORD, LAST: ProfilerAction.RECORD_AND_SAVE,
    }  # fmt: skip


class _Ours(threading.local):
    on = False


_ours = _Ours()
_holder: list[object] = []  # the recording whose session is open: a second one at once crashes the process
_others: WeakSet[Any] = WeakSet()  # sessions that the job opened while something watched
_watching: list[Callable[[], None]] = []
_plain: list[tuple[Any, str, Any]] = []  # what was replaced in torch


def ours(torch_does: Callable[[], Any]) -> None:
    """Let torch do something that is a recording's own, and no other profiler's."""
    before, _ours.on = _ours.on, True
    try:
        torch_does()
    finally:
        _ours.on = before


def is_taken() -> bool:
    """Tell whether something else profiles: this thread as torch knows it, or any that began while we watched."""
    import torch

    anywhere = getattr(torch.autograd.profiler, "_is_profiler_enabled", False)  # also in another thread
    return bool(_holder) or bool(_others) or bool(anywhere) or bool(torch.autograd._profiler_enabled())


def claim(recording: object) -> bool:
    """Open a session for a recording, unless another one is open; tell whether that is so."""
    _end_left()
    if is_taken():
        return False
    _holder.append(recording)  # two threads may get here at once: the first one has it
    if _holder[0] is not recording:
        _holder.remove(recording)
        return False
    if threading.current_thread() is not threading.main_thread():
        _armed[recording] = [recording]
        _local.at_end = _AtThreadEnd(_armed[recording])
    return True


def release(recording: object) -> None:
    """Say that a recording's session is closed."""
    if recording not in _abandoned:
        _let_go(recording)


def abandon(recording: object, thread: threading.Thread) -> None:
    """Leave the session of another thread open: it is closed when that thread or, of the main one, the program ends."""
    if thread is threading.main_thread():
        atexit.register(_end_left)
    _abandoned[recording] = thread


def overtake(recording: object, thread: threading.Thread) -> None:
    """Say that another session begins while that of a recording is open in its thread."""
    _abandoned[recording] = thread
    _hushed.add(recording)


def _end_left(hushed: bool = False) -> None:
    """End what recordings have left open in this thread; what was overtaken only where the thread cannot go on with it."""
    for recording in [r for r, thread in _abandoned.items() if thread is threading.current_thread()]:
        if (hushed or recording not in _hushed) and _can_end(recording):
            _end(recording)
            _let_go(recording)


def _runs_elsewhere() -> bool:
    import torch

    return bool(_others) or bool(getattr(torch.autograd.profiler, "_is_profiler_enabled", False))


def _can_end(recording: object) -> bool:
    """Tell whether torch can end a session: of one that was overtaken only once the other one has ended."""
    return recording not in _hushed or not _runs_elsewhere()


def _end(recording: object) -> None:
    attempt("closing the profiler", _end_hushed if recording in _hushed else close)


def _let_go(recording: object) -> None:
    _abandoned.pop(recording, None)
    _hushed.discard(recording)
    _restore()
    _armed.pop(recording, []).clear()
    if recording in _holder:
        _holder.remove(recording)


class _AtThreadEnd:
    """End the session that a thread leaves open when it ends: the process would crash."""

    def __init__(self, armed: list[object]) -> None:
        self._armed = armed

    def __del__(self) -> None:
        for recording in self._armed[:]:
            if _can_end(recording):
                _end(recording)
            if recording in _abandoned:
                _let_go(recording)


_abandoned: dict[object, threading.Thread] = {}  # recordings that ended with a session open, and its thread
_hushed: set[object] = set()  # of these, whose session was overtaken by another one
_armed: dict[object, list[object]] = {}
_local = threading.local()


def close() -> None:
    """End the session of this thread, if torch has one: the process would crash at its exit."""
    import torch

    if torch.autograd._profiler_enabled():
        torch.autograd._disable_profiler()
        stopped = getattr(torch.autograd.profiler, "_run_on_profiler_stop", None)
        if stopped is not None:
            stopped()


def hush() -> None:
    """Let an overtaken session of this thread record nothing more. It stays open until the job opens one here itself."""
    import torch
    from torch.profiler import ProfilerActivity

    torch.autograd._toggle_collection_dynamic(False, {ProfilerActivity.CPU})


def _end_hushed() -> None:
    """End a session that another one has overtaken: torch crashes when it ends one that it has not just prepared."""
    from torch.autograd import _disable_profiler, _prepare_profiler, profiler

    plain = profiler.profile(use_kineto=True)
    _prepare_profiler(plain.config(), plain.kineto_activities)
    _disable_profiler()


def is_stopped(profiler: Any) -> bool:
    """Tell whether torch records no more in this cycle, since its buffers for the device are full."""
    return getattr(profiler.current_action, "name", "") == "DEVICE_STOPPED"


def watch(begins: Callable[[], None]) -> None:
    """Call `begins` just before the job opens a session of its own."""
    _watching.append(begins)
    if _plain:
        return
    from torch.autograd.profiler import profile

    prepare, leave = getattr(profile, "_prepare_trace", None), profile.__exit__
    if prepare is None:  # another torch: then a session that runs is seen, one that begins is not
        return

    def prepared(session: Any) -> Any:
        if not _ours.on:
            _give_way()
            _others.add(session)
        return prepare(session)

    def left(session: Any, *error: Any) -> Any:
        _others.discard(session)
        return leave(session, *error)

    _plain.extend([(profile, "_prepare_trace", prepare), (profile, "__exit__", leave)])
    profile._prepare_trace, profile.__exit__ = prepared, left
    _watch_others()


def _give_way() -> None:
    for begins in tuple(_watching):
        begins()
    _end_left(hushed=True)
    _hushed.update(_abandoned)


def _watch_others() -> None:
    """Watch what opens a session without preparing it: marks for other tools, and the profiler before Kineto."""
    from torch.autograd import profiler, profiler_legacy

    for module, name in ((profiler, "_enable_profiler"), (profiler_legacy, "_enable_profiler_legacy")):
        enable = getattr(module, name, None)
        if enable is not None:
            _plain.append((module, name, enable))
            setattr(module, name, _watched(enable))


def _watched(enable: Callable[..., Any]) -> Callable[..., Any]:
    def enabled(*args: Any, **kwargs: Any) -> Any:
        if not _ours.on:
            _give_way()
        return enable(*args, **kwargs)

    return enabled


def unwatch(begins: Callable[[], None]) -> None:
    """Undo `watch`; with the last one torch is as it was."""
    if begins in _watching:
        _watching.remove(begins)
    _restore()


def _restore() -> None:
    """Leave torch as it was where nobody watches and nothing is left open."""
    if not _watching and not _abandoned:
        while _plain:
            kind, name, value = _plain.pop()
            setattr(kind, name, value)
        _others.clear()
