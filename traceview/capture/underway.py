"""The recordings under way in this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol

from traceview.capture.threads import Threads


class Steppable(Protocol):
    """Hold what a recording under way can be asked for."""

    threads: Threads

    def step(self) -> None:
        """Say that an iteration is done."""

    def forked(self) -> None:
        """Go on in a process that was forked from the one that records."""


_recordings: list[Steppable] = []  # innermost last


def enter(recording: Steppable) -> None:
    """Take a recording in."""
    _recordings.append(recording)


def leave(recording: Steppable) -> None:
    """Take a recording out."""
    if is_under_way(recording):
        _recordings.remove(recording)


def is_under_way(recording: Steppable) -> bool:
    """Tell whether a recording has been taken in."""
    return any(r is recording for r in _recordings)


def step() -> None:
    """Step the recording that is under way, where the loop does not hold it; without one nothing happens.

    It is the innermost one that this thread entered, else the innermost of all.
    """
    me = threading.current_thread()
    held = tuple(_recordings)
    found = [r for r in held if r.threads.entered is me] or held
    if found:
        found[-1].step()


def _after_fork() -> None:
    for recording in _recordings:
        recording.forked()


_register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(after_in_child=_after_fork)
