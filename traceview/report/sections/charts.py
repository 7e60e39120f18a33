"""Charts: the pictures beside the tables, drawn by plotly in the browser."""

from __future__ import annotations

from traceview.report import figures
from traceview.report.context import NO_KERNELS, Context
from traceview.report.view import ChartsView, SectionView


def build(context: Context) -> SectionView:
    """Show launch time against kernel time, time by category, and the lengths of kernels."""
    analysis = context.analysis
    if not len(analysis.categories):
        return SectionView("charts", "Charts", empty=NO_KERNELS)
    made = (
        figures.launch_and_kernel_time(analysis, context.cost, context.labels),
        figures.time_by_category(analysis),
        figures.kernel_lengths(analysis.trace),
    )
    charts = tuple(chart for chart in made if chart is not None)
    note = "Every value of these charts stands in a table: kernels, categories. Hover a bar for its numbers."
    return SectionView("charts", "Charts", note, (ChartsView(charts),))
