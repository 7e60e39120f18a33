"""Colours by meaning: a token per category and kind; `templates/css/tokens.css` gives them their values."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.events import Kind
from traceview.report.view import Legend
from traceview.units import shown

TOKEN_OF_CATEGORY = {
    "GEMM / conv": "gemm",
    "attention": "attention",
    "normalisation / reduction": "norm",
    "elementwise": "elementwise",
    "collective": "collective",
    "copy / fill": "copy",
    "other": "other",
}
_EXTRA = ("extra0", "extra1", "extra2", "extra3")  # for categories of a user's own rules
_MOST_ADDED = 16  # a class is 5 bits wide; what is beyond is drawn as "other"
TOKEN_OF_KIND = {
    Kind.KERNEL: "other",
    Kind.COPY: "copy",
    Kind.FILL: "copy",
    Kind.DEVICE_NOTE: "annotation",
    Kind.SYNC_RECORD: "sync",
    Kind.DERIVED: "annotation",
    Kind.OP: "op",
    Kind.ANNOTATION: "annotation",
    Kind.PYTHON: "python",
    Kind.LAUNCH: "launch",
    Kind.RUNTIME: "runtime",
    Kind.OVERHEAD: "overhead",
    Kind.SPAN: "annotation",
    Kind.OTHER: "op",
}
_HOST = {
    "op": "CPU op",
    "launch": "launch call",
    "runtime": "other runtime call",
    "annotation": "annotation",
    "sync": "wait record",
    "python": "Python frame",
    "overhead": "profiler overhead",
}


def token(category: str, others: list[str]) -> str:
    """Return the colour token of a category; `others` are the categories that users added, in order."""
    known = TOKEN_OF_CATEGORY.get(category)
    return known or _EXTRA[others.index(category) % len(_EXTRA)]


def added(analysis: Analysis) -> list[str]:
    """Return the categories in use that a user's rules added, by name."""
    names = {str(c) for c in analysis.kernels.category} | {str(c) for c in analysis.categories.category}
    return sorted(names - TOKEN_OF_CATEGORY.keys())


def device_categories(analysis: Analysis) -> list[str]:
    """Return the categories that have a colour class of their own, in the order of the classes."""
    return [*TOKEN_OF_CATEGORY, *added(analysis)[:_MOST_ADDED]]


def classes(analysis: Analysis) -> tuple[Legend, ...]:
    """Return the colour classes of the timeline: categories of device work, then kinds of host slices."""
    others = added(analysis)
    device = [Legend(shown(c, 40), token(c, others)) for c in device_categories(analysis)]
    return (*device, *(Legend(label, name) for name, label in _HOST.items()))
