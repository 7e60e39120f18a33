"""The row of a copy or a collective leads to its longest record."""

from __future__ import annotations

from tests.analyses.making import analysed, copy, kernel
from tests.pages import CPU_SAMPLE, report_of
from traceview.events import Kind
from traceview.report import build_report
from traceview.report.longest import longest_records
from traceview.report.view import TableView


def test_the_longest_record_of_a_name_is_found_the_first_of_equals_and_of_its_kind_only() -> None:
    trace = analysed(
        kernel("a", 1, 5), kernel("a", 10, 9), kernel("a", 30, 9), kernel("b", 50, 2), copy(60, 99)
    ).trace
    origin = [(9_000, 18_000), (49_000, 51_000), None, None]
    assert list(longest_records(trace, (Kind.KERNEL,), ["a", "b", "Memcpy HtoD", "c"])) == origin


def test_rows_of_copies_and_collectives_hold_the_window_of_their_longest_record() -> None:
    report = build_report(
        analysed(
            kernel("ncclDevKernel_AllReduce", 1, 5), kernel("ncclDevKernel_AllReduce", 20, 7), copy(40, 3)
        )
    )
    tables = {b.id: b for s in report.sections for b in s.blocks if isinstance(b, TableView)}
    assert tables["collectives"].windows == ((19_000, 26_000),)
    assert tables["copies"].windows == ((39_000, 42_000),)


def test_every_section_without_data_says_why_and_how_to_record_it() -> None:
    empty = {s.id: s.empty for s in report_of(CPU_SAMPLE).sections if s.empty}
    assert {"gpu-time", "kernels", "categories", "collectives", "copies", "gaps", "streams"} <= empty.keys()
    for section, text in empty.items():
        assert "ecord" in text or "--step-name" in text, (section, text)
        assert text.endswith("."), section
