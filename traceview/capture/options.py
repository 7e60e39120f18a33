"""What can be chosen of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from traceview.capture.schedule import Schedule, whole
from traceview.errors import UsageError


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
    conditions: Mapping[str, Any]  # what nobody else can tell: batch, shapes, precision
    quiet: bool  # say failures and warnings only


def schedule_of(options: Options) -> Schedule:
    """Return the schedule that options ask for; raise UsageError for what is no option."""
    unknown = [n for n in options if n not in Options.__annotations__]
    if unknown:
        raise UsageError(
            f"record() has no option {unknown[0]}", f"use some of {', '.join(Options.__annotations__)}"
        )
    if not isinstance(options.get("conditions", {}), Mapping):
        raise UsageError("conditions are no mapping", 'write them as {"batch": 8}')
    if (total := options.get("total")) is not None:
        whole("total", total)
    names = ("wait", "warmup", "active", "repeat", "skip_first")
    return Schedule(**{n: options[n] for n in names if n in options})  # type: ignore[literal-required]
