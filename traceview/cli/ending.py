"""Being told to end: as an interruption, so that helpers and half-written files go first.

`timeout` and cancelled jobs send SIGTERM, a closed terminal SIGHUP; by themselves both would leave what was
begun. While a module is being imported the interruption waits for a moment: Python's import loses an exception that
comes at the wrong time, or makes another one of it.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from types import FrameType

_AGAIN_S = 0.02  # until it is tried again
_LONGEST_S = 3.0  # an import is waited for
_IMPORT = "<frozen importlib"
_told: list[int] = []
_us: list[int] = []  # this process, not one that a program forks
_waiting: list[float] = []  # since when


def prepare() -> None:
    """End on these signals as on an interruption, unless somebody has said what they mean."""
    _us[:] = [os.getpid()]
    usual = (signal.SIG_DFL, signal.default_int_handler)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        try:
            if number is not None and signal.getsignal(number) in usual:
                signal.signal(number, _end)
        except ValueError:  # not in the main thread: whoever runs us there ends us
            return


def hand_over() -> None:
    """Interrupt at once from now on: a program of somebody else runs, with imports of any length.

    Ctrl-C is Python's own again: asyncio looks whether it is.
    """
    _waiting.append(float("-inf"))
    with suppress(ValueError):  # not in the main thread
        if signal.getsignal(signal.SIGINT) == _end:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def was_told() -> bool:
    """Tell whether the command was told to end."""
    return bool(_told)


def status(interrupted: int) -> int:
    """Return the exit status of an interruption: that of the signal that caused it."""
    return 128 + _told[-1] if _told else interrupted


def _end(number: int, frame: FrameType | None) -> None:
    if _us != [os.getpid()] and number != signal.SIGINT:  # a child of the program that we run: as without us
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    again = bool(_told)
    _told.append(number)
    if again or not _waits(frame):
        raise KeyboardInterrupt


def _waits(frame: FrameType | None) -> bool:
    """Tell whether the interruption can wait, and see to it that it comes."""
    if not _importing(frame) or not hasattr(signal, "setitimer"):
        return False
    if not _waiting:
        if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            return False
        _waiting.append(time.monotonic())
        signal.signal(signal.SIGALRM, _try_again)
    if time.monotonic() - _waiting[-1] > _LONGEST_S:
        return False
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    return True


def _try_again(_: int, frame: FrameType | None) -> None:
    if not _waits(frame):
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False
