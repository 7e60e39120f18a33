"""Streams, collectives, phases, launch behaviour, health and findings as JSON."""

from __future__ import annotations

from typing import Any

from traceview.analyses import Analysis
from traceview.analyses.facts import us
from traceview.analyses.health import HOW_TO_RECORD, Health
from traceview.analyses.launch_behaviour import LaunchBehaviour, QueueDepth
from traceview.findings import check
from traceview.findings.document import finding_records
from traceview.report.queues import queues, thinned
from traceview.report.records import records

MOST_POINTS = 500  # of a stream's queue depth


def answer_documents(analysis: Analysis) -> dict[str, Any]:
    """Return the keys of the summary for these answers."""
    streams = analysis.streams
    return {
        "findings": finding_records(check(analysis)),
        "streams": {
            "times": records(streams.times),
            "concurrency": records(streams.concurrency),
            "pairs": records(streams.pairs),
        },
        "collectives": records(analysis.collectives),
        "phases": records(analysis.phases),
        "launch_behaviour": _behaviour(analysis.launch_behaviour),
        "health": _health(analysis.health),
    }


def _behaviour(found: LaunchBehaviour) -> dict[str, Any]:
    return {
        "delay_cost_us": us(found.delay_cost),
        "shorter_than_launch": found.shorter_than_launch,
        "shorter_share": found.shorter_share,
        "graph_launches": found.graph_launches,
        "graph_kernels": found.graph_kernels,
        "without_operator": found.without_operator,
        "kernel_lengths": records(found.lengths),
        "queue_depth": _depth(found.depth),
    }


def _depth(table: QueueDepth) -> list[dict[str, Any]]:
    """Return the deepest points of each stream's queue over time, as columns."""
    return [
        {
            "device": q.device,
            "stream": q.stream,
            "time_us": [us(t) for t in q.time.tolist()],
            "depth": q.depth.tolist(),
        }
        for q in (thinned(queue, MOST_POINTS) for queue in queues(table))
    ]


def _health(found: Health) -> dict[str, Any]:
    figures = {
        key: value
        for key, value in vars(found).items()
        if key not in ("steps", "unrecorded", "recorded", "overlong_clipped", "overhead")
    }
    return {
        **figures,
        "overlong_clipped_us": us(found.overlong_clipped),
        "overhead_us": us(found.overhead),
        "steps": records(found.steps),
        "unrecorded": records(found.unrecorded),
        "recorded": found.recorded,
        "how_to_record": {name: HOW_TO_RECORD[name] for name, there in found.recorded.items() if not there},
    }
