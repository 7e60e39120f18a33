"""Key numbers and the verdict: what must be said in five seconds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.grouping import added
from traceview.events import Kind
from traceview.report.labels import Labels
from traceview.report.view import BannerLine, Kpi, Tone
from traceview.report.wording import base_words, begin, device_word, only_recorded, recorded_none
from traceview.units import count, duration, duration_parts, plural, share, shown

GOOD, POOR = 0.85, 0.6  # shares of the base in which the GPU is busy
SHORT_NS = 5_000  # a launch costs about as much


def verdict(analysis: Analysis) -> str:
    """Say in a sentence where the time went."""
    table, device = analysis.base_time, device_word(analysis.trace)
    if not len(table):
        return _verdict_without_device(analysis)
    span, busy = added(table.span), added(table.busy)
    if only_recorded(analysis) or analysis.busy_share is None:
        busy = added(analysis.gpu_time.busy)
        missing = (
            "device records are missing for some launches" if only_recorded(analysis) else "without times"
        )
        recorded = f"{duration(busy)} of {device} work was recorded"
        return f"{recorded}, but {missing}: how busy the {device} was cannot be told."
    where = f"The {device} was" if len(table) == 1 else f"{len(table)} {device}s were"
    base = f"the {duration(span)} {base_words(analysis)}" + (", added" if len(table) > 1 else "")
    text = f"{where} busy {share(analysis.busy_share)} of {base}, and idle for {duration(span - busy)}"
    collective = int(table.exposed_collective.sum())
    copies = int(table.exposed_copy.sum() + table.exposed_fill.sum())
    extra = [
        f"{duration(ns)} was {what} that no compute hid"
        for ns, what in ((collective, "communication"), (copies, "copying or filling"))
        if span and ns / span >= 0.01
    ]
    return "; ".join([text, *extra]) + "."


def _verdict_without_device(analysis: Analysis) -> str:
    if found := recorded_none(analysis):
        return f"{found}."
    calls = int(analysis.operators.calls.sum()) if len(analysis.operators) else 0
    host = plural(calls, "operator call") if calls else "no operators"
    device = device_word(analysis.trace)
    where = "was launched in the chosen steps" if analysis.chosen else "in this trace"
    return f"No {device} work {where}: {host} over {duration(analysis.trace.span_ns)}."


def banner(analysis: Analysis) -> tuple[BannerLine, ...]:
    """Return the warnings that limit what the page can claim; notes of level info stay in Method."""
    return tuple(
        BannerLine(n.code, shown(n.message, 1000)) for n in analysis.warnings if n.level == "warning"
    )


def kpis(analysis: Analysis, labels: Labels) -> tuple[Kpi, ...]:
    """Return the key numbers that this trace can carry."""
    if not len(analysis.gpu_time):
        return _host_kpis(analysis)
    found = [
        _step_kpi(analysis),
        *_device_kpis(analysis),
        _top_kpi(analysis, labels),
        _short_kpi(analysis),
        _launch_kpi(analysis),
        _delay_kpi(analysis),
    ]
    return tuple(k for k in found if k is not None)


def _device_kpis(analysis: Analysis) -> list[Kpi | None]:
    table, kernels, device = analysis.base_time, analysis.kernels, device_word(analysis.trace)
    span, busy = added(table.span), added(table.busy)
    whose = "" if len(table) == 1 else f", over {len(table)} {device}s"
    calls = plural(int(kernels.calls.sum()), "kernel")
    return [
        _busy_kpi(analysis, span, busy),
        _idle_kpi(analysis, span - busy, f"of {_base(analysis, span)}{whose}"),
        _time_kpi(
            "kernels",
            begin(f"{device} kernel time"),
            int(kernels.sum.sum()),
            f"at least: the sum of the {calls} recorded"
            if only_recorded(analysis)
            else f"summed over {calls}",
        ),
        _exposed_kpi(analysis, span),
    ]


def _idle_kpi(analysis: Analysis, idle: int, base: str) -> Kpi:
    device = device_word(analysis.trace)
    if not only_recorded(analysis):
        return _time_kpi("idle", begin(f"{device} idle"), idle, base)
    return replace(_time_kpi("idle", "Idle or not recorded", idle, base), tone="warn")


def _time_kpi(key: str, label: str, ns: float, detail: str) -> Kpi:
    value, unit = duration_parts(ns)
    return Kpi(key, label, value, unit, detail)


def _percent(part: float) -> tuple[str, str]:
    return share(part).removesuffix(" %"), "%"


def _base(analysis: Analysis, span: int) -> str:
    return f"{duration(span)} {'in step windows' if analysis.in_windows else 'from first to last work'}"


def _busy_kpi(analysis: Analysis, span: int, busy: int) -> Kpi:
    label = begin(f"{device_word(analysis.trace)} busy")
    if only_recorded(analysis) or analysis.busy_share is None:
        busy = added(analysis.gpu_time.busy)
        missing = "device records are missing, see the banner" if only_recorded(analysis) else "without times"
        detail = f"{duration(busy)} recorded, at least; {missing}"
        return Kpi("busy", label, "?", "", detail, "warn")
    part = analysis.busy_share
    tone: Tone = "good" if part >= GOOD else "bad" if part < POOR else "warn"
    word = {"good": "busy", "warn": "partly waiting", "bad": "mostly waiting"}[tone]
    return Kpi("busy", label, *_percent(part), f"{duration(busy)} of {_base(analysis, span)} · {word}", tone)


def _exposed_kpi(analysis: Analysis, span: int) -> Kpi | None:
    table = analysis.base_time
    if int(table.collective_busy.sum()):
        ns = int(table.exposed_collective.sum())
        rest = f"{duration(int(table.collective_busy.sum()) - ns)} hidden under compute"
        return _time_kpi("exposed", "Exposed communication", ns, f"{_of_span(analysis, ns, span)} · {rest}")
    if not len(analysis.copies):
        return None
    ns = int(table.exposed_copy.sum() + table.exposed_fill.sum())
    rest = f"of {duration(int(analysis.copies.sum.sum()))} copied and filled in all"
    return _time_kpi("exposed", "Exposed copies", ns, f"{_of_span(analysis, ns, span)} · {rest}")


def _of_span(analysis: Analysis, ns: int, span: int) -> str:
    if only_recorded(analysis):
        return "as recorded"
    return f"{share(ns / span if span else 0)} of {_base(analysis, span)}"


def _top_kpi(analysis: Analysis, labels: Labels) -> Kpi | None:
    kernels = analysis.kernels
    if not len(kernels):
        return None
    base = "recorded kernel time" if only_recorded(analysis) else "summed kernel time"
    detail = f"of {base} · {labels.of(str(kernels.name[0]))}"
    return Kpi("top", "Top kernel", *_percent(float(kernels.share[0])), detail)


def _short_kpi(analysis: Analysis) -> Kpi | None:
    trace = analysis.trace
    rows = trace.rows_of(Kind.KERNEL)
    lengths = trace.slices.dur[rows[trace.timed[rows]]]
    total = int(lengths.sum())
    if not total:
        return None
    short = lengths < SHORT_NS
    part = int(lengths[short].sum()) / total
    recorded = "recorded " if only_recorded(analysis) else ""
    return Kpi(
        "short",
        "Short kernels",
        *_percent(float(np.mean(short))),
        f"of {recorded}kernels are under {duration(SHORT_NS).replace('.00', '')} · {share(part)} of kernel time",
    )


def _launch_kpi(analysis: Analysis) -> Kpi | None:
    launches = analysis.launches
    if not launches.calls:
        return None
    detail = f"in {plural(launches.calls, 'launching call')}"
    if len(analysis.gpu_time):
        detail += f" · beside {device_word(analysis.trace)} kernel time, not part of it"
    return _time_kpi("launch", "CPU launch time", launches.cpu_ns, detail)


def _delay_kpi(analysis: Analysis) -> Kpi | None:
    delay = analysis.launches.start_delay
    if delay is None:
        return None
    device = device_word(analysis.trace)
    detail = f"median · p95 {duration(float(delay.p95))} · {device} waited for the launch call itself"
    return _time_kpi("delay", "Start delay", float(delay.median), detail)


def _step_kpi(analysis: Analysis) -> Kpi | None:
    time = analysis.step_time
    if time.median_ns is None:
        return None
    low, high = duration(int(time.samples.min())), duration(int(time.samples.max()))
    detail = f"{time.basis} · median of {plural(time.count, 'step')} · {low} to {high}"
    return _time_kpi("step", "Step time", time.median_ns, detail)


def _host_kpis(analysis: Analysis) -> tuple[Kpi, ...]:
    trace, operators = analysis.trace, analysis.operators
    found: list[Kpi | None] = [_step_kpi(analysis)]
    if missing := recorded_none(analysis):
        found.append(
            Kpi("busy", begin(f"{device_word(trace)} busy"), "?", "", missing.partition("; ")[0], "warn")
        )
    found += [
        _time_kpi("span", "Trace", trace.span_ns, "first to last event"),
        Kpi("slices", "Slices", count(len(trace)), "", "host calls, frames and marks"),
    ]
    if len(operators):
        found.append(
            Kpi(
                "calls",
                "Operator calls",
                count(int(operators.calls.sum())),
                "",
                f"of {plural(len(operators), 'name')}",
            )
        )
        found.append(
            _time_kpi("cpu", "Operator self time", int(operators.cpu_self.sum()), "CPU, summed over threads")
        )
    found.append(_launch_kpi(analysis))
    return tuple(k for k in found if k is not None)
