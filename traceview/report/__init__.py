"""From an analysis to what people read: view data, and the painters of it."""

from traceview.report.build import build_report
from traceview.report.html import render_html
from traceview.report.view import Report, ReportOptions

__all__ = ["Report", "ReportOptions", "build_report", "render_html"]
