"""Being told to end: as an interruption, so that helpers and half-written files go first.

`timeout` and cancelled jobs send SIGTERM, a closed terminal SIGHUP; by themselves both would leave what
was begun.
"""

from __future__ import annotations

import signal
from types import FrameType

_told: list[int] = []


def prepare() -> None:
    """End on these signals as on an interruption, unless somebody has said what they mean."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        try:
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
        except ValueError:  # not in the main thread: whoever runs us there ends us
            return


def status(interrupted: int) -> int:
    """Return the exit status of an interruption: that of the signal that caused it."""
    return 128 + _told[-1] if _told else interrupted


def _end(number: int, _: FrameType | None) -> None:
    _told.append(number)
    raise KeyboardInterrupt
