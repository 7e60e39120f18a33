"""Say what a bench found: a line per shape, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceview import __version__
from traceview.capture.bench.collect import Bench, Timed
from traceview.units import data_size, duration, plural, safe, share, significant

SCHEMA = "traceview.bench/1"
_HEAD = ("shape", "median", "p95", "within", "between", "device", "items/s", "peak", "top operator")
# what the columns mean; a line of which no column is there is not said
_MEANINGS = (
    (("median", "p95"), "median and p95: wall time of an iteration, synchronised"),
    (("device",), "device: time of an iteration between events on the device"),
    (("items/s",), "items/s: batch over the time of an iteration in an unsynchronised stretch"),
    (("within",), "within: quartile distance of a process, as share of its median"),
    (("between",), "between: largest less smallest median of the processes, as share of the median"),
    (("peak",), "peak: {peak}"),
    (("top operator",), "top operator: the one with most {time} of its own in the profiled pass, and its share of that of all operators"),
)  # fmt: skip
_PEAK_CPU = "most memory of the whole process while the shape ran"
_PEAK_DEVICE = "most memory that torch's allocator gave out on the device while the shape ran"


def bench_text(found: Bench) -> str:
    """Return a bench as plain lines."""
    wishes = found.wishes
    how = f"{plural(wishes.iters, 'iteration')} in each of {plural(wishes.repeat, 'process', 'processes')}"
    cells = [_cells(t) for t in found.timed]
    lines = [
        f"{found.conditions['target']}, {wishes.precision}, {found.conditions['device']}: {how}",
        *_table([_HEAD, *cells]),
        *_legend(found, cells),
    ]
    for timed in found.timed:
        lines += [f"! {_shape(timed)}: {doubt}" for doubt in timed.doubts]
    return "\n".join(safe(line) for line in lines) + "\n"


def _legend(found: Bench, cells: Sequence[tuple[str, ...]]) -> list[str]:
    filled = {
        h
        for i, h in enumerate(_HEAD)
        if any(r[i] for r, t in zip(cells, found.timed, strict=True) if t.spread)
    }
    time = next((t.profile["top_op_time"] for t in found.timed if t.profile.get("top_op")), "")
    peak = _PEAK_CPU if found.on_cpu else _PEAK_DEVICE
    return [text.format(time=time, peak=peak) for columns, text in _MEANINGS if filled.intersection(columns)]


def _cells(timed: Timed) -> tuple[str, ...]:
    if timed.spread is None:
        return (_shape(timed), timed.failed, *[""] * (len(_HEAD) - 2))
    top, part = timed.profile.get("top_op"), timed.profile.get("top_share")
    return (
        _shape(timed),
        duration(timed.spread.median),
        duration(timed.spread.p95),
        share(timed.spread.within),
        "" if timed.spread.between is None else share(timed.spread.between),
        "" if timed.device_ns is None else duration(timed.device_ns),
        "" if timed.per_second is None else significant(timed.per_second),
        "" if timed.peak_bytes is None else data_size(timed.peak_bytes),
        "" if top is None or part is None else f"{top} {share(part)}",
    )


def _shape(timed: Timed) -> str:
    return "x".join(map(str, timed.shape))


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    used = [i for i, w in enumerate(widths) if any(r[i] for r in rows[1:]) and w]
    last = used[-1]
    return [
        "  ".join(
            r[i].ljust(widths[i]) if i in (0, last) else r[i].rjust(widths[i]) for i in used
        ).rstrip()
        for r in rows
    ]  # fmt: skip


def bench_document(found: Bench) -> dict[str, Any]:
    """Return a bench as JSON; times in ns."""
    wishes = found.wishes
    return {
        "schema": SCHEMA,
        "version": __version__,
        "target": found.conditions["target"],
        "warmup": wishes.warmup,
        "iterations": wishes.iters,
        "processes": wishes.repeat,
        "conditions": dict(found.conditions),
        "points": [
            {
                "shape": list(t.shape),
                "failed": t.failed or None,
                "median_ns": t.spread and t.spread.median,
                "p95_ns": t.spread and t.spread.p95,
                "spread_within": t.spread and t.spread.within,
                "spread_between": t.spread and t.spread.between,
                "device_ns": t.device_ns,
                "items_per_s": t.per_second,
                "peak_bytes": t.peak_bytes,
                "top_op": t.profile.get("top_op"),
                "top_op_share": t.profile.get("top_share"),
                "top_op_time": t.profile.get("top_op_time") if t.profile.get("top_op") else None,
                "trace": t.profile.get("trace") if wishes.profile else None,
                "doubts": list(t.doubts),
                "samples_ns": [list(s) for s in t.samples],
            }
            for t in found.timed
        ],
    }
