"""State what is true of a simulated run, from what the machine did: exact, and without traceview's help.

Idle time is cut as issue "Answers in time" defines it. For the gap that ends with a record launched by a call:
from the opening to the start of the call, each instant belongs to the first active of PRIORITY, else to the host being
late; then comes the time inside the call; after the call, up to 100 us in flight, beyond that queued. A call that had
returned before the gap opened leaves a turnaround of the device up to 100 us, beyond that again a queued record.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tests.samples.machine import Machine, Record, Tagged

PRIORITY = ("profiler overhead", "allocation or loading", "data loading", "synchronisation or blocking copy")
LONGEST_FLIGHT_NS = 100_000
# A planted cause says what was done; the parts of a hole say how its time divides. Most share a name.
LARGEST_PART = {"stream wait": "queued, not started"}

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Merge intervals that touch or overlap."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def total(intervals: Iterable[Interval]) -> int:
    """Add up the lengths of the union."""
    return sum(end - start for start, end in union(intervals))


def us(ns: int) -> float:
    """Return microseconds, exact to the nanosecond."""
    return round(ns / 1000, 3)


def truth(machine: Machine) -> dict[str, Any]:
    """Return everything that an analysis of the trace must find."""
    return {
        "facts": _facts(machine),
        "launching_op_us": _launching_ops(machine.records),
        "collectives": _collectives(machine.records),
        **_holes(machine),
    }


def _spans(records: Iterable[Record]) -> list[Interval]:
    return [(r.slice.start, r.slice.end) for r in records]


def _summed(records: Iterable[Record]) -> int:
    return sum(end - start for start, end in _spans(records))


def _facts(machine: Machine) -> dict[str, Any]:
    records = machine.records
    kernels = [r for r in records if r.kind in ("kernel", "collective")]
    copies = [r for r in records if r.kind == "copy"]
    fills = [r for r in records if r.kind == "fill"]
    compute = [r for r in records if r.kind == "kernel"]
    collective = [r for r in records if r.kind == "collective"]
    linked = [r for r in kernels if r.launch]
    everything = _spans(records)
    span = max(e for _, e in everything) - min(s for s, _ in everything)
    busy, kernel_busy = total(everything), total(_spans(kernels))
    steps = [s for s in machine.host if s.name.startswith("ProfilerStep#")]
    return {
        "kernel_count": len(kernels),
        "kernel_sum_us": us(_summed(kernels)),
        "kernels": _by_name(kernels),
        "memcpy_count": len(copies),
        "memcpy_sum_us": us(_summed(copies)),
        "memset_count": len(fills),
        "memset_sum_us": us(_summed(fills)),
        "device_count": 1,
        "kernel_busy_us_by_device": {"0": us(kernel_busy)},
        "gpu_busy_us_by_device": {"0": us(busy)},
        "overlapping_kernel_us": us(_summed(kernels) - kernel_busy),
        "gpu_span_us": us(span),
        "idle_us": us(span - busy),
        "utilisation": busy / span,
        "utilisation_reliable": True,
        "compute_busy_us": us(total(_spans(compute))),
        "comm_kernel_us": us(total(_spans(collective))),
        "comm_exposed_us": us(kernel_busy - total(_spans(compute))),
        "copy_only_us": us(busy - kernel_busy),
        "launch_calls": len(machine.launches),
        "launch_cpu_us": us(sum(c.end - c.start for c in machine.launches)),
        "kernels_linked": len(linked),
        "kernels_unlinked": len(kernels) - len(linked),
        "launches_without_gpu": 0,
        "negative_latency_count": 0,
        **_graph_facts(kernels),
        "step_count": len(steps),
        "step_us": [us(s.end - s.start) for s in steps],
        "step_kernel_us": [
            us(_summed(r for r in linked if r.step == number)) for number in range(len(steps))
        ],
    }


def _graph_facts(kernels: Sequence[Record]) -> dict[str, Any]:
    replays: dict[int, int] = defaultdict(int)
    for record in kernels:
        if record.graph is not None:
            replays[record.graph] += 1
    share = _summed(r for r in kernels if r.graph is not None) / _summed(kernels)
    return {
        "graph_launches": len(replays),
        "graph_launches_with_kernels": len(replays),
        "kernels_per_graph_launch": list(replays.values()),
        "graph_kernel_share": share,
    }


def _by_name(records: Iterable[Record]) -> dict[str, list[float]]:
    durations: dict[str, list[int]] = defaultdict(list)
    for record in records:
        durations[record.slice.name].append(record.slice.end - record.slice.start)
    return {name: [len(d), us(sum(d))] for name, d in sorted(durations.items())}


def _launching_ops(records: Sequence[Record]) -> dict[str, float]:
    sums: dict[str, int] = defaultdict(int)
    for record in records:
        sums[record.op or "(no operator)"] += record.slice.end - record.slice.start
    return {name: us(value) for name, value in sorted(sums.items())}


def _collectives(records: Sequence[Record]) -> list[dict[str, Any]]:
    compute = union(_spans(r for r in records if r.kind == "kernel"))
    rows = []
    for record in records:
        if record.kind != "collective":
            continue
        start, end = record.slice.start, record.slice.end
        hidden = sum(max(0, min(end, e) - max(start, s)) for s, e in compute)
        args = record.slice.args
        rows.append(
            {
                "name": args["Collective name"],
                "in_elements": args["In msg nelems"],
                "out_elements": args["Out msg nelems"],
                "group_size": args["Group size"],
                "start_us": us(start),
                "length_ns": end - start,
                "exposed_ns": end - start - hidden,
            }
        )
    return rows


def _holes(machine: Machine) -> dict[str, Any]:
    planted = {id(plan.record): plan.cause for plan in machine.planted}
    first_at: dict[int, Record] = {}
    for record in machine.records:
        first_at.setdefault(record.slice.start, record)
    by_cause: dict[str, int] = defaultdict(int)
    rows: list[dict[str, Any]] = []
    for (_, opening), (closing, _) in pairwise(union(_spans(machine.records))):
        after = first_at[closing]
        before = max((r for r in machine.records if r.slice.end == opening), key=lambda r: r.slice.start)
        parts = _parts(opening, closing, before, after, machine.tagged)
        if sum(parts.values()) != closing - opening:
            raise AssertionError(f"the parts of the hole at {opening} do not add up: {parts}")
        largest = max(parts, key=lambda cause: parts[cause])
        cause = planted.pop(id(after), None)
        if cause and LARGEST_PART.get(cause, cause) != largest:
            raise AssertionError(f"planted {cause} at {opening}, but most of the hole is {largest}: {parts}")
        for part, length in parts.items():
            by_cause[part] += length
        rows.append(
            {
                "start_us": us(opening),
                "length_ns": closing - opening,
                "cause": cause or largest,
                "planted": cause is not None,
                "parts_ns": parts,
                "before": before.slice.name,
                "after": after.slice.name,
                "step": after.step,
            }
        )
    if planted:
        raise AssertionError(f"no hole where these were planted: {sorted(planted.values())}")
    return {
        "idle_ns_by_cause": dict(sorted(by_cause.items())),
        "hole_count": len(rows),
        "median_hole_ns": statistics.median_low(r["length_ns"] for r in rows),
        "holes": rows,
    }


def _parts(
    opening: int, closing: int, before: Record, after: Record, tagged: Sequence[Tagged]
) -> dict[str, int]:
    """Divide one hole among its causes; parts without time are left out."""
    call = after.launch
    if call is None:
        return {"unknown": closing - opening}
    if call.end <= opening:
        if closing - opening > LONGEST_FLIGHT_NS:
            return {"queued, not started": closing - opening}
        same_graph = after.graph is not None and after.graph == before.graph
        return {"inside graph" if same_graph else "device turnaround": closing - opening}
    parts: dict[str, int] = defaultdict(int)
    called = min(max(call.start, opening), closing)
    _before_the_call(opening, called, tagged, parts)
    returned = min(max(call.end, called), closing)
    parts["inside the launch call"] += returned - called
    waited = closing - returned
    parts["launch in flight" if waited <= LONGEST_FLIGHT_NS else "queued, not started"] += waited
    return {cause: length for cause, length in parts.items() if length}


def _before_the_call(opening: int, called: int, tagged: Sequence[Tagged], parts: dict[str, int]) -> None:
    inside = [t for t in tagged if t.start < called and t.end > opening]
    edges = {opening, called, *(t.start for t in inside), *(t.end for t in inside)}
    for start, end in pairwise(sorted(e for e in edges if opening <= e <= called)):
        active = {t.cause for t in inside if t.start <= start and t.end >= end}
        parts[next((c for c in PRIORITY if c in active), "host late")] += end - start
