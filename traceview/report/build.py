"""Build the report: sections first, then the timeline within what is left of the page's size."""

from __future__ import annotations

from dataclasses import replace

from traceview import __version__
from traceview.analyses import Analysis
from traceview.report import html, kpis
from traceview.report.context import Context
from traceview.report.labels import labels_of
from traceview.report.names import NameBook
from traceview.report.sections import SECTIONS
from traceview.report.selected import options_of, shown_of
from traceview.report.timeline import Timeline
from traceview.report.title import chips, title
from traceview.report.view import NameTable, Report, ReportOptions, SectionView, TimelineView
from traceview.units import plural

PAGE_LIMIT = 2_450_000  # bytes; the promise is 2.5 MB
_TRIES = 4
_FULL = 0.7  # of the room is well used


def build_report(analysis: Analysis, options: ReportOptions | None = None) -> Report:
    """Turn an analysis into the page's data; nothing is written and nothing is calculated twice."""
    options = options_of(analysis, options or ReportOptions())
    analysis = shown_of(analysis)
    labels = labels_of(analysis, options.show_paths)
    context = Context(analysis, options, NameBook(labels), labels)
    made = {s.id: s.build(context) for s in SECTIONS if s.build is not None}
    context.names.mark()
    report = Report(
        title=title(analysis.trace, options),
        verdict=kpis.verdict(analysis),
        chips=chips(analysis.trace),
        banner=kpis.banner(analysis),
        kpis=kpis.kpis(analysis, labels),
        sections=tuple(made.values()),
        version=__version__,
    )
    view, names = _timeline(context, PAGE_LIMIT - html.size_without_slices(report))
    made["timeline"] = _timeline_section(view, names)
    return replace(report, sections=tuple(made[s.id] for s in SECTIONS), names=names)


def _timeline(context: Context, room: int) -> tuple[TimelineView | None, NameTable]:
    """Encode the timeline; where names and slices need more than `room` bytes, with a smaller budget.

    Of the budgets tried the largest that fits; the smallest where none does.
    """
    timeline = Timeline(context.analysis)
    budget, fits, too_large = context.options.timeline_budget, 0, 0
    for _ in range(_TRIES):
        names = context.names.copy()
        view, table = timeline.view(names, budget), names.table()
        if view is None:
            return view, table
        part = len(view.payload) / max(room - html.size_of_names(table), 1)
        if part <= 1:
            best, fits = (view, table), budget
            if not too_large or part > _FULL:
                break
        else:
            too_large = budget
            if not fits:
                best = view, table
        budget = (fits + too_large) // 2 if fits else int(min(budget, view.layout["items"]) * 0.9 / part)
    return best


def _timeline_section(view: TimelineView | None, names: NameTable) -> SectionView:
    if view is None:
        return SectionView("timeline", "Timeline", empty="No slice of this trace has a time to draw.")
    if names.shortened:
        cut = plural(names.shortened, "rare or long name")
        view = replace(view, note=f"{view.note} {cut} are cut in the middle to keep the page small.")
    return SectionView("timeline", "Timeline", blocks=(view,))
