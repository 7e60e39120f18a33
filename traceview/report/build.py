"""Build the report: sections first, then the timeline within what is left of the page's size."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Protocol

from traceview import __version__
from traceview.analyses import Analysis
from traceview.report import html, kpis
from traceview.report.context import Context
from traceview.report.labels import labels_of
from traceview.report.names import NameBook
from traceview.report.sections import FINDINGS, SECTIONS
from traceview.report.selected import options_of, shown_of
from traceview.report.timeline import Timeline
from traceview.report.title import chips, title
from traceview.report.view import (
    TIMELINE_BUDGET,
    FindingsView,
    NameTable,
    Report,
    ReportOptions,
    SectionView,
    TableView,
    TimelineView,
)
from traceview.units import plural

PAGE_LIMIT = 2_450_000  # bytes; the promise is 2.5 MB
_FEWEST_ROWS = 25  # of a table, where longer ones would not fit
_LEAST_ROOM = 100_000  # bytes for the timeline
_TRIES = 4
_FULL = 0.7  # of the room is well used
_ASKED = "A larger timeline budget was asked for: this page may be larger than the usual 2.5 MB."


def build_report(analysis: Analysis, options: ReportOptions | None = None) -> Report:
    """Turn an analysis into the page's data; nothing is written and nothing is calculated twice."""
    options = options_of(analysis, options or ReportOptions())
    analysis = shown_of(analysis)
    labels = labels_of(analysis, options.show_paths)
    while True:
        context = Context(analysis, options, NameBook(labels), labels)
        made = _sections(context)
        context.names.mark()
        report = _without_timeline(context, tuple(made.values()))
        room = PAGE_LIMIT - html.size_without_slices(report)
        if options.top <= _FEWEST_ROWS or room - html.size_of_names(context.names.table()) > _LEAST_ROOM:
            break
        options = replace(options, top=max(options.top // 4, _FEWEST_ROWS))  # rows of texts beyond measure
    timeline = Timeline(context.analysis, _findings(made))
    view, names = fitted(timeline, context.names, options.timeline_budget, room)
    made["timeline"] = _timeline_section(view, names, options.timeline_budget > TIMELINE_BUDGET)
    return replace(report, sections=tuple(made[s.id] for s in SECTIONS), names=names)


def _sections(context: Context) -> dict[str, SectionView]:
    """Return the sections but the timeline; findings are last, because they point to rows of the others."""
    made: dict[str, SectionView] = {}
    for section in sorted(SECTIONS, key=lambda s: s.id == FINDINGS):
        if section.build is not None:
            view = made[section.id] = section.build(context)
            context.tables.update({b.id: (section.id, b) for b in view.blocks if isinstance(b, TableView)})
    return {s.id: made[s.id] for s in SECTIONS if s.id in made}


def _without_timeline(context: Context, sections: tuple[SectionView, ...]) -> Report:
    analysis = context.analysis
    return Report(
        title=title(analysis.trace, context.options),
        verdict=kpis.verdict(analysis),
        chips=chips(analysis.trace),
        banner=kpis.banner(analysis),
        kpis=kpis.kpis(analysis, context.labels),
        sections=sections,
        names=context.names.uncut(),
        version=__version__,
    )


class Encodable(Protocol):
    """Can be encoded within a budget of items, again and again."""

    def view(self, names: NameBook, budget: int) -> TimelineView | None:
        """Return the timeline, its names added to the book; None where there is nothing to draw."""


def fitted(
    timeline: Encodable, book: NameBook, budget: int, room: int
) -> tuple[TimelineView | None, NameTable]:
    """Encode a timeline; where names and slices need more than `room` bytes, with a smaller budget.

    Of the budgets tried the largest that fits; the smallest where none does. Who asks for more than the
    default budget gets it, whatever the size.
    """
    fits, too_large = 0, 0
    if budget > TIMELINE_BUDGET:
        room = sys.maxsize
    for _ in range(_TRIES):
        names = book.copy()
        view, table = timeline.view(names, budget), names.table()
        if view is None:
            return view, table
        part = html.size_of_timeline(view) / max(room - html.size_of_names(table), 1)
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


def _findings(made: dict[str, SectionView]) -> FindingsView | None:
    blocks = made[FINDINGS].blocks if FINDINGS in made else ()
    return next((b for b in blocks if isinstance(b, FindingsView)), None)


def _timeline_section(view: TimelineView | None, names: NameTable, asked: bool) -> SectionView:
    if view is None:
        return SectionView("timeline", "Timeline", empty="No slice of this trace has a time to draw.")
    if names.shortened:
        cut = plural(names.shortened, "rare or long name")
        view = replace(view, note=f"{view.note} {cut} are cut in the middle to keep the page small.")
    if asked:
        view = replace(view, note=f"{view.note} {_ASKED}")
    return SectionView("timeline", "Timeline", blocks=(view,))
