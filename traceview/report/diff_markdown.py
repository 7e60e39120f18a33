"""A comparison as Markdown for a pull request: a marker for a sticky comment, the verdict, gates, headlines, the cause.

What is folded below are the tables of the page. Names and gates stand in code spans.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from traceview.diff.changes import CallChange, Statement, categories, statements
from traceview.diff.claims import COUNTS, Judgement
from traceview.diff.comparability import FINE, REFUSED
from traceview.diff.compare import Diff, Row
from traceview.diff.gates import FAIL, UNPROVEN, Outcome
from traceview.report.diff_text import NAMES, change_text, headline_keys
from traceview.report.markdown import LIMIT, Part, assembled, code_span, folded_tables, grid, plainly
from traceview.report.view import Report
from traceview.units import count, duration, share, shown

_MARKS = {FAIL: "❌", UNPROVEN: "⚠", "pass": "✅"}
_ABOVE = ("gates", "timeline")  # sections that the head tells, or that need the page
_UNIT_NAMES = {"step": "per complete step", "call": "as if both runs had made the mean number of calls", "total": "of the whole runs"}  # fmt: skip


def diff_markdown(report: Report, diff: Diff, outcomes: Sequence[Outcome]) -> str:
    """Return the comparison in at most LIMIT characters."""
    parts = [
        f"<!-- traceview:diff:{_key(diff)} -->\n{_heading(report, diff, outcomes)}",
        "\n".join(_gate(o) for o in outcomes),
        _headlines(diff, outcomes),
        _cause(diff),
        _care(diff),
        _sides(diff),
    ]
    return assembled("\n\n".join(p for p in parts if p), _parts(report, diff), report, LIMIT)


def _key(diff: Diff) -> str:
    """Return a key that is the same for each comparison with this base, so that a comment can be replaced."""
    return hashlib.sha256(diff.base.label.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def _heading(report: Report, diff: Diff, outcomes: Sequence[Outcome]) -> str:
    mark = next((_MARKS[s] for s in (FAIL, UNPROVEN, "pass") if any(o.state == s for o in outcomes)), "")
    if diff.comparability.verdict == REFUSED and not outcomes:
        mark = "⛔"
    return f"### {mark} traceview: {plainly(report.verdict)}".replace("###  ", "### ")


def _gate(outcome: Outcome) -> str:
    return f"- {_MARKS[outcome.state]} {code_span(outcome.gate.text)} {outcome.state}: {plainly(outcome.why)}"


def _headlines(diff: Diff, outcomes: Sequence[Outcome]) -> str:
    """Return the table of headlines, each with its gates; what was measured once says so."""
    keys = headline_keys(diff)
    judged = [(key, diff.headlines[key]) for key in keys] or _totals(diff)
    rows = [_headline(diff, key, found, outcomes) for key, found in judged if found.base or found.new]
    head = ("metric", "base", "new", "Δ", "Δ %", "gate")
    return grid(head, (":--", "--:", "--:", "--:", "--:", ":--"), rows) if rows else ""


def _totals(diff: Diff) -> list[tuple[str, Judgement]]:
    """Return what both runs took as a whole, where there are no steps."""
    left, right = diff.measured
    return [
        (k, Judgement("", left.totals[k] / left.units, right.totals[k] / right.units, reason="measured once"))
        for k in NAMES
        if k in left.totals and k in right.totals
    ]


def _headline(diff: Diff, key: str, found: Judgement, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    counted = key in COUNTS
    sides = [count(round(v)) if counted else duration(v) for v in (found.base, found.new)]
    part = found.delta / found.base if found.base else None
    sign = "+" if found.delta > 0 else "−" if found.delta < 0 else "±"
    doubt = "" if found.claimed or counted or not found.delta else "\\~ "
    name = f"{NAMES[key][:1].upper()}{NAMES[key][1:]}"
    if diff.per == "step":
        name += (
            f" (median of {count(len(diff.runs.base_all.steps))} and {count(len(diff.runs.new_all.steps))})"
            if key == "step_time"
            else ""
        )
    gates = [f"{_MARKS[o.state]} {code_span(o.gate.text, True)}" for o in outcomes if o.gate.metric == key]
    percent = f"{doubt}{sign}{share(abs(part))}" if part is not None else "–"
    return (name, *sides, change_text(found.delta, counted), percent, " ".join(gates))


def _cause(diff: Diff) -> str:
    """Name the largest change that goes the way of the headline; a likely cause only where both are claimed."""
    key = next((k for k in ("step_time", "kernel_time") if k in diff.headlines), None)
    head = diff.headlines[key].delta if key else float(sum(bar.delta for bar in categories(diff)))
    causes = [
        s for s in statements(diff) if not isinstance(s.about, str) and (not head or s.delta * head > 0)
    ]
    if key is None:  # the headline is that of work: idle time and host calls are none of it
        causes = [s for s in causes if isinstance(s.about, Row)]
    if not causes:
        return ""
    if head and key is not None and diff.headlines[key].claimed:
        likely = next((s for s in causes if s.claimed or isinstance(s.about, CallChange)), None)
        if likely is not None:
            return f"**Likely cause:** {said(likely)}"
    largest = max(causes, key=lambda s: (not head and s.claimed, abs(s.delta)))
    return f"**Largest change{'' if largest.claimed else ', not proven'}:** {said(largest)}"


def said(statement: Statement) -> str:
    """Return a sentence as Markdown: what it names in code spans."""
    about = statement.about
    names = [statement.name] if isinstance(about, Row | CallChange) else []
    if isinstance(about, CallChange) and about.op:
        names.append(shown(about.op, 80))
    return "".join(_pieces(statement.text, names))


def _pieces(text: str, names: Sequence[str]) -> Iterator[str]:
    """Cut a text at the first place of each name, in order."""
    for name in names:
        before, found, after = text.partition(name)
        if found and name:
            yield plainly(before)
            yield code_span(name)
            text = after
    yield plainly(text)


def _care(diff: Diff) -> str:
    found = diff.comparability
    if found.verdict in (FINE, REFUSED):
        return ""
    return f"⚠ With care: {'; '.join(plainly(reason) for reason in found.reasons)}."


def _sides(diff: Diff) -> str:
    labels = [code_span(shown(side.label, 120)) for side in (diff.base, diff.new)]
    devices = [side.conditions["device"] or "device not recorded" for side in (diff.base, diff.new)]
    told = [plainly(shown(d, 120)) for d in devices]
    where = f"{told[0]} (both)" if told[0] == told[1] else f"{told[0]} and {told[1]}"
    return f"base {labels[0]} · new {labels[1]} · {where} · figures {_UNIT_NAMES[diff.per]}"


def _parts(report: Report, diff: Diff) -> Iterator[Part]:
    """Return what is folded: the sentences, the largest changes of work, then the other tables."""
    if found := statements(diff):
        marks = ["=" if isinstance(s.about, CallChange) else "\\~" for s in found]
        lines = [
            f"- {'**claimed**' if s.claimed else m} {said(s)}" for s, m in zip(found, marks, strict=True)
        ]
        title = f"What changed ({len(found)})"
        below = "claimed: larger than the noise · \\~ not proven · = counted"
        yield Part(
            title,
            f"<details><summary>{title}</summary>\n\n" + "\n".join(lines) + f"\n\n{below}\n\n</details>",
        )
    ordered = sorted(report.sections, key=lambda s: s.id != "work")
    for section in ordered:
        if section.id not in _ABOVE:
            yield from folded_tables(section, report.names)
