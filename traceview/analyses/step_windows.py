"""How long steps took on the device, and what the device did meanwhile.

A step's window runs from its first record on the device's main stream to the next step's first
record there: windows tile, whatever the host does meanwhile. Work belongs to the step whose launch it
came from; what of it lies outside the window is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.analyses.gpu_time import covered
from traceview.analyses.grouping import sums, texts
from traceview.analyses.steps import outliers, step_of
from traceview.analyses.windows import Spans, Windows, marked_steps
from traceview.analyses.workspace import Workspace
from traceview.events import Flag, Kind, Steps, Trace
from traceview.tables import Table, column

DEVICE_PERIOD, HOST_WALL = "device period", "host wall"
FEWEST_PERIODS = 2
FEWEST_FOR_OUTLIERS = 3  # of two steps nobody can tell which one is unusual
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
        "closed on the host, and its launches have device records (99 % of them); without launches no empty end",
        "bool",
    )
    open_end: np.ndarray = column("the last step: no next one closes its window", "bool")
    outlier: np.ndarray = column(
        "step time over 1.5 times the median of the other complete steps' step time, of three or more", "bool"
    )
    sample: np.ndarray = column(
        "its figures are those of one whole step: complete, no outlier, no open end, and no step without a "
        "window in its own",
        "bool",
    )


@dataclass(frozen=True, eq=False)
class StepTime:
    """Tell how long a step takes: the device period where there are two or more, else wall time on the host.

    Median, spread (75th less 25th percentile) and `samples` (ns) are of steps that are complete and no
    outliers; the 95th percentile includes outliers. Of device periods neither the open end has one nor
    a step whose window holds the time of another; their walls on the host are as good as any.
    `wall_median_ns` and `period_median_ns` are of the samples; `differs` says that they lie over 10 %
    apart. `outside_share` is the share of the steps' device work that ran outside their windows, None
    without windows.
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
    count, found = len(marked), workspace.once(Windows.found)
    spans = Spans(*(column[found.main] for column in found.spans))
    start, end, closer, device = (
        _by_step(spans.step, c, count) for c in (spans.start, spans.end, spans.closer, spans.device)
    )
    launches, complete = _launches(workspace, marked)
    kernels = workspace.work.kind == Kind.KERNEL
    own = found.of_work >= 0
    step, dur = found.of_work[own], workspace.work.dur[own]
    of_kernel = kernels[own]
    # no period where a device runs steps out of order
    period = np.where((closer >= 0) & (end > start), end - start, -1)
    open_end = (start >= 0) & (closer < 0)
    whole = complete & ~((closer >= 0) & (closer != _followers(workspace, marked)))
    outlier = _outliers(marked, period, whole)
    return StepWindows(
        number=marked.number,
        name=texts(trace.name_of(row) for row in marked.row.tolist()),
        device=texts(workspace.devices[d] if d >= 0 else "" for d in device.tolist()),
        start=marked.start,
        wall=marked.dur,
        period=period,
        window_start=start,
        window_end=end,
        **_partition(workspace, spans, count),
        kernels=np.bincount(step[of_kernel], minlength=count).astype(np.int64)[:count],
        kernel_sum=sums(step[of_kernel], dur[of_kernel], count),
        launches=launches,
        **_own_work(workspace, found.of_work, (start, end, device)),
        complete=complete,
        open_end=open_end,
        outlier=outlier,
        sample=whole & ~outlier & ~open_end,
    )


def step_time(table: StepWindows) -> StepTime:
    """Return the step time of a table of steps."""
    closed = (table.sample | table.outlier) & (table.period >= 0)
    by_period = int(closed.sum()) >= FEWEST_PERIODS
    time, usable = (table.period, closed) if by_period else (table.wall, table.complete)
    counted = usable & ~table.outlier
    counted = counted if counted.any() else usable  # an outlier that was chosen alone
    samples = time[counted]
    both = counted & closed
    wall, period, paired = (_median(v) for v in (table.wall[counted], table.period[both], table.wall[both]))
    differs = int(both.sum()) >= FEWEST_PERIODS and bool(
        abs((paired or 0) - (period or 0)) > DIFFERENCE * (period or 0)
    )
    placed = table.window_start >= 0
    work = int(table.work[placed].sum())
    return StepTime(
        basis=(DEVICE_PERIOD if by_period else HOST_WALL) if len(samples) else None,
        median_ns=_median(samples),
        p95_ns=_quantile(time[usable], 0.95),
        spread_ns=_quantile(samples, 0.75, 0.25),
        count=len(samples),
        wall_median_ns=wall,
        period_median_ns=period,
        differs=differs,
        outside_share=int(table.outside[placed].sum()) / work if work else None,
        samples=samples,
    )


def _by_step(step: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return one value per step, -1 for those without."""
    found = np.full(count, -1, np.int64)
    found[step] = values
    return found


def _outliers(marked: Steps, period: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return the outliers among steps of which one is told (bool): by period where two have one, else by wall."""
    closed = whole & (period >= 0)
    by_period = int(closed.sum()) >= FEWEST_PERIODS
    time, eligible = (period, closed) if by_period else (marked.dur, whole)
    if int(eligible.sum()) < FEWEST_FOR_OUTLIERS:
        return np.zeros(len(marked), bool)
    return outliers(time, eligible)


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
    """Return the launches of each step, and whether it is complete.

    Without any launch all closed ones are, but for an end that holds nothing.
    """
    trace, s, count = workspace.trace, workspace.trace.slices, len(marked)
    closed = (s.flags[marked.row] & Flag.UNFINISHED) == 0
    calls = np.flatnonzero((s.kind == Kind.LAUNCH) & ((s.flags & Flag.NESTED_CALL) == 0))
    if not len(calls):
        return np.zeros(count, np.int64), closed & ~_empty_end(trace, marked)
    has = np.zeros(len(s), bool)
    link = s.link[workspace.usable]
    has[link[link >= 0]] = True
    step = step_of(trace, marked, calls)
    inside = step >= 0
    launched = np.bincount(step[inside], minlength=count)[:count].astype(np.int64)
    present = np.bincount(step[inside & has[calls]], minlength=count)[:count]
    return launched, closed & (launched > 0) & (present * 100 >= launched * 99)


def _empty_end(trace: Trace, marked: Steps) -> np.ndarray:
    """Return which steps (bool) are the last of their rank and hold nothing, though an earlier one does.

    PyTorch begins another step with each step(): where the loop ends with that, it lasts until the profiler stops.
    """
    s, found = trace.slices, np.zeros(len(marked), bool)
    scope = np.array([t.scope for t in trace.tracks], np.int64)
    host = np.isin(s.kind, (Kind.OP, Kind.ANNOTATION, Kind.RUNTIME, Kind.OTHER))
    host[marked.row] = False
    for code in np.unique(scope[s.track[marked.row]]).tolist():
        own = np.flatnonzero(scope[s.track[marked.row]] == code)
        rows = np.flatnonzero(host & (scope[s.track] == code))
        begins = s.start[rows]
        last = int(own[-1])
        if not (begins >= marked.start[last]).any() and (begins >= marked.start[own[0]]).any():
            found[last] = True
    return found


def _partition(workspace: Workspace, spans: Spans, count: int) -> dict[str, np.ndarray]:
    """Return the parts of each step's window, which add up to it; all 0 without one."""
    names = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
    reached = [covered(workspace, layer, spans) for layer in workspace.layers[:4]]
    parts = np.diff([*reached, spans.end - spans.start], axis=0, prepend=0)
    found = np.zeros((len(names), count), np.int64)
    found[:, spans.step] = parts
    return dict(zip(names, found, strict=True))


def _own_work(
    workspace: Workspace, of_work: np.ndarray, placed: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return how much work each step launched on its window's device, and how much of it lies outside."""
    work, (start, end, device) = workspace.work, placed
    own = np.flatnonzero(of_work >= 0)
    own = own[device[of_work[own]] == work.device[own]]
    step = of_work[own]
    inside = np.minimum(work.end[own], end[step]) - np.maximum(work.start[own], start[step])
    outside = work.dur[own] - np.maximum(inside, 0)
    return {"work": sums(step, work.dur[own], len(start)), "outside": sums(step, outside, len(start))}


def _median(values: np.ndarray) -> int | None:
    return round(float(np.median(values))) if len(values) else None


def _quantile(values: np.ndarray, high: float, low: float | None = None) -> int | None:
    if not len(values):
        return None
    top = float(np.quantile(values, high))
    return round(top if low is None else top - float(np.quantile(values, low)))
