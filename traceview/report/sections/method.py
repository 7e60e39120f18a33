"""Method and data quality: definitions, what was read and what was not used, where the trace comes from."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from traceview import __version__
from traceview.report.context import Context
from traceview.report.view import (
    Block,
    Cell,
    Column,
    CopiesView,
    DefinitionsView,
    Fact,
    FactsView,
    SectionView,
    TableView,
)
from traceview.units import count, shown

DEFINITIONS = (
    ("busy", "union of the intervals of kernels, copies and fills of a device, over all its streams"),
    ("trace", "first start to last end of all slices of the file, the profiler's own marks included"),
    ("span", "first start to last end of a device's work, on the device's clock"),
    ("idle", "span − busy"),
    (
        "idle or not recorded",
        (
            "the same where launches lack their device records: what ran without a record looks like idle time, so "
            "busy time is a least and no share of the span is told"
        ),
    ),
    (
        "busy share, exposed share",
        (
            "of the time in step windows, over all devices that have some; without steps of the time from first to last "
            "work. A step's window on a device runs from its first record of any length on the device's main stream to "
            "the next step's first one there; the last one ends with the step's own work"
        ),
    ),
    ("sum", "added durations; parallel work counts as often as it runs, so a sum may exceed the span"),
    (
        "exposed",
        "not hidden: time in which nothing of higher priority runs (compute, collective, copy, fill)",
    ),
    (
        "utilisation",
        "busy ÷ span, over all devices; not told when under 99 % of launches have device records",
    ),
    ("self, total", "as in key_averages(): self is without children, total with them"),
    (
        "short names",
        (
            "a kernel is shown as its function and, in ‹ ›, what its template arguments say: operation and number "
            "type. Where several kernels would look alike, [128·7] holds the template values that differ, in their "
            "order; where these do not tell them apart, #1, #2, … numbers them by full name. A label means the same "
            "kernel in every table, chart, timeline and in the terminal; other names are only cut in the middle"
        ),
    ),
    (
        "step time",
        (
            "the device period (a step's first record on the main stream to that of the next step) where two or more "
            "complete steps have one, else wall time on the host; the median leaves out incomplete steps, outliers "
            "and the last step, which no other closes"
        ),
    ),
    ("gap", "a stretch of a device's span without work on any stream; its parts by cause add up to it"),
    (
        "idle caused by a wait, at most",
        (
            "of the gap that opens while the host waits: the smaller of its slices of waiting and of a late host, and "
            "the time for which the host had been blocked by then; a bound, not to be added to other bounds"
        ),
    ),
    ("percentiles", "of the single durations, linear between neighbours"),
    ("time", "whole nanoseconds from the trace's first event; rounded only where it is shown"),
)
_LONGEST_COMMAND = 2_000
_COUNTED = (Column("what", "Reason", "text"), Column("count", "Events", "count", bar=True))
_NOTICES = (
    Column("code", "Code", "text"),
    Column("level", "Level", "text"),
    Column("count", "Count", "count"),
    Column("message", "What it means", "text"),
)


def build(context: Context) -> SectionView:
    """Account for every event, list notices, define the words, describe the trace."""
    account = context.trace.account
    ignored = sum(account.ignored.values())
    facts = (
        Fact("Events read", count(account.events_read), "every element of the file's event list"),
        Fact("Used", count(account.used)),
        Fact("Ignored", count(ignored), "read = used + ignored, by reason below"),
        Fact("Mended", count(sum(account.mended.values())), "used after a repair, counted by kind"),
    )
    blocks: list[Block] = [FactsView("Account of events", facts)]
    if account.ignored:
        blocks.append(_counted("ignored", "reasons for ignored events", account.ignored))
    if account.mended:
        blocks.append(_counted("mended", "kinds of repair", account.mended))
    notices = context.analysis.warnings
    if notices:
        rows: list[tuple[Cell, ...]] = [(n.code, n.level, n.count, shown(n.message, 1000)) for n in notices]
        blocks.append(TableView("notices", "notices", _NOTICES, tuple(rows), sort=1, page=10))
    blocks.append(DefinitionsView("Words", DEFINITIONS))
    blocks.append(DefinitionsView("Trace", _provenance(context)))
    blocks.append(_texts(context))
    if context.trace.meta.conditions:
        blocks.append(DefinitionsView("Conditions", _conditions(context)))
    return SectionView("method", "Method", blocks=tuple(blocks))


def _texts(context: Context) -> CopiesView:
    """Return what is worth copying: the command, and the key facts as the JSON summary has them."""
    single = {
        key: shown(value) if isinstance(value, str) else value
        for key, value in context.analysis.facts.items()
        if not isinstance(value, dict | list)
    }
    facts = {"schema": "traceview.summary/1", "version": __version__, "facts": single}
    told = orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode("utf-8")
    command = shown(context.options.command, _LONGEST_COMMAND)
    return CopiesView(((("Command", command),) if command else ()) + (("Key facts as JSON", told),))


def _conditions(context: Context) -> tuple[tuple[str, str], ...]:
    """Return what was noted beside the trace when it was captured."""
    return tuple((shown(k), shown(v)) for k, v in context.trace.meta.conditions.items())


def _counted(table: str, noun: str, counts: Mapping[str, int]) -> TableView:
    rows: list[tuple[Cell, ...]] = [
        (shown(str(k)), int(v)) for k, v in sorted(counts.items(), key=lambda x: -x[1])
    ]
    return TableView(table, noun, _COUNTED, tuple(rows), sort=1, page=10)


def _provenance(context: Context) -> tuple[tuple[str, str], ...]:
    meta = context.trace.meta
    on = ", ".join(sorted(k for k, v in meta.switches.items() if v))
    off = ", ".join(sorted(k for k, v in meta.switches.items() if not v))
    lines = [
        ("format", meta.dialect + (f", schema {meta.schema_version}" if meta.schema_version else "")),
        ("versions", ", ".join(f"{k} {v}" for k, v in sorted(meta.versions.items()))),
        ("profiler switches on", on),
        ("profiler switches off", off),
        (
            "distributed",
            f"rank {meta.rank} of {meta.world_size}, {meta.backend}" if meta.rank is not None else "",
        ),
        ("synthetic", "made by a generator, not by hardware" if meta.synthetic else ""),
    ]
    return tuple((term, shown(text, 500)) for term, text in lines if text)
