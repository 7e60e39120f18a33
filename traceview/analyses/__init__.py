"""Questions and answers: `analyze` asks all of them about one trace.

To add an analysis, write one file with one function Workspace -> result and name it in ANALYSES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from traceview.analyses.answers import Results
from traceview.analyses.axes import refuse_endless
from traceview.analyses.categories import categories
from traceview.analyses.collectives import collectives
from traceview.analyses.copies import copies
from traceview.analyses.facts import facts
from traceview.analyses.gaps import gap_slices, gaps
from traceview.analyses.gpu_time import gpu_time, window_time
from traceview.analyses.health import health
from traceview.analyses.kernels import kernels, kernels_by_stream
from traceview.analyses.launch_behaviour import launch_behaviour
from traceview.analyses.launches import launches
from traceview.analyses.notices import notices
from traceview.analyses.operators import operators
from traceview.analyses.per_step import per_step
from traceview.analyses.phases import phases
from traceview.analyses.rules import Rules, load_rules
from traceview.analyses.selected import chosen_steps
from traceview.analyses.selection import Choice, described
from traceview.analyses.step_windows import step_windows
from traceview.analyses.steps import steps
from traceview.analyses.streams import streams
from traceview.analyses.synchronisation import synchronisation
from traceview.analyses.workspace import Workspace
from traceview.events import Notice, Trace
from traceview.units import shown

__all__ = ["ANALYSES", "Analysis", "Choice", "Results", "analyze", "load_rules"]

ANALYSES: tuple[tuple[str, Callable[[Workspace], Any]], ...] = (
    ("kernels", kernels),
    ("kernels_by_stream", kernels_by_stream),
    ("copies", copies),
    ("launches", launches),
    ("gpu_time", gpu_time),
    ("window_time", window_time),
    ("operators", operators),
    ("categories", categories),
    ("steps", steps),
    ("step_windows", step_windows),
    ("per_step", per_step),
    ("gaps", gaps),
    ("gap_slices", gap_slices),
    ("syncs", synchronisation),
    ("streams", streams),
    ("collectives", collectives),
    ("phases", phases),
    ("launch_behaviour", launch_behaviour),
    ("health", health),
)


_SHOWN = 50  # kernels in a notebook


@dataclass(frozen=True)
class Analysis(Results):
    """Hold one trace and all answers about it; `warnings` are those of the reader and of the analyses.

    `selected` has the answers about chosen steps, where some were chosen, and says which in `chosen`.
    """

    trace: Trace
    rules: Rules
    facts: dict[str, Any]
    warnings: tuple[Notice, ...]
    chosen: str = ""
    selected: Analysis | None = None

    def _repr_html_(self) -> str:
        top = self.kernels.take(np.arange(min(len(self.kernels), _SHOWN)))
        names = np.array([shown(str(name)) for name in top.name], object)
        return str(replace(top, name=names)._repr_html_())


def analyze(trace: Trace, rules: Rules | None = None, choice: Choice | None = None) -> Analysis:
    """Return all analyses of a trace; `rules` give kernels their categories (see load_rules).

    `choice` asks for the same about some of its steps, as `selected`; everything else stays about the whole.
    Raises UsageError where no step is what it asks for, InputError for times beyond any trace's.
    """
    known = rules or load_rules()
    refuse_endless(trace)
    workspace = Workspace(trace, known)
    if choice is None:
        return _answered(workspace)
    marked = choice.marked(trace)
    places = choice.places(marked.steps)
    whole = _answered(workspace)
    # unless other steps were named, their windows are those of the whole
    source = workspace if choice.name is None and not choice.all_steps else Workspace(marked, known)
    part = _answered(source if choice.all_steps else chosen_steps(source, marked.steps, places))
    return replace(whole, selected=replace(part, chosen=described(marked.steps.take(places), marked.steps)))


def _answered(workspace: Workspace) -> Analysis:
    trace = workspace.trace
    results = Results(**{name: workspace.once(analysis) for name, analysis in ANALYSES})
    parts = {f.name: getattr(results, f.name) for f in fields(results)}
    found = (*trace.notices, *notices(workspace, results))
    facts_found = facts(workspace, results)
    return Analysis(**parts, trace=trace, rules=workspace.rules, facts=facts_found, warnings=found)
