"""The device that is timed: chosen once and made the current one, waited for, and asked for its memory.

torch.cuda, torch.xpu and others speak alike. All of it is of the current device, so `choose` sets it first: events and
`synchronize()` of another device would time nothing. A CPU's work is done when a call returns.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from traceview.errors import UsageError

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def choose(wish: str) -> str:
    """Return the device to use, now the current one: what was wished, of "auto" CUDA where there is one."""
    import torch

    if wish == "auto":
        wish = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        name = str(torch.empty(0, device=wish).device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0][:120]
        raise UsageError(
            f"--device {wish}: {reason}", "use cpu, cuda or cuda:1, as torch knows it"
        ) from error
    use(name)
    return name


def use(name: str) -> None:
    """Make a device the current one of this process; one that computes nothing is refused."""
    kind, _, _ = name.partition(":")
    if kind == "cpu":
        return
    door = _door(name)
    if not hasattr(door, "synchronize"):  # "meta" knows shapes only
        raise UsageError(f"--device {name}: cannot be waited for, so not timed", "use cpu, cuda or cuda:1")
    if hasattr(door, "set_device"):
        door.set_device(name)


def _door(name: str) -> Any:
    """Return torch's own part for a device, torch.cuda for "cuda:1"; None for the CPU."""
    import torch

    kind = name.partition(":")[0]
    return None if kind == "cpu" else getattr(torch, kind, None)


def waiter(name: str) -> Callable[[], None]:
    """Return what waits until the current device has done all its work."""
    door = _door(name)
    return door.synchronize if door is not None else lambda: None


def marker(name: str) -> Callable[[], Any] | None:
    """Return what makes an event that knows its time on the device, None where there is none."""
    event = getattr(_door(name), "Event", None)
    return None if event is None else lambda: event(enable_timing=True)


def forget_peak(name: str) -> bool:
    """Begin the high-water mark of memory anew; False where the system cannot.

    On an accelerator it is the allocator's, on the CPU that of the whole process, which only Linux can begin anew.
    """
    gc.collect()  # what the shape before has left is not this one's
    door = _door(name)
    if door is not None:
        if not hasattr(door, "reset_peak_memory_stats"):
            return False
        door.reset_peak_memory_stats()
        return True
    with suppress(OSError):
        _CLEAR.write_text("5", encoding="ascii")
        return True
    return False


def peak(name: str) -> int | None:
    """Return the most bytes held since the mark was begun anew, None where nobody tells."""
    door = _door(name)
    if door is not None:
        return int(door.max_memory_allocated()) if hasattr(door, "max_memory_allocated") else None
    with suppress(OSError, ValueError, IndexError):
        for line in _STATUS.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None
