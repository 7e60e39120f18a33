"""Steps, idle gaps and synchronisation as JSON."""

from __future__ import annotations

from typing import Any

from traceview.analyses import Analysis
from traceview.analyses.gap_parts import THRESHOLDS
from traceview.analyses.gaps import longest_gaps
from traceview.analyses.step_windows import StepTime
from traceview.report.records import known, records

MOST_GAPS = 500  # the longest ones: a trace can have a hundred thousand


def time_documents(analysis: Analysis) -> dict[str, Any]:
    """Return the keys of the summary that tell how long steps take and what the device waited for."""
    return {
        "steps": records(analysis.step_windows),
        "step_time": step_time_record(analysis.step_time),
        "gaps": records(analysis.gaps.take(longest_gaps(analysis.gaps, MOST_GAPS))),
        "gap_causes": records(analysis.gap_causes),
        "gap_lengths": records(analysis.gap_lengths),
        "gap_thresholds": [
            {"cause": cause, "longest_us": known(ns, "ns"), "measured": what}
            for cause, ns, what in THRESHOLDS
        ],
        "synchronisation": records(analysis.syncs),
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
