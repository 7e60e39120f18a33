"""Tables as CSV and Parquet: full names, exact times, unknown is empty, and no formula."""

from __future__ import annotations

import csv
import dataclasses
import io

import pytest

from tests.analyses.making import analysed, copy, frame, kernel, launch, note, op
from traceview.analyses import Analysis
from traceview.errors import UsageError
from traceview.report.csv_file import csv_text, plain
from traceview.report.parquet import write_table
from traceview.report.result_tables import TABLES, checked_table, file_columns, file_name
from traceview.tables import UNITS, Table

LONG = "void at::native::vectorized_elementwise_kernel<4, " + "x" * 5000 + ">"


def something() -> Analysis:
    return analysed(
        note("ProfilerStep#1", 0, 300), op("aten::mm", 1, 90), frame("a.py(1): f", 2, 60),
        launch(5, 3, 1), kernel(LONG, 100, 10.001, 1), kernel("=cmd()", 150, 3), copy(170, 4),
    )  # fmt: skip


def rows(analysis: Analysis, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(file_columns(analysis, table)))))


def test_a_column_says_its_unit_once() -> None:
    named = [("sum", "ns"), ("bytes", "bytes"), ("share", "share"), ("bandwidth", "GB/s"), ("name", "text")]
    assert [file_name(*n) for n in named] == ["sum_ns", "bytes", "share", "bandwidth_gb_per_s", "name"]
    assert file_name("message", "bytes") == "message_bytes"
    assert {"ns", "bytes", "share", "GB/s"} <= UNITS


def test_names_are_whole_times_exact_and_what_is_unknown_is_empty() -> None:
    first, second = rows(something(), "kernels")
    assert (first["name"], first["sum_ns"]) == (LONG, "10001")
    assert second["name"] == "'=cmd()"
    (moved,) = rows(something(), "copies")
    assert (moved["bytes"], moved["bandwidth_gb_per_s"], moved["sum_ns"]) == ("", "", "4000")


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1"])
def test_a_text_that_a_spreadsheet_would_calculate_gets_an_apostrophe(text: str) -> None:
    assert plain(text).startswith("'")


@pytest.mark.parametrize("text", ["aten::mm", "<lambda>", "a=b", "(x)", ""])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert plain(text) == text


def test_invisible_characters_are_shown_as_text() -> None:
    assert plain("a\u202eb\x00\n") == "a\\u202eb\\u0000\\u000a"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_a_row_each_in_both_formats(table: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    analysis = something()
    columns = file_columns(analysis, table)
    assert len(rows(analysis, table)) == len(TABLES[table](analysis))
    file = io.BytesIO()
    write_table(file, columns, table)
    found = parquet.read_table(io.BytesIO(file.getvalue()))
    assert found.column_names == [c.name for c in columns]
    assert found.num_rows == len(TABLES[table](analysis))
    for column in columns:
        said = found.schema.field(column.name).metadata
        assert (said[b"unit"].decode(), said[b"meaning"].decode()) == (column.unit, column.meaning)
        values = found[column.name].to_pylist()
        for value, known, given in zip(values, column.known, column.values.tolist(), strict=True):
            assert value == given if known else value is None


def test_home_folders_are_hidden_unless_paths_are_asked_for() -> None:
    analysis = analysed(op("/home/somebody/a.py(3): f", 0, 9), kernel("k", 20, 1))
    assert "somebody" not in csv_text(file_columns(analysis, "operators"))
    assert "somebody" in csv_text(file_columns(analysis, "operators", show_paths=True))


def test_an_unknown_table_is_refused_with_those_there_are() -> None:
    assert checked_table(" GPU_time ") == "gpu-time"
    with pytest.raises(UsageError) as refused:
        checked_table("nope")
    assert all(name in str(refused.value) for name in TABLES)


def test_no_table_of_an_analysis_is_forgotten() -> None:
    analysis = something()
    tables = {id(make(analysis)) for make in TABLES.values()}
    fields = [getattr(analysis, f.name) for f in dataclasses.fields(analysis)]
    results = [f for f in fields if dataclasses.is_dataclass(f) and not isinstance(f, Table | Analysis)]
    inner = [v for f in results for v in vars(f).values()]
    left = [t for t in [*fields, *inner] if isinstance(t, Table) and id(t) not in tables]
    # the trace's own columns are the business of export; `steps` is part of step_windows; gap_slices of gaps
    assert {type(t).__name__ for t in left} <= {
        *("Slices", "Steps", "Flows", "Marks", "Counters", "Memory", "StepTimes", "GapSlices"),
    }
