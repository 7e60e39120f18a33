"""Steps, idle gaps and synchronisation as JSON."""

from __future__ import annotations

from typing import Any

from traceview.analyses import Analysis
from traceview.analyses.step_windows import StepTime
from traceview.report.records import known, records


def time_documents(analysis: Analysis) -> dict[str, Any]:
    """Return the keys of the summary that tell how long steps take and what the device waited for."""
    return {
        "steps": records(analysis.step_windows),
        "step_time": step_time_record(analysis.step_time),
    }


def step_time_record(found: StepTime) -> dict[str, Any]:
    """Return the step time; times in µs."""
    times = ("median", "p95", "spread", "wall_median", "period_median")
    figures = {t: getattr(found, f"{t}_ns") for t in times}
    return {
        "basis": found.basis,
        "count": found.count,
        **{f"{t}_us": None if v is None else known(v, "ns") for t, v in figures.items()},
        "differs": found.differs,
        "outside_share": found.outside_share,
        "samples_us": [known(v, "ns") for v in found.samples.tolist()],
    }
