"""A report as Markdown for a comment on a pull request: the verdict first, tables folded, never too long.

Names stand in code spans, all other texts are escaped: nothing that a trace names becomes a link, a
mention, a reference or HTML. What does not fit is left out in whole sections, and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from traceview.findings.document import escaped
from traceview.report.cells import cell_text, is_number, size_of, visible
from traceview.report.view import (
    Cell,
    Column,
    FindingsView,
    NameTable,
    Report,
    SectionView,
    SplitView,
    TableView,
)
from traceview.units import safe

LIMIT = 60_000  # characters; GitHub refuses comments beyond 65,536
TOP = 10  # rows of each table
_CLOSING = 1_000  # characters kept for the last lines
_PLAIN = re.compile(r"(?:[^\W_]|[ .,;%()+=\-−±→↔Δ·…'’/▲▼✓✗–]|:(?= |$))*")
_LINKED = re.compile(r"www\.|GH-", re.IGNORECASE)  # what GitHub makes links of without any sign


class Part(NamedTuple):
    """Hold a part that is kept or left out as a whole, and how to name it where it is left out."""

    title: str
    text: str


def report_markdown(report: Report, limit: int = LIMIT) -> str:
    """Return the report in at most `limit` characters."""
    return assembled(_head(report), _parts(report), report, limit)


def assembled(head: str, parts: Iterable[Part], report: Report, limit: int = LIMIT) -> str:
    """Return a head and as many whole parts as `limit` characters hold; what is left out is named."""
    kept, cut = [head], []
    room = limit - len(head) - _CLOSING
    for part in parts:
        size = len(part.text) + 2
        if size <= room:
            kept.append(part.text)
            room -= size
        else:
            cut.append(part.title)
    return "\n\n".join([*kept, _closing(report, cut)]) + "\n"


def plainly(text: str) -> str:
    """Return a text as it is where no sign of it could be Markdown, else escaped."""
    return text if _PLAIN.fullmatch(text) and not _LINKED.search(text) else escaped(text)


def code_span(text: str, in_table: bool = False) -> str:
    """Return a text as a code span, with a fence longer than any run of backquotes in it."""
    text = safe(text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    if text.startswith(("`", " ")) or text.endswith(("`", " ")) or not text:
        text = f" {text} "
    if in_table:  # a table takes the backslash away again, in code too
        text = text.replace("|", "\\|")
    return f"{fence}{text}{fence}"


def _head(report: Report) -> str:
    facts = " · ".join(plainly(f"{c.label} {c.text}") for c in report.chips)
    return "\n\n".join([f"### {plainly(report.verdict)}", f"**{plainly(report.title)}**", facts]).rstrip()


def _closing(report: Report, cut: Sequence[str]) -> str:
    said = f"traceview {escaped(report.version)}"
    if not cut:
        return said
    left_out = "Left out to keep this comment short: " + ", ".join(cut)
    return f"{left_out[: _CLOSING - 200]}. The page has all of it.\n\n{said}"


def _parts(report: Report) -> Iterator[Part]:
    if report.banner:
        lines = [f"- ⚠ {escaped(line.text)} ({code_span(line.code)})" for line in report.banner]
        yield Part("warnings", "\n".join(lines))
    if report.kpis:
        yield Part("key figures", _kpis(report))
    for section in report.sections:
        for view in section.blocks:
            if isinstance(view, FindingsView):
                yield _findings(section, view)
    for section in report.sections:
        yield from folded_tables(section, report.names)


def _kpis(report: Report) -> str:
    rows = [
        (plainly(k.label), plainly(f"{k.value} {k.unit}".strip()), plainly(k.detail)) for k in report.kpis
    ]
    return grid(("figure", "value", "of"), (":--", "--:", ":--"), rows)


def _findings(section: SectionView, view: FindingsView) -> Part:
    rows = [
        (
            f"{f.mark} {f.severity}",
            f"{code_span(f.slug, True)} {escaped(f.sentence)}",
            escaped(f.stake) or "–",
            escaped(f.advice),
        )
        for f in view.findings
    ]
    lines = [f"**{escaped(section.title)}**", ""]
    if rows:
        lines += [grid(("severity", "finding", "time at stake", "what to do"), (":--",) * 4, rows), ""]
    lines += [escaped(text) for text in (section.note, f"{view.folded}.") if text]
    return Part(section.title, "\n".join(lines))


def folded_tables(section: SectionView, names: NameTable) -> Iterator[Part]:
    """Return the tables of a section, folded."""
    for view in section.blocks:
        if isinstance(view, SplitView) and view.bars:
            yield _details(section.title, _split(view), "")
        if isinstance(view, TableView) and view.rows:
            shown = min(len(view.rows), TOP)
            title = (
                f"{section.title}: {view.noun}"
                if view.noun.lower() != section.title.lower()
                else section.title
            )
            yield _details(f"{title} ({shown} of {len(view.rows):,})", _table(view, names), view.base)


def _details(title: str, table: str, base: str) -> Part:
    title = plainly(title)
    below = f"\n\n{plainly(base)}" if base else ""
    return Part(title, f"<details><summary>{title}</summary>\n\n{table}{below}\n\n</details>")


def _split(view: SplitView) -> str:
    rows = [
        (escaped(bar.label), escaped(bar.base), escaped(p.label), escaped(p.duration), escaped(p.share))
        for bar in view.bars[:TOP]
        for p in bar.parts
    ]
    return grid(("device", "of", "part", "time", "share"), (":--", ":--", ":--", "--:", "--:"), rows)


def _table(view: TableView, names: NameTable) -> str:
    chosen = visible(view)
    columns = [view.columns[i] for i in chosen]
    rows = [[_cell(row[i], view.columns[i], names) for i in chosen] for row in _largest(view)]
    align = ["--:" if is_number(c) else ":--" for c in columns]
    return grid([plainly(c.label) for c in columns], align, rows)


def _largest(view: TableView) -> list[tuple[Cell, ...]]:
    """Return the first rows in the order in which the page shows them."""
    column = view.columns[view.sort]
    if not view.sort or not is_number(column):
        return list(view.rows[:TOP])
    return sorted(view.rows, key=lambda row: -size_of(row[view.sort], column.form))[:TOP]


def _cell(cell: Cell, column: Column, names: NameTable) -> str:
    if column.form == "name" and isinstance(cell, int):
        return code_span(names.label(cell), True)
    text = cell_text(cell, column.form)
    if column.form != "text" or not text:
        return plainly(text)
    # what a trace names is a code span, easier to read than escapes
    return text if plainly(text) == text else code_span(text, True)


def grid(head: Sequence[str], align: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown already."""
    lines = [head, align, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
