"""traceview: tell people what their GPU really did.

The public verbs, in the order in which data flows: `read_trace` (bytes to columns), `analyze`
(columns to results), `check` (results to findings), `build_report` (results to plain data),
`render_html` (data to one page).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traceview.analyses import Analysis, analyze
    from traceview.errors import InputError, OutputError, TraceviewError, UsageError
    from traceview.events import Trace
    from traceview.findings import check
    from traceview.report.build import build_report
    from traceview.report.html import render_html
    from traceview.report.view import Report
    from traceview.sources import read_trace

__version__ = "0.1.0"

# each verb is imported where it is used, so that `traceview --help` does not wait for numpy
_HOMES = {
    "read_trace": "traceview.sources",
    "analyze": "traceview.analyses",
    "check": "traceview.findings",
    "build_report": "traceview.report.build",
    "render_html": "traceview.report.html",
    "Trace": "traceview.events",
    "Analysis": "traceview.analyses",
    "Report": "traceview.report.view",
    "TraceviewError": "traceview.errors",
    "InputError": "traceview.errors",
    "OutputError": "traceview.errors",
    "UsageError": "traceview.errors",
}

__all__ = [
    "Analysis",
    "InputError",
    "OutputError",
    "Report",
    "Trace",
    "TraceviewError",
    "UsageError",
    "__version__",
    "analyze",
    "build_report",
    "check",
    "read_trace",
    "render_html",
]


def __getattr__(name: str) -> Any:
    """Return a public name, importing its home the first time."""
    if name not in _HOMES:
        raise AttributeError(f"module 'traceview' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
