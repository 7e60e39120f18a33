"""The summary without a page: a JSON document for scripts, and a text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from traceview import __version__
from traceview.analyses import Analysis
from traceview.events import Notice
from traceview.report import kpis
from traceview.report.records import quantiles_record, records
from traceview.report.time_documents import time_documents
from traceview.report.title import chips, default_title, public_label
from traceview.units import count, data_size, duration, middle, plural, safe, share, short_unique

SCHEMA = "traceview.summary/1"
_WIDE = 64  # characters of a name in the terminal
_RIGHT, _LEFT = ">", "<"


def summary_document(analysis: Analysis) -> dict[str, Any]:
    """Return the JSON document: plain dicts, lists, texts and numbers; times in µs, unknown is None."""
    launches = analysis.launches
    return {
        "schema": SCHEMA,
        "version": __version__,
        "facts": analysis.facts,
        "warnings": [_notice(n) for n in analysis.warnings],
        "account": asdict(analysis.trace.account),
        "meta": _meta(analysis),
        "gpu_time": records(analysis.gpu_time),
        "kernels": records(analysis.kernels),
        "kernels_by_stream": records(analysis.kernels_by_stream),
        "copies": records(analysis.copies),
        "launches": {
            "launch_latency_us": quantiles_record(launches.latency),
            "queue_delay_us": quantiles_record(launches.queue_delay),
            "start_delay_us": quantiles_record(launches.start_delay),
            "started_during_call": launches.started_during_call,
            "coverage": {**asdict(launches.coverage), "expected": launches.coverage.expected},
            "by_call": records(launches.by_call),
        },
        "operators": records(analysis.operators),
        "categories": records(analysis.categories),
        **time_documents(analysis),
    }


def _notice(notice: Notice) -> dict[str, Any]:
    found = asdict(notice)
    return found if notice.place is not None else {k: v for k, v in found.items() if k != "place"}


def _meta(analysis: Analysis) -> dict[str, Any]:
    meta = analysis.trace.meta
    return {
        "label": public_label(meta.label),
        "dialect": meta.dialect,
        "synthetic": meta.synthetic,
        "versions": dict(meta.versions),
        "switches": dict(meta.switches),
        "rank": meta.rank,
        "world_size": meta.world_size,
        "backend": meta.backend,
        "base_ns": meta.base_ns,
        "devices": [{"key": d.key, "name": d.name, **d.properties} for d in analysis.trace.devices],
    }


def summary_text(analysis: Analysis, top: int = 10) -> str:
    """Return the terminal's answer: the verdict first, then tables of at most `top` rows."""
    trace = analysis.trace
    blocks = [
        [
            default_title(trace),
            kpis.verdict(analysis),
            " · ".join(f"{c.label} {c.text}" for c in chips(trace)),
        ],
        _warnings(analysis, "warning"),
        _gpu_time(analysis),
        _kernels(analysis, top),
        _categories(analysis),
        _copies(analysis, top),
        _launches(analysis),
        _operators(analysis, top),
        _steps(analysis),
        _warnings(analysis, "info"),
        _account(analysis),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _gpu_time(analysis: Analysis) -> list[str]:
    table = analysis.gpu_time
    if not len(table):
        return []
    parts = ("busy", "compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
    shown = [p for p in parts if p in ("busy", "compute", "idle") or int(getattr(table, p).sum())]
    head = ["GPU", "span", *(p.replace("_", " ") for p in shown)]
    rows = []
    for i in range(len(table)):
        span = int(table.span[i])
        cells = [
            f"{duration(v)} {share(v / max(span, 1)):>7}" for v in (int(getattr(table, p)[i]) for p in shown)
        ]
        rows.append([safe(str(table.device[i])) or "0", duration(span), *cells])
    note = "GPU time (shares of the span; compute + exposed + idle = span)"
    return [note, *_grid(head, rows, _LEFT + _RIGHT * (len(head) - 1))]


def _kernels(analysis: Analysis, top: int) -> list[str]:
    table = analysis.kernels
    if not len(table):
        return []
    labels = short_unique(table.name[:top].tolist())
    rows = [
        [
            duration(int(table.sum[i])),
            share(float(table.share[i])),
            count(int(table.calls[i])),
            duration(int(table.mean[i])),
            duration(int(table.p95[i])),
            safe(labels[table.name[i]]),
        ]
        for i in range(min(top, len(table)))
    ]
    whole = duration(int(table.sum.sum()))
    note = f"Kernels (shares of {whole}, the sum of {plural(int(table.calls.sum()), 'kernel')})"
    grid = _grid(["sum", "share", "calls", "mean", "p95", "name"], rows, ">>>>><")
    return [note, *grid, *_others(len(table), top, int(table.sum[top:].sum()))]


def _categories(analysis: Analysis) -> list[str]:
    table = analysis.categories
    if not len(table):
        return []
    rows = [
        [
            duration(int(table.sum[i])),
            share(float(table.share[i])),
            count(int(table.calls[i])),
            safe(table.category[i]),
        ]
        for i in range(len(table))
    ]
    note = f"Device work by category (shares of {duration(int(table.sum.sum()))}, its sum)"
    return [note, *_grid(["sum", "share", "calls", "category"], rows, ">>><")]


def _copies(analysis: Analysis, top: int) -> list[str]:
    table = analysis.copies
    if not len(table):
        return []
    rows = [
        [
            duration(int(table.sum[i])),
            count(int(table.calls[i])),
            data_size(int(table.bytes[i])) if table.bytes[i] >= 0 else "?",
            middle(safe(table.name[i]), _WIDE),
        ]
        for i in range(min(top, len(table)))
    ]
    grid = _grid(["sum", "calls", "size", "name"], rows, ">>><")
    return ["Copies and fills", *grid, *_others(len(table), top, int(table.sum[top:].sum()))]


def _launches(analysis: Analysis) -> list[str]:
    launches = analysis.launches
    if not launches.calls:
        return []
    kernels = int(analysis.kernels.sum.sum())
    gpu = f"the GPU's kernels sum to {duration(kernels)}" if kernels else "no kernel has a time"
    head = f"Launches ({plural(launches.calls, 'call')}, {duration(launches.cpu_ns)} on the CPU; "
    lines = [f"{head}{gpu})"]
    found = (
        ("launch latency", launches.latency),
        ("queue delay", launches.queue_delay),
        ("start delay", launches.start_delay),
    )
    rows = [
        [name, duration(q.median), duration(q.p95), duration(q.max), count(q.count)] for name, q in found if q
    ]
    if rows:
        lines += _grid(["", "median", "p95", "max", "of"], rows, "<>>>>")
    facts = [
        (launches.unlinked, "kernels without a launch in the trace"),
        (launches.without_gpu, "launches without a device record"),
        (launches.graph_launches, "graph launches"),
    ]
    said = [f"{count(n)} {text}" for n, text in facts if n]
    return lines + ([f"  {' · '.join(said)}"] if said else [])


def _operators(analysis: Analysis, top: int) -> list[str]:
    table = analysis.operators
    if not any(table.kind):  # at most the device work without an operator
        return []
    keys = ["device_self", "device_total", "cpu_self", "cpu_total"]
    if not int(table.device_self.sum()):
        keys = keys[2:]
    order = np.argsort(-getattr(table, keys[0]), kind="stable")
    rows = [
        [
            *(duration(int(getattr(table, key)[i])) for key in keys),
            count(int(table.calls[i])),
            middle(safe(table.name[i]), _WIDE),
        ]
        for i in order[:top].tolist()
    ]
    note = "Operators (self: without children; device time of the innermost operator around the launch)"
    head = [key.replace("device", "GPU").replace("cpu", "CPU").replace("_", " ") for key in keys]
    grid = _grid([*head, "calls", "name"], rows, _RIGHT * (len(keys) + 1) + _LEFT)
    return [note, *grid, *_others(len(table), top, int(getattr(table, keys[0])[order[top:]].sum()))]


def _steps(analysis: Analysis) -> list[str]:
    table, time = analysis.step_windows, analysis.step_time
    if not len(table) or time.median_ns is None:
        return [f"Steps: {count(len(table))}, none complete"] if len(table) else []
    text = (
        f"Steps: {count(len(table))}, {duration(time.median_ns)} (median {time.basis} of {count(time.count)}), "
        f"p95 {duration(time.p95_ns or 0)}, spread {duration(time.spread_ns or 0)}"
    )
    if time.differs and time.wall_median_ns is not None:
        text += f"; host marks last {duration(time.wall_median_ns)}, which is not the step time"
    kernel = analysis.facts["kernel_us_per_step"]
    return [
        text if kernel is None else f"{text}; kernels of a step {duration(kernel * 1000)} (median of sums)"
    ]


def _warnings(analysis: Analysis, level: str) -> list[str]:
    mark = "!" if level == "warning" else "i"
    return [f"{mark} {safe(n.message)} [{n.code}]" for n in analysis.warnings if n.level == level]


def _account(analysis: Analysis) -> list[str]:
    account = analysis.trace.account
    ignored = ", ".join(f"{count(n)} {safe(reason)}" for reason, n in account.ignored.items())
    rest = f" + {count(sum(account.ignored.values()))} ignored ({ignored})" if ignored else ", none ignored"
    return [f"Events read: {count(account.events_read)} = {count(account.used)} used{rest}"]


def _others(number: int, top: int, ns: int) -> list[str]:
    return [f"  and {plural(number - top, 'other name')}, {duration(ns)} together"] if number > top else []


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Return lines with aligned columns, indented by two."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  " + "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
