"""Where a recording is."""

from __future__ import annotations

from dataclasses import dataclass, field

from traceview.capture.schedule import WAIT


@dataclass
class Progress:
    """Hold where a recording is."""

    entered: float | None = None
    steps: int = 0
    strays: int = 0  # calls of step() from other threads
    latest: float = 0.0  # when step() was last called
    window: int = 0  # windows handed over so far, kept or not
    begun: list[int] = field(default_factory=list)  # first steps of windows
    phase: str = WAIT  # of the latest step that torch asked for
    offset: int = 0  # steps before this profiler was made
    is_stopped: bool = False  # torch has ended the window, and records nothing up to the end of the cycle
    planned: str = WAIT  # phase of the latest step by the schedule
    gave_way: bool = False  # to a profiler of the job's own
    discard: bool = False  # what torch hands over
    warm_since: float | None = None
    failed: bool = False
    closing: bool = False  # torch hands over what there is when it is stopped
    broken: bool = False  # an exception ended the loop: the window at work is dropped
