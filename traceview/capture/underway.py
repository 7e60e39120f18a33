"""The recordings under way in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol


class Steppable(Protocol):
    """Hold what a recording under way can be asked for."""

    def step(self) -> None:
        """Say that an iteration is done."""

    def forked(self) -> None:
        """Go on in a process that was forked from the one that records."""


_recordings: list[Steppable] = []  # innermost last
_entered_here: ContextVar[tuple[Steppable, ...]] = ContextVar("recordings", default=())


def enter(recording: Steppable) -> None:
    """Take a recording in."""
    _recordings.append(recording)
    _entered_here.set((*_entered_here.get(), recording))


def leave(recording: Steppable) -> None:
    """Take a recording out."""
    if is_under_way(recording):
        _recordings.remove(recording)
        _entered_here.set(tuple(r for r in _entered_here.get() if r is not recording))


def is_under_way(recording: Steppable) -> bool:
    """Tell whether a recording has been taken in."""
    return any(r is recording for r in _recordings)


def step() -> None:
    """Step the recording that is under way, where the loop does not hold it; without one nothing happens.

    It is the innermost one that this thread or this task entered, else the innermost of all.
    """
    found = [r for r in _entered_here.get() if is_under_way(r)] or tuple(_recordings)
    if found:
        found[-1].step()


def _after_fork() -> None:
    for recording in _recordings:
        recording.forked()


_register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(after_in_child=_after_fork)
