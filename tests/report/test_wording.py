"""What the page and the terminal claim when device records are missing, and what the device is called."""

from __future__ import annotations

import pytest

from tests.analyses.making import analysed, call, copy, kernel, launch, note, op
from traceview.analyses import Analysis, Choice, analyze
from traceview.report import Report, build_report, render_html
from traceview.report.export import summary_document, summary_text
from traceview.report.view import FactsView, SectionView, SplitBar, SplitView, TableView, TimelineView


def lossy() -> Analysis:
    """Return a trace with a launch of which the device has no record."""
    lost = [launch(10 + i, 1, 100 + i) for i in range(5)]
    found = [launch(100, 5, 1), kernel("k_gemm", 110, 40, 1), launch(120, 5, 2), kernel("k", 200, 60, 2)]
    return analysed(op("a", 1, 300), *lost, *found, copy(300, 20), op("z", 5000, 10))


def host_only() -> Analysis:
    return analysed(note("model", 1, 90), op("aten::mm", 2, 40), op("aten::add", 50, 20))


def launched_only() -> Analysis:
    return analysed(op("aten::mm", 1, 90), launch(5, 3, 1), launch(20, 4, 2), op("z", 5000, 10))


def section(report: Report, wanted: str) -> SectionView:
    return next(s for s in report.sections if s.id == wanted)


def bar(report: Report) -> SplitBar:
    return next(b for b in section(report, "gpu-time").blocks if isinstance(b, SplitView)).bars[0]


def table(report: Report, wanted: str) -> TableView:
    blocks = [b for s in report.sections for b in s.blocks if isinstance(b, TableView)]
    return next(b for b in blocks if b.id == wanted)


def test_without_all_records_no_share_of_the_span_and_no_idle_time_is_claimed() -> None:
    analysis = lossy()
    assert analysis.facts["utilisation_reliable"] is False
    report = build_report(analysis)
    numbers = {k.id: k for k in report.kpis}
    assert (numbers["busy"].value, numbers["busy"].unit) == ("?", "")
    assert "at least" in numbers["busy"].detail
    assert numbers["idle"].label == "Idle or not recorded"
    assert "at least" in numbers["kernels"].detail
    assert "recorded" in numbers["top"].detail
    assert "%" not in numbers["exposed"].detail
    parts = bar(report).parts
    assert [p.label for p in parts][-1] == "idle or not recorded"
    assert {p.share for p in parts} == {""}
    assert "5 of 7 launches without a device record" in section(report, "gpu-time").note
    assert analysis.facts["idle_us"] == 90


def test_the_terminal_claims_no_more_than_the_page() -> None:
    block = next(b for b in summary_text(lossy()).split("\n\n") if b.startswith("GPU time"))
    assert "at least" in block
    assert "idle or not recorded" in block
    assert "%" not in block


def test_with_all_records_shares_are_told() -> None:
    report = build_report(analysed(launch(1, 2, 1), kernel("k", 5, 10, 1), kernel("k", 20, 10)))
    assert {k.label for k in report.kpis} >= {"GPU busy", "GPU idle"}
    assert all(p.share for p in bar(report).parts)


def test_launches_without_any_record_are_said_to_be_unrecorded() -> None:
    report = build_report(launched_only())
    assert report.verdict == "No device records: 2 launches, none recorded; GPU time unknown."
    assert section(report, "gpu-time").empty.startswith("No device records: 2 launches")
    assert next(k for k in report.kpis if k.id == "busy").value == "?"
    facts = next(b for b in section(report, "launches").blocks if isinstance(b, FactsView)).facts
    assert {f.label for f in facts} == {"CPU launch time", "Launches without record"}
    assert [c.key for c in table(report, "launch-calls").columns][-1] == "cpu_median"
    assert "none has a device record" in summary_text(launched_only())
    assert "No GPU work in this trace" not in render_html(report) + summary_text(launched_only())


@pytest.mark.parametrize("analysis", [host_only(), launched_only()], ids=["no launch", "launches"])
def test_without_device_records_operators_have_no_device_columns(analysis: Analysis) -> None:
    report = build_report(analysis)
    view = table(report, "operators")
    assert [c.key for c in view.columns] == ["name", "kind", "calls", "cpu_self", "cpu_total"]
    assert "GPU" not in section(report, "operators").note + view.base + view.others
    block = next(b for b in summary_text(analysis).split("\n\n") if b.startswith("Operators"))
    assert "GPU" not in block
    assert "device" not in block.lower()


def test_totals_of_operators_say_whose_launches_they_hold() -> None:
    report = build_report(analysed(note("step", 1, 90), launch(5, 3, 1), kernel("k", 20, 9, 1)))
    view = table(report, "operators")
    assert "same thread" in view.base
    assert "same thread" in view.columns[-1].meaning


def test_the_terminal_says_the_kind_of_operators() -> None:
    text = summary_text(analysed(note("step", 1, 90), op("a", 2, 5), kernel("k", 20, 9)))
    lines = next(b for b in text.split("\n\n") if b.startswith("Operators")).splitlines()
    assert lines[1].split()[-2:] == ["kind", "name"]
    assert {tuple(line.split()[-2:]) for line in lines[2:]} >= {("annotation", "step"), ("op", "a")}


def test_others_name_the_column_they_add() -> None:
    analysis = analysed(*[kernel(f"k{i}", 1 + 10 * i, 5) for i in range(4)], op("a", 1, 5), op("b", 10, 5))
    text = summary_text(analysis, 1)
    assert "  and 3 other names, sum 15.0 µs together" in text


def test_percent_columns_name_their_base() -> None:
    report = build_report(analysed(kernel("k", 1, 5), kernel("m", 10, 5), copy(20, 10)))
    assert table(report, "kernels").base.startswith("Share % is of 10.0 µs, the summed time of 2 kernels")
    assert table(report, "categories").base.startswith("Share % is of 20.0 µs, the summed time of all device")
    page = render_html(report)
    for view in (b for s in report.sections for b in s.blocks if isinstance(b, TableView)):
        assert not any(c.form == "share" for c in view.columns) or view.base in page


def test_the_trace_and_the_time_of_the_device_have_different_words() -> None:
    analysis = analysed(op("a", 1, 1000), kernel("k", 5, 10), kernel("k", 25, 10))
    report = build_report(analysis)
    assert {c.label: c.text for c in report.chips}["trace"] == "1.00 ms"
    assert "of the 30.0 µs from first to last GPU work" in report.verdict
    assert "span" not in {c.label for c in report.chips}


def stepped() -> Analysis:
    """Return steps of 100 us of which 50 are busy and 10 copies, behind a warm-up of 1000 us with 100 of work."""
    events = [launch(1, 2, 99), kernel("warm-up", 10, 100, 99)]
    for i in range(3):
        at = 1000 + 100 * i
        events += [
            note(f"ProfilerStep#{i}", at, 100),
            launch(at + 1, 1, 2 * i),
            kernel("k", at + 10, 40, 2 * i),
        ]
        events += [call("cudaMemcpyAsync", at + 3, 1, 2 * i + 1), copy(at + 50, 10, 2 * i + 1)]
    return analysed(*events)


def test_busy_and_exposed_shares_are_of_the_step_windows_where_there_are_some_and_say_so() -> None:
    # windows: 1010 to 1110, to 1210, and open to 1260: 250 us, busy 150, of that 30 copying; in all 250 of 1250
    analysis = stepped()
    assert analysis.busy_share == 0.6
    assert analysis.facts["utilisation"] == 0.2
    report = build_report(analysis)
    said = "The GPU was busy 60.0 % of the 250 µs in step windows, and idle for 100 µs; 30.0 µs was copying"
    assert report.verdict.startswith(said)
    numbers = {k.id: k for k in report.kpis}
    assert (numbers["busy"].value, numbers["busy"].detail) == (
        "60.0",
        "150 µs of 250 µs in step windows · partly waiting",
    )
    assert (numbers["idle"].value, numbers["idle"].detail) == ("100", "of 250 µs in step windows")
    assert numbers["exposed"].detail.startswith("12.0 % of 250 µs in step windows")
    text = summary_text(analysis)
    assert said in text
    block = next(b for b in text.split("\n\n") if b.startswith("GPU time")).splitlines()
    assert "shares of the step windows or time from first to last work" in block[0]
    assert [" ".join(line.split()[1:5]) for line in block[2:]] == [
        "step windows 250 µs",
        "first to last 1.25",
    ]
    document = summary_document(analysis)["window_time"]
    assert [(row["span_us"], row["busy_us"]) for row in document] == [(250, 150)]


def test_the_page_splits_both_the_windows_and_the_time_from_first_to_last_work() -> None:
    bars = next(
        b for b in section(build_report(stepped()), "gpu-time").blocks if isinstance(b, SplitView)
    ).bars
    assert [b.base for b in bars] == [
        "100 % = 250 µs in step windows",
        "100 % = 1.25 ms from its first to its last device record",
    ]
    assert [b.parts[-1].share for b in bars] == ["40.0 %", "80.0 %"]


def test_a_selection_tells_of_its_windows_only() -> None:
    trace = stepped().trace
    selected = analyze(trace, choice=Choice(1, 1))
    assert "busy 50.0 % of the 100 µs in step windows" in summary_text(selected)
    assert "first to last" not in summary_text(selected)
    assert bar(build_report(selected)).base == "100 % = 100 µs in step windows"


def test_without_steps_shares_are_of_the_time_from_first_to_last_work_and_say_so() -> None:
    analysis = analysed(kernel("k", 5, 10), copy(25, 10))
    assert not analysis.in_windows
    numbers = {k.id: k for k in build_report(analysis).kpis}
    assert numbers["busy"].detail.startswith("20.0 µs of 30.0 µs from first to last work")
    assert numbers["exposed"].detail.startswith("33.3 % of 30.0 µs from first to last work")


def test_another_accelerator_is_not_called_a_gpu() -> None:
    events = [
        {**kernel("k", 5, 10), "cat": "mtia_ccp_events"},
        {**kernel("m", 25, 10), "cat": "mtia_ccp_events"},
        op("a", 1, 90),
    ]
    analysis = analysed(*events)
    report = build_report(analysis)
    assert len(analysis.gpu_time) == 1
    assert "GPU" not in report.verdict
    assert not [k.label for k in report.kpis if "GPU" in k.label]
    assert section(report, "gpu-time").title == "Device time"
    assert "GPU" not in summary_text(analysis)
    timeline = section(report, "timeline").blocks[0]
    assert isinstance(timeline, TimelineView)
    assert next(lane.label for lane in timeline.lanes) == "Device 0 · stream 7"


def test_records_without_a_time_claim_no_busy_time() -> None:
    report = build_report(analysed(kernel("k", 0, 0), op("a", 1, 5), call("cudaFree", 3, 1)))
    assert "cannot be told" in report.verdict
