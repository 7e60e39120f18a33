"""A comparison as the data of a page: the same view, and so the same painters, as the report of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from traceview import __version__
from traceview.diff.changes import signed, verdict
from traceview.diff.claims import COUNTS, Judgement
from traceview.diff.comparability import CARE, FINE, REFUSED
from traceview.diff.compare import Diff
from traceview.diff.gates import Outcome
from traceview.report import html
from traceview.report.build import PAGE_LIMIT, fitted
from traceview.report.diff_charts import step_strips, waterfall
from traceview.report.diff_pairs import pairs_of
from traceview.report.diff_sections import (
    calls_section,
    changes_section,
    environment_section,
    gates_section,
    idle_section,
    method_section,
    waterfall_section,
)
from traceview.report.diff_steps import steps_section
from traceview.report.diff_timeline import PairedTimeline
from traceview.report.diff_work import work_section
from traceview.report.labels import Labels
from traceview.report.names import NameBook
from traceview.report.view import BannerLine, Chip, Kpi, Report, ReportOptions, SectionView, Tone
from traceview.units import count, distinct, duration, duration_parts, plural, share, short_name, shown

KPIS = (
    ("step_time", "Step time"), ("gpu_busy", "GPU busy"), ("gpu_idle", "GPU idle"), ("kernel_time", "GPU kernel time"),
    ("exposed_comm", "Exposed communication"), ("kernels", "Kernels"), ("launches", "Launches"), ("syncs", "Synchronisations"),
)  # fmt: skip
_ALWAYS = ("step_time", "gpu_busy", "gpu_idle", "kernel_time", "kernels")


@dataclass(frozen=True)
class DiffContext:
    """Hold a comparison, what its gates came to, the reader's wishes, and the names of the page."""

    diff: Diff
    outcomes: Sequence[Outcome]
    options: ReportOptions
    names: NameBook

    @property
    def per(self) -> str:
        """Return what figures are per, for sentences."""
        return PER[self.diff.per]


_BANNERS = {REFUSED: "Not comparable", CARE: "With care"}
_SAVED = "A saved run keeps no slices: compare two traces to see them one under the other."
_TIMELINE = "Lanes of both sides in pairs, the begin of one compared step of each at the same place. Go to aligns another pair."
PER = {
    "step": "per complete step",
    "call": "as if both runs had made the mean number of calls",
    "total": "of the whole runs",
}


def build_diff(diff: Diff, outcomes: Sequence[Outcome] = (), options: ReportOptions | None = None) -> Report:
    """Turn a comparison into the page's data."""
    options = options or ReportOptions()
    labels = _labels(diff, options.show_paths)
    context = DiffContext(diff, outcomes, options, NameBook(labels))
    sections = [s for s in _sections(context) if s is not None]
    context.names.mark()
    report = Report(
        title=options.title or f"{shown(diff.base.label, 60)} → {shown(diff.new.label, 60)}",
        verdict=verdict(diff),
        chips=_chips(context),
        banner=_banner(diff),
        banner_title=_BANNERS.get(diff.comparability.verdict, ""),
        kpis=_kpis(diff),
        sections=tuple(sections),
        names=context.names.uncut(),
        version=__version__,
        schema="traceview.diff-report/1",
    )
    return _with_timeline(context, report)


def _with_timeline(context: DiffContext, report: Report) -> Report:
    """Put the timeline behind the work, as large as the page has room for."""
    base, new = context.diff.base.analysis, context.diff.new.analysis
    if base is None or new is None:
        section, names = SectionView("timeline", "Timeline", empty=_SAVED), context.names.table()
    else:
        room = PAGE_LIMIT - html.size_without_slices(report)
        timeline = PairedTimeline(base, new, pairs_of(context.diff, base, new))
        view, names = fitted(timeline, context.names, context.options.timeline_budget, room)
        empty = "" if view else "No slice of one of the traces has a time to draw."
        section = SectionView(
            "timeline", "Timeline", _TIMELINE if view else "", (view,) if view else (), empty
        )
    at = next(i for i, s in enumerate(report.sections) if s.id == "work") + 1
    return replace(report, names=names, sections=(*report.sections[:at], section, *report.sections[at:]))


def _sections(context: DiffContext) -> list[SectionView | None]:
    diff = context.diff
    return [
        gates_section(context.outcomes),
        changes_section(diff, context.options.top),
        waterfall_section(diff, waterfall(diff), context.per),
        idle_section(diff),
        work_section(context),
        calls_section(diff),
        steps_section(diff, step_strips(diff)),
        environment_section(diff),
        method_section(diff),
    ]


def _labels(diff: Diff, show_paths: bool) -> Labels:
    plain = Labels(show_paths=show_paths)
    kernels = {r.kernel: plain.text(r.kernel) for m in diff.measured for r in m.rows.rows}
    return Labels(distinct(kernels, short_name), show_paths)


def _chips(context: DiffContext) -> tuple[Chip, ...]:
    diff = context.diff
    sides = [
        f"{shown(side.conditions['device'] or 'device not recorded', 80)} · {plural(len(runs), 'run')}"
        for side, runs in ((diff.base, diff.runs.base), (diff.new, diff.runs.new))
    ]
    steps = [count(len(m.steps)) for m in diff.measured]
    found = [
        Chip("base", sides[0]),
        Chip("new", sides[1]),
        Chip("comparable", diff.comparability.verdict),
        Chip("figures", context.per),
    ]
    if diff.per == "step":
        found.append(Chip("complete steps", f"{steps[0]} and {steps[1]}"))
    return tuple(found)


def _banner(diff: Diff) -> tuple[BannerLine, ...]:
    verdict_of = diff.comparability.verdict
    if verdict_of == FINE:
        return ()
    code = "incomparable_traces" if verdict_of == REFUSED else "compare_with_care"
    return tuple(
        BannerLine(code, shown(f"{reason[:1].upper()}{reason[1:]}.", 500))
        for reason in diff.comparability.reasons
    )


def _kpis(diff: Diff) -> tuple[Kpi, ...]:
    if diff.headlines:
        found = [
            _kpi(key, label, diff.headlines[key])
            for key, label in KPIS
            if key in diff.headlines
            and (key in _ALWAYS or diff.headlines[key].delta or diff.headlines[key].base)
        ]
        return tuple(found)
    left, right = diff.measured
    return tuple(
        _kpi(
            key,
            label,
            Judgement(
                "", left.totals[key] / left.units, right.totals[key] / right.units, reason="measured once"
            ),
        )
        for key, label in KPIS
        if key in left.totals and key in right.totals and (left.totals[key] or right.totals[key])
    )


def _kpi(key: str, label: str, judged: Judgement) -> Kpi:
    counted = key in COUNTS
    texts = [count(round(v)) if counted else duration(v) for v in (judged.base, judged.new)]
    detail = f"{texts[0]} → {texts[1]}"
    if not judged.delta:
        return Kpi(f"diff-{key}", label, "±0", "", detail)
    if counted:
        value, unit = f"{'+' if judged.delta > 0 else '−'}{abs(judged.delta):,.0f}", ""
    elif judged.base:
        part = abs(judged.delta / judged.base)
        value, unit = f"{'+' if judged.delta > 0 else '−'}{share(part).removesuffix(' %')}", "%"
    else:
        number, unit = duration_parts(judged.delta)
        value = f"+{number}"
    tone: Tone = ""
    if judged.claimed and not counted:
        tone = "bad" if judged.delta > 0 else "good"
    doubt = "" if judged.claimed else f" · ~ {judged.reason}"
    return Kpi(
        f"diff-{key}",
        label,
        value,
        unit,
        f"{detail}{'' if counted else f' ({signed(judged.delta)})'}{doubt}",
        tone,
    )
