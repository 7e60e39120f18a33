"""Answers about chosen steps: of their work by the trace cut down to them, of their time by their device windows.

What a device did in the windows of the chosen steps is what it did in the whole trace then: work of
other steps that runs there hides and fills idle time, and the idle time before the next step's first
record is the chosen step's own.
"""

from __future__ import annotations

import numpy as np

from traceview.analyses.gaps import gap_slices, gaps, gaps_of_steps
from traceview.analyses.gpu_time import gpu_time, time_within, window_time
from traceview.analyses.selection import cut_to
from traceview.analyses.step_windows import step_windows
from traceview.analyses.windows import Windows
from traceview.analyses.workspace import Workspace
from traceview.events import Steps


def chosen_steps(source: Workspace, steps: Steps, places: np.ndarray) -> Workspace:
    """Return the workspace of some steps (places in `steps`), in which what is of their windows is answered.

    Where none of them has a window, the devices' time is that of the work that they launched.
    """
    spans = source.once(Windows.found).spans.of_steps(places)
    cut, place = cut_to(source, steps, places)
    chosen = Workspace(cut, source.rules, source)
    chosen.know(step_windows, source.once(step_windows).take(places))
    if not len(spans.step):
        chosen.know(Windows.found, Windows.nowhere(chosen))
    else:
        within = time_within(source, spans)
        chosen.know(gpu_time, within)
        chosen.know(window_time, within)
        own, slices = gaps_of_steps(source.once(gaps), source.once(gap_slices), places, place)
        chosen.know(gaps, own)
        chosen.know(gap_slices, slices)
    return chosen
