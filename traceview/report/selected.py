"""What is shown where steps were chosen: the answers about them, under a title that says so."""

from __future__ import annotations

from dataclasses import replace

from traceview.analyses import Analysis
from traceview.report.title import default_title
from traceview.report.view import ReportOptions


def shown_of(analysis: Analysis) -> Analysis:
    """Return the answers to show to people: those about the chosen steps, where steps were chosen."""
    return analysis.selected or analysis


def title_of(analysis: Analysis, show_paths: bool = False) -> str:
    """Return the title of the trace, and which steps were chosen."""
    title = default_title(analysis.trace, show_paths)
    return title if analysis.selected is None else f"{title} · {analysis.selected.chosen}"


def options_of(analysis: Analysis, options: ReportOptions) -> ReportOptions:
    """Return options whose title says which steps were chosen, unless a title was asked for."""
    if analysis.selected is None or options.title:
        return options
    return replace(options, title=title_of(analysis, options.show_paths))
