"""Which thread is recorded: a session of torch belongs to the thread that opened it, and only that one can end it."""

from __future__ import annotations

import threading


class Threads:
    """Hold the thread that entered a recording, the one whose steps count, and the one whose session is open."""

    def __init__(self) -> None:
        self.entered = threading.current_thread()
        self.open: threading.Thread | None = None
        # its session is still open and nobody wants what it records
        self.hushed: threading.Thread | None = None
        self._stepping: threading.Thread | None = None

    def may_step(self) -> bool:
        """Tell whether a step of this thread counts.

        While a session is open those of its thread do, else those of the thread that entered the recording, until
        that steps of the one that steps first, and of another one when that has ended.
        """
        me = threading.current_thread()
        if self.open is not None:
            return self.open is me
        if me is self.entered or self._stepping is None or not self._stepping.is_alive():
            self._stepping = me
        return self._stepping is me

    @property
    def is_others(self) -> bool:
        """Tell whether another thread has the open session."""
        return self.open is not None and not self.is_mine

    @property
    def is_mine(self) -> bool:
        """Tell whether this thread has the open session."""
        return self.open is threading.current_thread()

    @property
    def is_lost(self) -> bool:
        """Tell whether the thread that had the open session has ended."""
        return self.open is not None and not self.open.is_alive()
