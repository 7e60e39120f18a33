"""What the analyses have to say about the data: notices with codes, beside those of the reader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traceview.analyses.answers import Results
from traceview.analyses.workspace import Workspace
from traceview.events import Kind, Notice
from traceview.units import duration, plural, safe, short_name


def notices(workspace: Workspace, results: Results) -> tuple[Notice, ...]:
    """Return the notices of the analyses, what matters most first."""
    return tuple(_notices(workspace, results))


def _notices(workspace: Workspace, results: Results) -> Iterator[Notice]:
    launches = results.launches
    if not len(workspace.usable):
        started = (
            f", but {plural(launches.calls, 'launch', 'launches')} on the host" if launches.calls else ""
        )
        where = "in this trace" if workspace.whole is None else "launched in the chosen steps"
        text = f"no kernels, copies or fills {where}{started}: device time is unknown, not zero"
        yield Notice("no_gpu_events", "warning", 1, text)
    if launches.without_gpu:
        level = "info" if launches.coverage.reliable else "warning"
        head = f"{launches.without_gpu:,} of {plural(launches.calls, 'launch', 'launches')} without a device record"
        text = f"{head}: {launches.without_reason}"
        if level == "warning":
            text += "; utilisation cannot be told"
        yield Notice("launches_without_kernels", level, launches.without_gpu, text)
    if launches.negative:
        head = plural(launches.negative, "kernel")
        text = f"{head} started before the launch began: the clocks of host and device differ; left out of latencies"
        yield Notice("clock_skew", "warning", launches.negative, text)
    yield from _broken_records(workspace)
    yield from _overlaps(workspace)
    outliers = int(results.steps.outlier.sum())
    if outliers:
        text = f"{plural(outliers, 'step')} of {len(results.steps)} with over 1.5 times the kernel time of the others"
        yield Notice("uneven_steps", "info", outliers, text)


def _broken_records(workspace: Workspace) -> Iterator[Notice]:
    broken, work = workspace.overlong, workspace.work
    if len(broken):
        worst = int(broken[np.argmax(work.dur[broken])])
        name = safe(short_name(workspace.trace.names[int(work.name[worst])]))
        text = (
            f"{plural(len(broken), 'kernel record')} outlasting three later kernels of the stream or more "
            f"(the longest: {name}, {duration(int(work.dur[worst]))}): its duration cannot be true"
        )
        yield Notice("suspicious_duration", "warning", len(broken), text)


def _overlaps(workspace: Workspace) -> Iterator[Notice]:
    kernel = workspace.work.kind == Kind.KERNEL
    free = workspace.stream_free[kernel]
    overlaps = int((workspace.work.start[kernel] < free).sum())
    if overlaps:
        text = f"{plural(overlaps, 'kernel')} began before the work before it on the stream had ended"
        yield Notice(
            "same_lane_overlap", "info", overlaps, f"{text}: real on recent GPUs, counted once in busy time"
        )
