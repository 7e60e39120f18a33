"""Make a row of the table of runs from an analysis: `summary --record`."""

from __future__ import annotations

from traceview import Analysis
from traceview.capture.run_words import of_today
from traceview.capture.runs import Run
from traceview.report.cleaning import cleaned, version


def run_of(analysis: Analysis) -> Run:
    """Return an analysed trace as a run: its steps are the samples, and nothing private is kept."""
    trace, steps = analysis.trace, analysis.step_time
    meta = trace.meta
    noted = {k: v for k, v in meta.conditions.items() if k not in _CHANGING}
    conditions = {
        "device": ", ".join(sorted({d.name for d in trace.devices if d.name})) or "cpu",
        "versions": ", ".join(f"{k} {version(str(v))}" for k, v in sorted(meta.versions.items())),
        "switches": ", ".join(k for k, on in sorted(meta.switches.items()) if on),
        "step": steps.basis or "none",
        "chosen": analysis.chosen or "",
        **noted,
    }
    figures = {
        "latency_ns": None if steps.median_ns is None else float(steps.median_ns),
        "p95_ns": None if steps.p95_ns is None else float(steps.p95_ns),
        "kernels": float(analysis.facts["kernel_count"]),
        "utilisation_share": analysis.utilisation,
    }
    samples = [steps.samples.tolist()] if len(steps.samples) else []
    kept = of_today({k: cleaned(v) for k, v in conditions.items() if v})
    return Run("summary", cleaned(meta.label), kept, figures, samples, cleaned(meta.label))


# noted conditions that no two runs share: what was measured, not what was set
_CHANGING = frozenset({"SM clock", "memory clock", "temperature", "power", "recorded steps"})
