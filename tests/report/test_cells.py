"""Cells as text: signed changes always say their sign, and hidden columns stay away from paper."""

from __future__ import annotations

import re

import pytest

from traceview.report import Report, render_html
from traceview.report.cells import cell_text, direction, size_of
from traceview.report.markdown import report_markdown
from traceview.report.view import Cell, Column, SectionView, TableView

CHANGES = TableView(
    "changes",
    "changes",
    (
        Column("what", "What", "text"),
        Column("delta", "Change ms", "change_ms", bar=True),
        Column("calls", "Calls", "change_count", hidden=True),
        Column("part", "Change %", "change_share"),
    ),
    (("slower", 2_000_000, 3, 0.25), ("faster", -5_000_000, -1, -0.5), ("same", 0, 0, 0.0), ("gone", None, None, None)),
    sort=1,
)  # fmt: skip
REPORT = Report("changes", "", sections=(SectionView("changes", "Changes", blocks=(CHANGES,)),))


@pytest.mark.parametrize(
    ("cell", "form", "text"),
    [
        (1_234_567_890, "change_ms", "+1,234.568"),
        (-1_500_000, "change_ms", "−1.500"),
        (0, "change_ms", "±0.000"),
        (-250, "change_us", "−0.25"),
        (1_204, "change_count", "+1,204"),
        (-3, "change_count", "−3"),
        (0, "change_count", "±0"),
        (0.068, "change_share", "+6.8"),
        (-0.068, "change_share", "−6.8"),
        (-0.0001, "change_share", "−< 0.1"),
        (None, "change_share", "–"),
    ],
)
def test_a_change_says_its_sign(cell: Cell, form: str, text: str) -> None:
    assert cell_text(cell, form) == text


def test_a_change_is_sorted_by_its_size_and_classed_by_its_sign() -> None:
    assert size_of(-5, "change_ms") > size_of(2, "change_ms")
    assert size_of(-5, "ms") < size_of(2, "ms")
    assert size_of(None, "change_ms") < size_of(0, "change_ms")
    assert [direction(v, "change_us") for v in (3, -3, 0, None)] == ["rise", "fall", "", ""]
    assert direction(3, "us") == ""


def test_without_scripts_and_in_markdown_a_hidden_column_is_not_shown() -> None:
    page = render_html(REPORT)
    table = re.search(r'data-table="changes">.*?</table>', page, re.DOTALL)
    assert table is not None
    assert re.findall(r"<th[^>]*>([^<]*)</th>", table.group()) == ["What", "Change ms", "Change %"]
    assert "+2.000" in table.group()
    assert "+3" not in table.group()
    text = report_markdown(REPORT)
    assert "| What | Change ms | Change % |" in text
    assert text.index("faster") < text.index("slower") < text.index("same") < text.index("gone")
