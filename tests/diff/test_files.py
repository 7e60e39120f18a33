"""A comparison as CSV, as Markdown and on a terminal."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from typing import Any

import pytest

from tests.diff.runs import run, side
from tests.report.test_markdown import HOSTILE, tokens
from traceview.diff.compare import Diff, compare
from traceview.diff.gates import judge, parse
from traceview.errors import UsageError
from traceview.report.csv_file import csv_text
from traceview.report.diff_csv import TABLES, checked_diff_table, diff_columns
from traceview.report.diff_markdown import diff_markdown
from traceview.report.diff_text import diff_blocks, diff_text
from traceview.report.diff_view import build_diff
from traceview.report.terminal import terminal_text

FORMULA = "=HYPERLINK(1)"


@cache
def example(evil: str = FORMULA) -> Diff:
    """Compare: mm 200 us slower by 60 us, one name that attacks 30 us on both sides, add on one side only."""
    base = [[("aten::mm", "gemm", 200.0 + i % 3), (evil, evil, 30.0)] for i in range(10)]
    new = [
        [("aten::mm", "gemm_fast", 260.0 + i % 3), (evil, evil, 30.0), ("aten::add", "add", 20.0)]
        for i in range(10)
    ]
    return compare([side(run(base), "base")], [side(run(new), "new")])


def rows_of(table: str, diff: Diff) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(diff_columns(diff, table)))))


def test_the_work_of_both_sides_is_a_table_of_exact_numbers() -> None:
    found = {row["label"]: row for row in rows_of("work", example())}
    mm, add = found["aten::mm"], found["add"]
    assert float(mm["change_ns"]) == 60_000
    assert mm["verdict"] == "slower"
    assert (mm["base_calls"], mm["new_calls"]) == ("1", "1")
    assert float(mm["change_share"]) == pytest.approx(60_000 / float(mm["base_ns"]))
    assert (add["base_ns"], add["new_ns"], add["verdict"], add["change_share"]) == ("0", "20000", "new", "")


def test_no_name_is_a_formula_for_a_spreadsheet() -> None:
    for table in TABLES:
        for row in rows_of(table, example()):
            assert not any(cell.startswith(("=", "@")) for cell in row.values()), table
    assert f"'{FORMULA}" in {row["label"] for row in rows_of("work", example())}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_rows_units_and_meanings(table: str) -> None:
    columns = diff_columns(example(), table)
    assert all(c.meaning for c in columns)
    assert len({c.name for c in columns}) == len(columns)
    if table not in ("idle",):
        assert rows_of(table, example())


def test_a_table_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError) as raised:
        checked_diff_table("nonsense")
    assert "headlines" in str(raised.value.hint)


def markdown(diff: Diff, *gates: str) -> str:
    outcomes = judge([parse(gate) for gate in gates], diff)
    return diff_markdown(build_diff(diff, outcomes), diff, outcomes)


def test_gates_stand_readable_at_their_metric_and_in_a_line_of_their_own() -> None:
    text = markdown(example(), "gpu_busy>5%", "step_time>5%", "kernel:gemm>1ms")
    lines = text.splitlines()
    assert lines[0].startswith("<!-- traceview:diff:")
    assert lines[1].startswith("### ❌ traceview: Step time")
    assert any(line.startswith("- ❌ `gpu_busy>5%` fail: ") for line in lines)
    assert any(line.startswith("- ✅ `kernel:gemm>1ms` pass: ") for line in lines)
    (head,) = [line for line in lines if line.startswith("| metric ")]
    assert [c.strip() for c in head.strip("|").split("|")] == ["metric", "base", "new", "Δ", "Δ %", "gate"]
    busy = next(line for line in lines if line.startswith("| GPU busy "))
    cells = [c.strip() for c in busy.strip("|").split("|")]
    assert cells[3] == "+80.0 µs"  # 60 of mm, 20 of add
    assert cells[5] == "❌ `gpu_busy>5%`"


def cause_of(diff: Diff) -> str:
    return next(line for line in markdown(diff).splitlines() if line.startswith(("**Likely", "**Largest")))


def test_where_step_time_stays_the_largest_claim_is_told_and_no_cause() -> None:
    base = [[("aten::mm", "gemm", 300.0 + i % 3), ("aten::add", "add", 90.0)] for i in range(10)]
    new = [[("aten::mm", "gemm", 200.0 + i % 3), ("aten::add", "add", 140.0)] for i in range(10)]
    assert cause_of(compare([side(run(base))], [side(run(new))])).startswith(
        "**Largest change:** `aten::mm` −100 µs"
    )


def test_the_claimed_change_that_goes_the_way_of_step_time_is_its_likely_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steps get 200 us longer, mm takes 250 us more and add 50 us less."""
    base = run([[("aten::mm", "gemm", 200.0 + i % 3), ("aten::add", "add", 90.0)] for i in range(10)])
    monkeypatch.setattr("tests.diff.runs.STEP", 1200.0)
    new = run([[("aten::mm", "gemm", 450.0 + i % 3), ("aten::add", "add", 40.0)] for i in range(10)])
    assert cause_of(compare([side(base)], [side(new)])).startswith("**Likely cause:** `aten::mm` +250 µs")


def test_nothing_that_is_compared_becomes_markup_a_mention_or_a_reference() -> None:
    text = markdown(example(HOSTILE), "gpu_busy>5%", "op:.*team.*>1ms")
    kinds = {t.type for t in tokens(text)}
    assert not kinds & {"link_open", "image"}
    html = [t.content for t in tokens(text) if t.type in ("html_inline", "html_block")]
    allowed = (
        r"(?:<details><summary>[^<>]*</summary>|</details>|<!-- traceview:diff:[0-9a-f]{12} -->[^<>]*)\s*"
    )
    assert all(re.fullmatch(allowed, h) for h in html), html
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for piece in ("@", "GH-1", "https:", "www.", "<img", "\u202e"):
        assert piece not in outside_code, piece
    assert len(text) <= 60_000


def test_a_pipe_gets_plain_lines_and_a_terminal_what_fits_it() -> None:
    plain = diff_text(example(HOSTILE), (), 10)
    assert "\u202e" not in plain
    assert "\x1b" not in plain
    assert plain.splitlines()[0] == "base → new"
    assert any(line.startswith("  * aten::mm") for line in plain.splitlines())
    fitted = terminal_text(diff_blocks(example(), (), 10), 60, colours=False)
    assert max(map(len, fitted.splitlines())) <= 60
    assert "\x1b" not in fitted
    assert "\x1b[1m" in terminal_text(diff_blocks(example(), (), 10), 60, colours=True)


def test_every_line_of_work_tells_whether_it_is_claimed() -> None:
    blocks = diff_blocks(example(), (), 10)
    work: Any = next(b for b in blocks if b.head[-1:] == ("calls",))
    assert {row[0][:2] for row in work.rows} <= {"* ", "~ "}
