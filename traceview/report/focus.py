"""Windows of the timeline worth a look, and which of them stay exact within the budget.

A representative step comes first, then what the findings point to, then the longest idle gaps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from traceview.analyses import Analysis
from traceview.events import Kind, Trace
from traceview.report.lod import Bars, Windows, joined, touched
from traceview.report.view import FindingsView, Window
from traceview.units import duration

GAPS = 5  # of the longest, over all devices
FINDINGS = 8
_MARGIN = 4  # a gap is shown with a quarter of its length on each side
_HALVINGS = 8


def wishes(analysis: Analysis, findings: FindingsView | None) -> tuple[Window, ...]:
    """Return the windows worth a look, the most useful first; none is exact yet. Times in ns of the trace."""
    first = representative(analysis.trace)
    found = [] if first is None else [first]
    cards = [c for c in (findings.findings if findings else ()) if c.window and c.window[0] < c.window[1]]
    found += [Window(f"Finding: {c.title}", *c.window, exact=False) for c in cards[:FINDINGS] if c.window]
    known = {(w.start, w.end) for w in found}  # findings show their gap as it is shown here
    return (*found, *(w for w in _gaps(analysis) if (w.start, w.end) not in known))


def representative(trace: Trace) -> Window | None:
    """Return the step of median length, without steps the middle eighth of the device's time."""
    steps = trace.steps
    if len(steps):
        middle = int(np.argsort(steps.dur, kind="stable")[len(steps) // 2])
        begin = int(steps.start[middle])
        end = begin + int(steps.dur[middle])
        return Window(f"Step {int(steps.number[middle])}, of median length", begin, end, exact=False)
    rows = trace.rows_of(Kind.KERNEL, Kind.COPY, Kind.FILL)
    rows = rows[trace.timed[rows]]
    if not len(rows):
        return None
    first = int(trace.slices.start[rows[0]])
    last = int((trace.slices.start[rows] + trace.slices.dur[rows]).max())
    length = max((last - first) // 8, 1)
    begin = first + (last - first - length) // 2
    return Window("Middle eighth of the device's time", begin, begin + length, exact=False)


def _gaps(analysis: Analysis) -> list[Window]:
    gaps = analysis.gaps
    longest = np.argsort(-gaps.dur, kind="stable")[:GAPS].tolist()
    several = len(set(gaps.device.tolist())) > 1
    found = []
    for i in longest:
        start, dur = int(gaps.start[i]), int(gaps.dur[i])
        step = int(gaps.step[i])
        where = f" in step {int(analysis.step_windows.number[step])}" if step >= 0 else ""
        where += f" of device {gaps.device[i]}" if several else ""
        label = f"Idle gap{where}, {duration(dur)}: {gaps.cause[i]}"
        found.append(Window(label, start - dur // _MARGIN, start + dur + dur // _MARGIN, exact=False))
    return found


def settle(tiers: tuple[Bars, ...], wished: tuple[Window, ...], budget: int) -> tuple[Window, ...]:
    """Return the windows, exact as many as have no more than half the budget's slices, first come first served.

    The first one is shortened for it, down to 1/256. Where everything fits all are exact.
    """
    if sum(map(len, tiers)) <= budget:
        return tuple(replace(w, exact=True) for w in wished)
    settled: list[Window] = []
    for number, window in enumerate(wished):
        kept = exact_of(settled)
        tries = _halved(window) if not number else [window]
        fits = (w for w in tries if sum(touched(t, (*kept, (w.start, w.end))) for t in tiers) <= budget // 2)
        found = next(fits, None)
        settled.append(window if found is None else replace(found, exact=True))
    return tuple(settled)


def exact_of(windows: tuple[Window, ...] | list[Window]) -> Windows:
    """Return the stretches that stay exact."""
    return joined(tuple((w.start, w.end) for w in windows if w.exact))


def _halved(window: Window) -> list[Window]:
    found = [window]
    for _ in range(_HALVINGS):
        last = found[-1]
        label = f"Beginning of {window.label[0].lower()}{window.label[1:]}"
        found.append(replace(last, end=last.start + max((last.end - last.start) // 2, 1), label=label))
    return found
