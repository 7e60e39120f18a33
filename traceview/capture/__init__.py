"""Make traces that are worth analysing: record steps of a loop, check what came out, keep it tidy.

`record` and `annotate` are for programs; `traceview capture`, `bench`, `runs` and `prune` are their commands.
Nothing here imports torch before it is used (`pip install 'traceview[capture]'`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from traceview.capture.annotations import annotate
from traceview.capture.conditions import Noted
from traceview.capture.course import Course, Hooks
from traceview.capture.keeping import Window
from traceview.capture.options import Options
from traceview.capture.recording import Recording, recording_into
from traceview.capture.underway import step

__all__ = ["Options", "Recording", "annotate", "record", "step"]


def record(label: str = "capture", folder: str | Path | None = None, **options: Unpack[Options]) -> Recording:
    """Record some steps of a loop into trace files of a folder.

    Without `folder` it is $PROFILER_OUTPUT_DIR, else `traces`. Use it as a context manager and call step()
    on it at the end of each iteration, or as a decorator of a function that calls `traceview.capture.step()`.

    `wait` (2), `warmup` (5), `active` (10), `repeat` (1; 0: to the end) and `skip_first` (0) say which steps are
    recorded; `total` how many the loop will make, so that this can be told before. `shapes`, `stacks`, `memory`
    and `flops` (all off) switch on what makes a trace say more and the job slower. `conditions` are noted beside
    the trace; `quiet` leaves out what is no warning. Raises UsageError for what is no option or no schedule; once
    the loop runs, nothing of this fails it.
    """
    return recording_into(label, folder, hooks(), options)


def hooks() -> Hooks:
    """Return what stands around a recording: the look before, the conditions beside each trace, the look into it."""
    noted = Noted()
    return Hooks(
        before=(_before,),
        warming=(noted.warming,),
        opening=(noted.opening,),
        closing=(noted.closing,),
        written=(noted.written, _after),
        ended=(noted.ended,),
    )


# verification is imported when it is needed: it brings the reader, and a job should start at once


def _before(recording: Course) -> None:
    from traceview.capture.verification import before

    before(recording)


def _after(window: Window) -> None:
    from traceview.capture.verification import after

    after(window)
