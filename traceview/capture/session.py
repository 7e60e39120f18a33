"""Torch's profiler for one recording, and what else in the process profiles.

torch keeps a session per thread and lets anybody end it. To end one that is not there crashes the process: from
another thread, or after a profiler of the job's own has ended it. So the beginnings and ends of other sessions
are watched while something is recorded.
"""

from __future__ import annotations

import atexit
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakSet

from traceview.capture.guard import attempt
from traceview.capture.schedule import ACTIVE, LAST, WAIT, WARMUP

_SWITCHES = {
    "shapes": "record_shapes", "stacks": "with_stack", "memory": "profile_memory", "flops": "with_flops",
}  # fmt: skip


def profiler(options: Mapping[str, Any], action: Callable[[int], Any], ready: Callable[[Any], None]) -> Any:
    """Return a profiler of torch, not yet started; `action` says what it does in a step, as `actions` names it."""
    from torch.profiler import profile, supported_activities

    # torch warns of it at the second window of each recording; where warnings are errors that is a failure
    warnings.filterwarnings("ignore", "Warning: Profiler clears events", UserWarning)
    switches = {long: bool(options.get(short)) for short, long in _SWITCHES.items()}
    return profile(activities=supported_activities(), schedule=action, on_trace_ready=ready, **switches)


def actions() -> dict[str, Any]:
    """Return how torch calls what a schedule says."""
    from torch.profiler import ProfilerAction

    return {
        WAIT: ProfilerAction.NONE, WARMUP: ProfilerAction.WARMUP,
        ACTIVE: ProfilerAction.RECORD, LAST: ProfilerAction.RECORD_AND_SAVE,
    }  # fmt: skip


_abandoned: set[int] = set()  # threads whose session nobody can end any more but they themselves


def abandon(thread: int | None) -> None:
    """Leave the session of another thread open; the main thread's is closed when the program ends."""
    if thread == threading.main_thread().ident and not _abandoned:
        atexit.register(attempt, "closing the profiler", close)
        _abandoned.add(thread or 0)


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

    return bool(_holder) or bool(_others) or bool(torch.autograd._profiler_enabled())


def claim(recording: object) -> bool:
    """Open a session for a recording, unless another one is open; tell whether that is so."""
    if is_taken():
        return False
    _holder.append(recording)  # two threads may get here at once: the first one has it
    if _holder[0] is recording:
        return True
    _holder.remove(recording)
    return False


def release(recording: object) -> None:
    """Say that a recording's session is closed."""
    if recording in _holder:
        _holder.remove(recording)


def close() -> None:
    """End the session of this thread, if torch has one: the process would crash at its exit."""
    import torch

    if torch.autograd._profiler_enabled():
        torch.autograd._disable_profiler()


def watch(begins: Callable[[], None]) -> None:
    """Call `begins` just before the job opens a session of its own."""
    _watching.append(begins)
    if len(_watching) > 1:
        return
    from torch.autograd.profiler import profile

    prepare, leave = getattr(profile, "_prepare_trace", None), profile.__exit__
    if prepare is None:  # another torch: then a session that runs is seen, one that begins is not
        return

    def prepared(session: Any) -> Any:
        if not _ours.on:
            for give_way in _watching:
                give_way()
            _others.add(session)
        return prepare(session)

    def left(session: Any, *error: Any) -> Any:
        _others.discard(session)
        return leave(session, *error)

    _plain.extend([(profile, "_prepare_trace", prepare), (profile, "__exit__", leave)])
    profile._prepare_trace, profile.__exit__ = prepared, left


def unwatch(begins: Callable[[], None]) -> None:
    """Undo `watch`; with the last one torch is as it was."""
    if begins in _watching:
        _watching.remove(begins)
    if not _watching:
        while _plain:
            kind, name, value = _plain.pop()
            setattr(kind, name, value)
        _others.clear()
