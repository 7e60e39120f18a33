"""Questions and answers: `analyze` asks all of them about one trace.

To add an analysis, write one file with one function Workspace -> result and name it in ANALYSES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from traceview.analyses.answers import Results
from traceview.analyses.categories import categories
from traceview.analyses.copies import copies
from traceview.analyses.facts import facts
from traceview.analyses.gaps import gaps
from traceview.analyses.gpu_time import gpu_time
from traceview.analyses.kernels import kernels, kernels_by_stream
from traceview.analyses.launches import launches
from traceview.analyses.notices import notices
from traceview.analyses.operators import operators
from traceview.analyses.rules import Rules, load_rules
from traceview.analyses.step_windows import step_windows
from traceview.analyses.steps import steps
from traceview.analyses.synchronisation import synchronisation
from traceview.analyses.workspace import Workspace
from traceview.events import Notice, Trace

__all__ = ["ANALYSES", "Analysis", "Results", "analyze", "load_rules"]

ANALYSES: tuple[tuple[str, Callable[[Workspace], Any]], ...] = (
    ("kernels", kernels),
    ("kernels_by_stream", kernels_by_stream),
    ("copies", copies),
    ("launches", launches),
    ("gpu_time", gpu_time),
    ("operators", operators),
    ("categories", categories),
    ("steps", steps),
    ("step_windows", step_windows),
    ("gaps", gaps),
    ("syncs", synchronisation),
)


@dataclass(frozen=True)
class Analysis(Results):
    """Hold one trace and all answers about it; `warnings` are those of the reader and of the analyses."""

    trace: Trace
    rules: Rules
    facts: dict[str, Any]
    warnings: tuple[Notice, ...]

    def _repr_html_(self) -> str:
        return str(self.kernels._repr_html_())


def analyze(trace: Trace, rules: Rules | None = None) -> Analysis:
    """Return all analyses of a trace; `rules` give kernels their categories (see load_rules)."""
    chosen = rules or load_rules()
    workspace = Workspace(trace, chosen)
    results = Results(**{name: workspace.once(analysis) for name, analysis in ANALYSES})
    parts = {f.name: getattr(results, f.name) for f in fields(results)}
    found = (*trace.notices, *notices(workspace, results))
    return Analysis(**parts, trace=trace, rules=chosen, facts=facts(workspace, results), warnings=found)
