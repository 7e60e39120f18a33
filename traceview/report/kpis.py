"""Key numbers and the verdict: what must be said in five seconds."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.events import Kind
from traceview.report.view import BannerLine, Kpi, Tone
from traceview.units import count, duration, duration_parts, hide_home, plural, safe, share, short_name

GOOD, POOR = 0.85, 0.6  # shares of the span in which the GPU is busy
SHORT_NS = 5_000  # a launch costs about as much


def verdict(analysis: Analysis) -> str:
    """Say in a sentence where the time went."""
    table = analysis.gpu_time
    if not len(table):
        host = (
            plural(int(analysis.operators.calls.sum()), "operator call")
            if len(analysis.operators)
            else "no operators"
        )
        return f"No GPU work in this trace: {host} over {duration(analysis.trace.span_ns)}."
    span, busy = int(table.span.sum()), int(table.busy.sum())
    if not analysis.utilisation_reliable or analysis.utilisation is None:
        return (
            f"{duration(busy)} of GPU work was recorded, but device records are missing for some launches: "
            "how busy the GPU was cannot be told."
        )
    where = "The GPU was" if len(table) == 1 else f"{len(table)} GPUs were"
    text = f"{where} busy {share(analysis.utilisation)} of {duration(span)}, and idle for {duration(span - busy)}"
    collective = int(table.exposed_collective.sum())
    copies = int(table.exposed_copy.sum() + table.exposed_fill.sum())
    extra = [
        f"{duration(ns)} was {what} that no compute hid"
        for ns, what in ((collective, "communication"), (copies, "copying or filling"))
        if span and ns / span >= 0.01
    ]
    return "; ".join([text, *extra]) + "."


def banner(analysis: Analysis) -> tuple[BannerLine, ...]:
    """Return the warnings that limit what the page can claim; notes of level info stay in Method."""
    return tuple(
        BannerLine(n.code, hide_home(safe(n.message))) for n in analysis.warnings if n.level == "warning"
    )


def kpis(analysis: Analysis) -> tuple[Kpi, ...]:
    """Return the key numbers that this trace can carry."""
    if not len(analysis.gpu_time):
        return _host_kpis(analysis)
    found = [*_device_kpis(analysis), _launch_kpi(analysis), _delay_kpi(analysis), _step_kpi(analysis)]
    return tuple(k for k in found if k is not None)


def _device_kpis(analysis: Analysis) -> list[Kpi | None]:
    table, kernels = analysis.gpu_time, analysis.kernels
    span, busy = int(table.span.sum()), int(table.busy.sum())
    whose = "" if len(table) == 1 else f", over {len(table)} GPUs"
    return [
        _busy_kpi(analysis, span, busy),
        _time_kpi("idle", "GPU idle", span - busy, f"of {duration(span)} from first to last work{whose}"),
        _time_kpi(
            "kernels",
            "GPU kernel time",
            int(kernels.sum.sum()),
            f"summed over {plural(int(kernels.calls.sum()), 'kernel')}",
        ),
        _exposed_kpi(analysis, span),
        _top_kpi(analysis),
        _short_kpi(analysis),
    ]


def _time_kpi(key: str, label: str, ns: float, detail: str) -> Kpi:
    value, unit = duration_parts(ns)
    return Kpi(key, label, value, unit, detail)


def _percent(part: float) -> tuple[str, str]:
    return share(part).removesuffix(" %"), "%"


def _busy_kpi(analysis: Analysis, span: int, busy: int) -> Kpi:
    if not analysis.utilisation_reliable or analysis.utilisation is None:
        return Kpi("busy", "GPU busy", "not known", "", "device records are missing, see the banner", "warn")
    part = analysis.utilisation
    tone: Tone = "good" if part >= GOOD else "bad" if part < POOR else "warn"
    word = {"good": "busy", "warn": "partly waiting", "bad": "mostly waiting"}[tone]
    return Kpi("busy", "GPU busy", *_percent(part), f"{duration(busy)} of {duration(span)} · {word}", tone)


def _exposed_kpi(analysis: Analysis, span: int) -> Kpi | None:
    table = analysis.gpu_time
    if int(table.collective_busy.sum()):
        ns = int(table.exposed_collective.sum())
        hidden = duration(int(table.collective_busy.sum()) - ns)
        part = share(ns / span) if span else "0 %"
        return _time_kpi(
            "exposed", "Exposed communication", ns, f"{part} of the span · {hidden} hidden under compute"
        )
    if not len(analysis.copies):
        return None
    ns = int(table.exposed_copy.sum() + table.exposed_fill.sum())
    part = share(ns / span) if span else "0 %"
    total = duration(int(analysis.copies.sum.sum()))
    return _time_kpi("exposed", "Exposed copies", ns, f"{part} of the span · of {total} copied and filled")


def _top_kpi(analysis: Analysis) -> Kpi | None:
    kernels = analysis.kernels
    if not len(kernels):
        return None
    name = safe(short_name(str(kernels.name[0])))
    return Kpi("top", "Top kernel", *_percent(float(kernels.share[0])), f"of kernel time · {name}")


def _short_kpi(analysis: Analysis) -> Kpi | None:
    trace = analysis.trace
    rows = trace.rows_of(Kind.KERNEL)
    lengths = trace.slices.dur[rows[trace.timed[rows]]]
    total = int(lengths.sum())
    if not total:
        return None
    short = lengths < SHORT_NS
    part = int(lengths[short].sum()) / total
    return Kpi(
        "short",
        f"Kernels under {duration(SHORT_NS).replace('.00', '')}",
        *_percent(float(np.mean(short))),
        f"of kernels · {share(part)} of kernel time",
    )


def _launch_kpi(analysis: Analysis) -> Kpi | None:
    launches = analysis.launches
    if not launches.calls:
        return None
    detail = f"in {plural(launches.calls, 'launching call')} · beside GPU kernel time, not part of it"
    return _time_kpi("launch", "CPU launch time", launches.cpu_ns, detail)


def _delay_kpi(analysis: Analysis) -> Kpi | None:
    delay = analysis.launches.start_delay
    if delay is None:
        return None
    detail = f"median · p95 {duration(float(delay.p95))} · wait for the launch itself"
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
    found: list[Kpi | None] = [
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
    found.append(_step_kpi(analysis))
    return tuple(k for k in found if k is not None)
