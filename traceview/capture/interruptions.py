"""Lose no signal, and leave nothing half done for one.

Python runs the handler of a signal between two instructions of the main thread, whichever these are. What it raises
there may be lost: numpy and getattr clear the error of what they ask in passing, and `attempt` takes it for a failure.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, Self


class Held:
    """Keep Python's handlers of signals waiting to the end of a block while `waits` says so.

    The second signal of a kind waits for nothing. What a handler raises leaves the block in any case, also where
    something within has swallowed it. In a thread other than the main one, where no handler runs, nothing is done.
    """

    def __init__(self, waits: Callable[[], bool]) -> None:
        self._waits = waits
        self._plain: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: dict[int, bool] = {}  # signals that were kept waiting, and whether they still are
        self._raised: BaseException | None = None
        self._open = False

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        self._open, done = True, False
        try:
            with suppress(ValueError):  # the main thread of an interpreter within another
                for number, handler in _handlers():
                    self._plain[number] = handler
                    signal.signal(number, self._come)
            done = True
        finally:
            if not done:  # interrupted by a signal that was not yet kept
                self._restore(list(self._plain))
                self._open = False
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self._restore(list(self._plain))
        finally:
            self._open = False
            try:
                self._catch_up(sys._getframe())
            finally:
                raised, self._raised = self._raised, None
                if raised is not None and raised is not error:
                    raise raised

    def _restore(self, numbers: list[int]) -> None:
        """Set the handlers that were there; one that is set already may raise meanwhile."""
        if not numbers:
            return
        first = numbers[0]
        try:
            if signal.getsignal(first) == self._come:
                signal.signal(first, self._plain[first])
        finally:
            self._restore(numbers if signal.getsignal(first) == self._come else numbers[1:])

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self._open and number not in self._came and self._waits():
            self._came[number] = True
            return
        if self._came.get(number):
            self._hand_on(number, frame)
        self._hand_on(number, frame)

    def _catch_up(self, frame: FrameType | None) -> None:
        """Hand on what still waits, whatever the handlers before raise."""
        number = next((n for n, waiting in self._came.items() if waiting), None)
        if number is None:
            return
        try:
            self._hand_on(number, frame)
        finally:
            self._catch_up(frame)

    def _hand_on(self, number: int, frame: FrameType | None) -> None:
        self._came[number], done = False, False
        try:
            self._plain[number](number, frame)
            done = True
        finally:
            if not done and self._open:
                self._raised = sys.exception()


def came_of_a_signal(error: BaseException) -> bool:
    """Tell whether a handler of a signal raised an exception: that is the job's own, and no failure of what it hit."""
    codes = [Held._hand_on.__code__, *(c for _, h in _handlers() if (c := _code(h)) is not None)]
    trace = error.__traceback__
    while trace is not None:
        if any(trace.tb_frame.f_code is code for code in codes):
            return True
        trace = trace.tb_next
    return False


def _handlers() -> Iterator[tuple[int, Callable[[int, FrameType | None], Any]]]:
    for number in sorted(signal.valid_signals()):
        handler = signal.getsignal(number)
        if callable(handler):  # neither the default, nor ignored, nor set by something else than Python
            yield number, handler


def _code(handler: Any) -> CodeType | None:
    """Return what a handler runs: of a function, a method, a partial, or an object that can be called."""
    handler = getattr(handler, "func", handler)
    if not hasattr(handler, "__code__") and not hasattr(handler, "__func__"):
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - its code is wanted
    code = getattr(getattr(handler, "__func__", handler), "__code__", None)
    return code if isinstance(code, CodeType) else None
