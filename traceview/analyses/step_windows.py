"""How long steps took on the device, and what the device did meanwhile.

A step's window runs from its first record on the device's main stream to the next step's first
record there: windows tile, whatever the host does meanwhile. Work belongs to the step whose launch it
came from; what of it lies outside the window is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.grouping import sums, texts
from traceview.analyses.steps import outliers, step_of
from traceview.analyses.windows import Windows, marked_steps, windows
from traceview.analyses.workspace import Work, Workspace
from traceview.events import Flag, Kind, Steps
from traceview.intervals import amount_before, union
from traceview.tables import Table, column

DEVICE_PERIOD, HOST_WALL = "device period", "host wall"
FEWEST_PERIODS = 2
DIFFERENCE = 0.10  # of the medians of host wall and device period, above which the page says so


@dataclass(frozen=True, eq=False)
class StepWindows(Table):
    """Hold one row per step, by start. The five parts of a window add up to it; -1 where there is none."""

    number: np.ndarray = column("number as shown", "id")
    name: np.ndarray = column("name of the slice that marks it", "text")
    device: np.ndarray = column("device of its window, empty where it has none", "text")
    start: np.ndarray = column("start on the host", "ns")
    wall: np.ndarray = column("wall time on the host", "ns")
    period: np.ndarray = column("from its first record on the main stream to the next step's, -1: none", "ns")
    window_start: np.ndarray = column("its first record on the device's main stream, -1: none", "ns")
    window_end: np.ndarray = column(
        "the next step's first record there; of the last step the end of its own work; -1: none", "ns"
    )
    compute: np.ndarray = column("of the window: union of kernels that are no collectives", "ns")
    exposed_collective: np.ndarray = column("of the window: collectives not hidden under compute", "ns")
    exposed_copy: np.ndarray = column("of the window: copies not hidden under kernels", "ns")
    exposed_fill: np.ndarray = column("of the window: fills not hidden under kernels or copies", "ns")
    idle: np.ndarray = column("of the window: no work of the device at all", "ns")
    kernels: np.ndarray = column("timed kernels that it launched", "count")
    kernel_sum: np.ndarray = column("added durations of the kernels that it launched", "ns")
    launches: np.ndarray = column("launches that began in it", "count")
    work: np.ndarray = column("added durations of the work that it launched on its window's device", "ns")
    outside: np.ndarray = column("of that, what lies outside its window", "ns")
    complete: np.ndarray = column(
        "closed on the host, and its launches have device records (99 % of them)", "bool"
    )
    open_end: np.ndarray = column("the last step: no next one closes its window", "bool")
    outlier: np.ndarray = column(
        "step time over 1.5 times the median of the other complete steps' step time", "bool"
    )
    sample: np.ndarray = column(
        "counts in medians: complete, no outlier, and not open where periods count", "bool"
    )


@dataclass(frozen=True, eq=False)
class StepTime:
    """Tell how long a step takes: the device period where there are two or more, else wall time on the host.

    Median, spread (75th less 25th percentile) and `samples` (ns) are of steps that are complete and no
    outliers; the 95th percentile includes outliers. `wall_median_ns` and `period_median_ns` are of the
    samples; `differs` says that they lie over 10 % apart. `outside_share` is the share of the steps'
    device work that ran outside their windows, None without windows.
    """

    basis: str | None
    median_ns: int | None
    p95_ns: int | None
    spread_ns: int | None
    count: int
    wall_median_ns: int | None
    period_median_ns: int | None
    differs: bool
    outside_share: float | None
    samples: np.ndarray


def step_windows(workspace: Workspace) -> StepWindows:
    """Return host time, device window and its partition for each step."""
    trace, marked = workspace.trace, marked_steps(workspace.trace)
    count = len(marked)
    found = windows(workspace, marked)
    launches, complete = _launches(workspace, marked)
    kernels = workspace.work.kind == Kind.KERNEL
    own = found.of_work >= 0
    step, dur = found.of_work[own], workspace.work.dur[own]
    of_kernel = kernels[own]
    period = np.where(found.closer >= 0, found.end - found.start, -1)
    open_end = (found.start >= 0) & (found.closer < 0)
    skipping = (found.closer >= 0) & (found.closer != _followers(workspace, marked))
    eligible, time = _step_times(marked, period, complete & ~skipping)
    outlier = outliers(time, eligible)
    return StepWindows(
        number=marked.number,
        name=texts(trace.name_of(row) for row in marked.row.tolist()),
        device=texts(workspace.devices[d] if d >= 0 else "" for d in found.device.tolist()),
        start=marked.start,
        wall=marked.dur,
        period=period,
        window_start=found.start,
        window_end=found.end,
        **_partition(workspace, found),
        kernels=np.bincount(step[of_kernel], minlength=count).astype(np.int64)[:count],
        kernel_sum=sums(step[of_kernel], dur[of_kernel], count),
        launches=launches,
        **_own_work(workspace, found),
        complete=complete,
        open_end=open_end,
        outlier=outlier,
        sample=eligible & ~outlier,
    )


def step_time(table: StepWindows) -> StepTime:
    """Return the step time of a table of steps."""
    basis = _basis(table.period, table.complete)
    time = table.period if basis == DEVICE_PERIOD else table.wall
    complete = table.complete & (time >= 0)
    samples, all_times = time[table.sample & (time >= 0)], time[complete]
    both = table.sample & (table.period >= 0)
    walls, periods = table.wall[table.sample], table.period[both]
    wall, period = _median(walls), _median(periods)
    paired = _median(table.wall[both])
    differs = len(periods) >= FEWEST_PERIODS and bool(
        abs((paired or 0) - (period or 0)) > DIFFERENCE * (period or 0)
    )
    placed = table.window_start >= 0
    work = int(table.work[placed].sum())
    spread = _quantile(samples, 0.75, 0.25)
    return StepTime(
        basis=(basis or HOST_WALL) if len(samples) else None,
        median_ns=_median(samples),
        p95_ns=_quantile(all_times if len(samples) else samples, 0.95),
        spread_ns=spread,
        count=len(samples),
        wall_median_ns=wall,
        period_median_ns=period,
        differs=differs,
        outside_share=int(table.outside[placed].sum()) / work if work else None,
        samples=samples,
    )


def _basis(period: np.ndarray, complete: np.ndarray) -> str:
    closed = complete & (period >= 0)
    return DEVICE_PERIOD if int(closed.sum()) >= FEWEST_PERIODS else HOST_WALL


def _step_times(marked: Steps, period: np.ndarray, complete: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which steps count before outliers are left out, and the time of each."""
    if _basis(period, complete) == DEVICE_PERIOD:
        return complete & (period >= 0), period
    return complete, marked.dur


def _followers(workspace: Workspace, marked: Steps) -> np.ndarray:
    """Return the next step of the same rank for each step, -1 for the last."""
    scope = np.array([t.scope for t in workspace.trace.tracks], np.int64)[
        workspace.trace.slices.track[marked.row]
    ]
    order = np.argsort(scope, kind="stable")
    follower = np.full(len(marked), -1, np.int64)
    same = scope[order[1:]] == scope[order[:-1]]
    follower[order[:-1][same]] = order[1:][same]
    return follower


def _launches(workspace: Workspace, marked: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Return the launches of each step, and whether it is complete; without any launch all closed ones are."""
    trace, s, count = workspace.trace, workspace.trace.slices, len(marked)
    closed = (s.flags[marked.row] & Flag.UNFINISHED) == 0
    calls = np.flatnonzero((s.kind == Kind.LAUNCH) & ((s.flags & Flag.NESTED_CALL) == 0))
    if not len(calls):
        return np.zeros(count, np.int64), closed
    has = np.zeros(len(s), bool)
    link = s.link[workspace.usable]
    has[link[link >= 0]] = True
    step = step_of(trace, marked, calls)
    inside = step >= 0
    launched = np.bincount(step[inside], minlength=count)[:count].astype(np.int64)
    present = np.bincount(step[inside & has[calls]], minlength=count)[:count]
    return launched, closed & (launched > 0) & (present * 100 >= launched * 99)


def _partition(workspace: Workspace, found: Windows) -> dict[str, np.ndarray]:
    """Return the parts of each window, which add up to it; all 0 without one."""
    names = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
    parts = dict(zip(names, np.zeros((len(names), len(found.start)), np.int64), strict=True))
    for device in np.unique(found.device[found.device >= 0]).tolist():
        own = np.flatnonzero(found.device == device)
        work = workspace.work
        work = work if len(workspace.devices) == 1 else work.where(work.device == device)
        kernel, fill = work.kind == Kind.KERNEL, work.kind == Kind.FILL
        whole = found.end[own] - found.start[own]
        below = np.zeros(len(own), np.int64)
        for name, mask in zip(names, (kernel & ~work.collective, kernel, ~fill, None), strict=False):
            reached = _within(work, mask, found.start[own], found.end[own])
            parts[name][own] = reached - below
            below = reached
        parts["idle"][own] = whole - below
    return parts


def _within(work: Work, mask: np.ndarray | None, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return how much of each window the work of a mask (None: all) covers."""
    chosen = slice(None) if mask is None or mask.all() else mask
    busy = union(work.start[chosen], work.end[chosen])
    within: np.ndarray = amount_before(busy, end) - amount_before(busy, start)
    return within


def _own_work(workspace: Workspace, found: Windows) -> dict[str, np.ndarray]:
    """Return how much work each step launched on its window's device, and how much of it lies outside."""
    work, count = workspace.work, len(found.start)
    own = np.flatnonzero(found.of_work >= 0)
    own = own[found.device[found.of_work[own]] == work.device[own]]
    step = found.of_work[own]
    inside = np.minimum(work.end[own], found.end[step]) - np.maximum(work.start[own], found.start[step])
    outside = work.dur[own] - np.maximum(inside, 0)
    return {"work": sums(step, work.dur[own], count), "outside": sums(step, outside, count)}


def _median(values: np.ndarray) -> int | None:
    return round(float(np.median(values))) if len(values) else None


def _quantile(values: np.ndarray, high: float, low: float | None = None) -> int | None:
    if not len(values):
        return None
    top = float(np.quantile(values, high))
    return round(top if low is None else top - float(np.quantile(values, low)))
