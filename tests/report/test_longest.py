"""The row of a copy or a collective leads to its longest record."""

from __future__ import annotations

from tests.analyses.making import analysed, call, copy, kernel, launch, note, op
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


def test_rows_of_kernels_operators_phases_and_waits_lead_to_the_longest_of_their_name() -> None:
    report = build_report(
        analysed(
            op("aten::mm", 0, 4),
            op("aten::mm", 10, 8),
            note("ProfilerStep#1", 0, 20),
            note("ProfilerStep#2", 20, 30),
            note("forward", 1, 15),
            launch(1, 1, 1),
            launch(11, 1, 2),
            launch(13, 1, 3),
            kernel("k", 20, 5, 1),
            kernel("k", 30, 9, 2),
            kernel("k", 30, 7, 3, stream=8),
            call("cudaStreamSynchronize", 21, 6),
            call("cudaStreamSynchronize", 40, 3),
        )
    )
    tables = {b.id: b for s in report.sections for b in s.blocks if isinstance(b, TableView)}

    def windows(table: str) -> dict[str, object]:
        view = tables[table]
        named = view.columns[0].form == "name"
        first = [report.names.texts[int(r[0] or 0)] if named else str(r[0]) for r in view.rows]
        assert view.shows.startswith("the longest ")
        return dict(zip(first, view.windows, strict=True))

    assert windows("kernels") == {"k": (30_000, 39_000)}
    streams = tables["kernels-by-stream"]
    by_stream = {row[2]: w for row, w in zip(streams.rows, streams.windows, strict=True)}
    assert by_stream == {"7": (30_000, 39_000), "8": (30_000, 37_000)}
    operators = windows("operators")
    assert operators["aten::mm"] == (10_000, 18_000)
    assert operators["ProfilerStep*"] == (20_000, 50_000)
    assert windows("phases")["forward"] == (1_000, 16_000)
    assert windows("syncs")["cudaStreamSynchronize"] == (21_000, 27_000)
