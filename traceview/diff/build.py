"""Measure one run for a comparison: a Side from an Analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.workspace import Workspace
from traceview.diff.recorded import device_of
from traceview.diff.side import Side, measure
from traceview.events import Trace
from traceview.sources.conditions import contradictions, device_names, left_by


def side_of(analysis: Analysis, label: str) -> Side:
    """Return a run as a side of a comparison; of an analysis of chosen steps only those are compared."""
    asked = analysis.selected or analysis
    workspace = Workspace(asked.trace, asked.rules)
    samples = int(np.count_nonzero(asked.step_windows.sample))
    measured = {False: measure(workspace, asked, False)}
    if samples:
        measured[True] = measure(workspace, asked, True)
    return Side(label, analysis.facts, conditions(asked), samples, asked, measured)


def conditions(analysis: Analysis) -> dict[str, Any]:
    """Return what must be alike for a comparison to mean something; None where it is not recorded."""
    trace, meta, facts = analysis.trace, analysis.trace.meta, analysis.facts
    names = device_names(trace)
    left = left_by(trace)
    return {
        "dialect": meta.dialect or None,
        **device_of(names, meta.noted),
        "device count": facts["device_count"],
        "versions": {k: str(v) for k, v in sorted(meta.versions.items())},
        "switches": dict(sorted(meta.switches.items())),
        "world size": meta.world_size,
        "graph share": facts["graph_kernel_share"],
        "launches": facts["launch_calls"],
        "kernels": facts["kernel_count"],
        "linked": facts["kernels_linked"],
        "reliable": analysis.utilisation_reliable,
        "left": left,
        "chosen": analysis.chosen or None,
        "peak memory": _peak_memory(trace),
        "captured": dict(meta.conditions),
        "noted": meta.noted,
        "contradictions": contradictions(
            meta.noted, replace(meta, switches={**left, **meta.switches}), names
        ),
    }


def _peak_memory(trace: Trace) -> int | None:
    """Return the most bytes that the allocator had given out on a device at once, None where not recorded."""
    memory = trace.memory
    on_device = (memory.device_type > 0) & (memory.allocated >= 0)
    return int(memory.allocated[on_device].max()) if on_device.any() else None
