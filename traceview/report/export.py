"""The summary without a page: a JSON document for scripts, and a text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from traceview import __version__
from traceview.analyses import Analysis
from traceview.events import Notice
from traceview.findings import check
from traceview.findings.document import top_lines
from traceview.report import kpis
from traceview.report.answer_documents import answer_documents
from traceview.report.labels import Labels, labels_of
from traceview.report.records import quantiles_record, records
from traceview.report.selected import shown_of, title_of
from traceview.report.text_blocks import Block, plain_text
from traceview.report.time_documents import time_documents
from traceview.report.title import chips
from traceview.report.wording import FIRST_TO_LAST, begin, device_word, missing_records, only_recorded, splits
from traceview.units import count, data_size, duration, hide_home, plural, public_label, safe, share

SCHEMA = "traceview.summary/1"
TOP_FINDINGS = 3
_RIGHT, _LEFT = ">", "<"


def summary_document(analysis: Analysis) -> dict[str, Any]:
    """Return the JSON document: plain dicts, lists, texts and numbers; times in µs, unknown is None."""
    document = {"schema": SCHEMA, "version": __version__, **_answers(analysis)}
    if analysis.selected is not None:
        document["selected"] = {"chosen": analysis.selected.chosen, **_answers(analysis.selected)}
    return document


def _answers(analysis: Analysis) -> dict[str, Any]:
    launches = analysis.launches
    return {
        "facts": analysis.facts,
        "warnings": [_notice(n) for n in analysis.warnings],
        "account": asdict(analysis.trace.account),
        "meta": _meta(analysis),
        "gpu_time": records(analysis.gpu_time),
        "window_time": records(analysis.window_time),
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
        **answer_documents(analysis),
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
        "conditions": dict(meta.conditions),
    }


def summary_text(analysis: Analysis, top: int = 10) -> str:
    """Return the terminal's answer as plain text, whatever the width of the terminal."""
    return plain_text(summary_blocks(analysis, top))


def summary_blocks(analysis: Analysis, top: int = 10) -> list[Block]:
    """Return the terminal's answer: the verdict first, then tables of at most `top` rows."""
    title = title_of(analysis)
    analysis = shown_of(analysis)
    trace, labels = analysis.trace, labels_of(analysis)
    found = top_lines(check(analysis), TOP_FINDINGS, labels.stands_for)
    facts = " · ".join(f"{c.label} {c.text}" for c in chips(trace))
    blocks = [
        Block((title, kpis.verdict(analysis), *found, facts)),
        _warnings(analysis, "warning"),
        _gpu_time(analysis),
        _kernels(analysis, labels, top),
        _categories(analysis),
        _copies(analysis, labels, top),
        _launches(analysis),
        _operators(analysis, labels, top),
        _steps(analysis),
        _warnings(analysis, "info"),
        _account(analysis),
    ]
    return [block for block in blocks if block is not None and block.lines]


def _gpu_time(analysis: Analysis) -> Block | None:
    device = device_word(analysis.trace)
    if not len(analysis.gpu_time):
        return None
    recorded, found = only_recorded(analysis), splits(analysis)
    parts = ("busy", "compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
    always = ("busy", "compute", "idle")
    shown = [p for p in parts if p in always or any(int(getattr(t, p).sum()) for t, _ in found)]
    names = {"idle": "idle or not recorded"} if recorded else {}
    head = [device, "within", "time", *(names.get(p, p.replace("_", " ")) for p in shown)]
    rows = []
    for table, within in found:
        for i in range(len(table)):
            span = int(table.span[i])
            times = [int(getattr(table, p)[i]) for p in shown]
            cells = [duration(v) + ("" if recorded else f" {share(v / max(span, 1)):>7}") for v in times]
            rows.append([safe(str(table.device[i])) or "0", within, duration(span), *cells])
    if recorded:
        note = f"{begin(device)} time as recorded, at least (no shares: {missing_records(analysis)})"
    else:
        of = [within if within != FIRST_TO_LAST else "time from first to last work" for _, within in found]
        note = f"{begin(device)} time (shares of the {' or '.join(of)}; compute + exposed + idle = 100 %)"
    return _block(safe(note), head, rows, _LEFT * 2 + _RIGHT * (len(head) - 2))


def _kernels(analysis: Analysis, labels: Labels, top: int) -> Block | None:
    table = analysis.kernels
    if not len(table):
        return None
    rows = [
        [
            duration(int(table.sum[i])),
            share(float(table.share[i])),
            count(int(table.calls[i])),
            duration(int(table.mean[i])),
            duration(int(table.p95[i])),
            labels.of(str(table.name[i])),
        ]
        for i in range(min(top, len(table)))
    ]
    whole = duration(int(table.sum.sum()))
    recorded = "recorded " if only_recorded(analysis) else ""
    calls = plural(int(table.calls.sum()), f"{recorded}kernel")
    note = f"Kernels (shares of {whole}, the summed time of {calls})"
    rest = _others(len(table), top, "sum", int(table.sum[top:].sum()))
    return _block(note, ["sum", "share", "calls", "mean", "p95", "name"], rows, ">>>>><", rest)


def _categories(analysis: Analysis) -> Block | None:
    table = analysis.categories
    if not len(table):
        return None
    rows = [
        [
            duration(int(table.sum[i])),
            share(float(table.share[i])),
            count(int(table.calls[i])),
            safe(table.category[i]),
        ]
        for i in range(len(table))
    ]
    recorded = "recorded " if only_recorded(analysis) else ""
    whole = duration(int(table.sum.sum()))
    note = f"Device work by category (shares of {whole}, the summed time of all {recorded}device work)"
    return _block(note, ["sum", "share", "calls", "category"], rows, ">>><")


def _copies(analysis: Analysis, labels: Labels, top: int) -> Block | None:
    table = analysis.copies
    if not len(table):
        return None
    rows = [
        [
            duration(int(table.sum[i])),
            count(int(table.calls[i])),
            data_size(int(table.bytes[i])) if table.bytes[i] >= 0 else "?",
            labels.of(str(table.name[i])),
        ]
        for i in range(min(top, len(table)))
    ]
    rest = _others(len(table), top, "sum", int(table.sum[top:].sum()))
    return _block("Copies and fills", ["sum", "calls", "size", "name"], rows, ">>><", rest)


def _launches(analysis: Analysis) -> Block | None:
    launches = analysis.launches
    if not launches.calls:
        return None
    kernels = int(analysis.kernels.sum.sum())
    device = device_word(analysis.trace)
    gpu = f"the {device}'s kernels sum to {duration(kernels)}" if kernels else "no kernel has a time"
    if not len(analysis.gpu_time):
        gpu = f"none has a device record, {device} time is unknown"
    head = f"Launches ({plural(launches.calls, 'call')}, {duration(launches.cpu_ns)} on the CPU; "
    found = (
        ("launch latency", launches.latency),
        ("queue delay", launches.queue_delay),
        ("start delay", launches.start_delay),
    )
    rows = [
        [name, duration(q.median), duration(q.p95), duration(q.max), count(q.count)] for name, q in found if q
    ]
    facts = [
        (launches.unlinked, "kernel", "kernels", " without a launch in the trace"),
        (launches.without_gpu, "launch", "launches", " without a device record"),
        (launches.graph_launches, "graph launch", "graph launches", ""),
    ]
    said = [f"{plural(n, one, many)}{rest}" for n, one, many, rest in facts if n]
    after = (f"  {' · '.join(said)}",) if said else ()
    return _block(f"{head}{gpu})", ["", "median", "p95", "max", "of"], rows, "<>>>>", after)


def _operators(analysis: Analysis, labels: Labels, top: int) -> Block | None:
    table, device = analysis.operators, device_word(analysis.trace)
    if not any(table.kind):  # at most the device work without an operator
        return None
    keys = ["device_self", "device_total", "cpu_self", "cpu_total"]
    note = f"self: without children; {device} total: launched inside on the same thread"
    if not len(analysis.gpu_time):
        keys, note = keys[2:], "self: without children"
    by = keys[0] if int(getattr(table, keys[0]).sum()) else "cpu_self"
    order = np.argsort(-getattr(table, by), kind="stable")
    rows = [
        [
            *(duration(int(getattr(table, key)[i])) for key in keys),
            count(int(table.calls[i])),
            str(table.kind[i]) or "–",
            labels.of(str(table.name[i])),
        ]
        for i in order[:top].tolist()
    ]
    names = {key: key.replace("device", device).replace("cpu", "CPU").replace("_", " ") for key in keys}
    head, align = [*names.values(), "calls", "kind", "name"], _RIGHT * (len(keys) + 1) + _LEFT * 2
    rest = _others(len(table), top, names[by], int(getattr(table, by)[order[top:]].sum()))
    return _block(f"Operators ({note})", head, rows, align, rest)


def _steps(analysis: Analysis) -> Block | None:
    table, time = analysis.step_windows, analysis.step_time
    if not len(table) or time.median_ns is None:
        return Block((f"Steps: {count(len(table))}, none complete",)) if len(table) else None
    text = (
        f"Steps: {count(len(table))}, {duration(time.median_ns)} (median {time.basis} of {count(time.count)}), "
        f"p95 {duration(time.p95_ns or 0)}, spread {duration(time.spread_ns or 0)}"
    )
    if time.differs and time.wall_median_ns is not None:
        text += f"; host marks last {duration(time.wall_median_ns)}, which is not the step time"
    kernel = analysis.facts["kernel_us_per_step"]
    if kernel is not None:
        text = f"{text}; kernels of a step {duration(kernel * 1000)} (median of sums)"
    return Block((text,))


def _warnings(analysis: Analysis, level: str) -> Block | None:
    mark = "!" if level == "warning" else "i"
    found = [n for n in analysis.warnings if n.level == level]
    return Block(tuple(f"{mark} {hide_home(safe(n.message))} [{n.code}]" for n in found))


def _account(analysis: Analysis) -> Block | None:
    account = analysis.trace.account
    ignored = ", ".join(f"{count(n)} {safe(reason)}" for reason, n in account.ignored.items())
    rest = f" + {count(sum(account.ignored.values()))} ignored ({ignored})" if ignored else ", none ignored"
    return Block((f"Events read: {count(account.events_read)} = {count(account.used)} used{rest}",))


def _others(number: int, top: int, column: str, ns: int) -> tuple[str, ...]:
    rest = plural(number - top, "other name")
    return (f"  and {rest}, {column} {duration(ns)} together",) if number > top else ()


def _block(
    note: str, head: Sequence[str], rows: Sequence[Sequence[str]], align: str, after: tuple[str, ...] = ()
) -> Block:
    """Make a block of a table; no cell shows a home folder."""
    cells = tuple(tuple(hide_home(cell) for cell in row) for row in rows)
    return Block((note,), tuple(head), cells, align, after)
