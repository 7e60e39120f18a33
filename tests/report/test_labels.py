"""One label per name of a document, wherever the name is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.analyses.making import analysed, kernel, launch, op
from traceview.analyses import Analysis
from traceview.report import ReportOptions, build_report, render_html
from traceview.report.export import summary_text
from traceview.report.labels import Labels, fitted, labels_of
from traceview.report.view import ChartsView, Report, TableView

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::{}Functor<float>, std::array<char*, {}ul> >(int)"


def alike() -> Analysis:
    """Return kernels with one short name, in an order by time that is not that of their names."""
    names = [ADD.format("Add", i) for i in (2, 3, 4)]
    events = [op("vllm::moe_forward", 1, 90), op("aten::mm", 100, 50)]
    for i, name in enumerate(names):
        events += [launch(5 + 10 * i, 3, i), kernel(name, 200 + 100 * i, 10 + 10 * i, i)]
    return analysed(*events)


def tables(report: Report) -> dict[str, TableView]:
    blocks = [b for s in report.sections for b in s.blocks if isinstance(b, TableView)]
    return {b.id: b for b in blocks}


def shown(report: Report, table: str) -> list[str]:
    return [report.names.label(int(str(row[0]))) for row in tables(report)[table].rows]


def test_a_label_does_not_depend_on_the_rows_shown() -> None:
    analysis = alike()
    few, many = build_report(analysis, ReportOptions(top=1)), build_report(analysis)
    assert shown(few, "kernels") == shown(many, "kernels")[:1]
    assert len(set(shown(many, "kernels"))) == 3


def test_table_chart_key_number_and_terminal_show_one_label() -> None:
    analysis = alike()
    report = build_report(analysis)
    largest = shown(report, "kernels")[0]
    charts = [c for s in report.sections for b in s.blocks if isinstance(b, ChartsView) for c in b.charts]
    bars = next(c for c in charts if c.id == "chart-launch").figure
    tag = largest[largest.rindex(" ") :]
    assert bars["layout"]["yaxis"]["ticktext"][0].endswith(tag)
    assert bars["data"][0]["customdata"][0][0] == largest
    assert next(k for k in report.kpis if k.id == "top").detail.endswith(largest)
    assert largest in summary_text(analysis, 1)


def test_names_of_the_timeline_have_the_labels_of_the_tables() -> None:
    analysis = alike()
    report = build_report(analysis, ReportOptions(top=1))
    labels = labels_of(analysis)
    for text, label in zip(report.names.texts, report.names.labels, strict=True):
        if "vectorized" in text:
            assert label == labels.of(text)


def test_operators_keep_their_namespace() -> None:
    analysis = alike()
    assert {"vllm::moe_forward", "aten::mm"} <= set(shown(build_report(analysis), "operators"))
    assert "vllm::moe_forward" in summary_text(analysis)


def test_the_hover_of_a_bar_says_the_numbers_in_full() -> None:
    page = render_html(build_report(alike()))
    data = json.loads(re.search(r'id="tv-data">(.*?)</script>', page, re.DOTALL).group(1))  # type: ignore[union-attr]
    bars = next(c for c in data["charts"] if c["id"] == "chart-launch")
    texts = [t["customdata"][0][1] for t in bars["figure"]["data"]]
    assert texts == [
        "0.030 ms on the GPU: 50.0 % of kernel time, 1 call",
        "0.003 ms on the CPU to launch 1 call",
    ]


def test_a_label_is_cut_before_its_tag() -> None:
    label = "vectorized_elementwise ‹AddFunctor, f32› #12"
    (short,) = fitted([label], 24)
    assert len(short) <= 24
    assert short.endswith(" #12")
    (short,) = fitted([label.replace(" #12", " [64·128]~1")], 24)
    assert short.endswith(" [64·128]~1")


def test_labels_that_would_be_cut_to_the_same_are_cut_where_they_differ() -> None:
    labels = ["a" * 20 + "bcd" + "e" * 20, "a" * 20 + "xyz" + "e" * 20, "a" * 20 + "xyw" + "e" * 20, "short"]
    texts = fitted(labels, 12)
    assert len(set(texts)) == 4
    assert texts[3] == "short"
    assert max(map(len, texts)) <= 12


def test_labels_that_differ_at_their_end_are_cut_before_it() -> None:
    texts = fitted(["sm90_gemm_" + "x" * 40 + end for end in ("_nn", "_nt", "")], 18)
    assert len(set(texts)) == 3
    assert texts[0].endswith("_nn")
    assert max(map(len, texts)) <= 18


def test_equal_labels_stay_equal() -> None:
    assert len(set(fitted(["a" * 30, "a" * 30], 10))) == 1


def test_the_terminal_hides_homes_as_the_page_does() -> None:
    analysis = analysed(op("/home/alice/model.py(3): forward", 1, 5))
    assert "alice" not in summary_text(analysis)
    assert "~/model.py(3): forward" in summary_text(analysis)


def test_two_names_that_look_alike_when_shown_have_two_labels() -> None:
    analysis = analysed(kernel("k\u202e", 1, 5), kernel("k\\u202e", 10, 5))
    labels = labels_of(analysis)
    assert labels.of("k\u202e") != labels.of("k\\u202e")


def test_a_name_without_a_label_is_shown_in_full() -> None:
    assert Labels().of("a" * 300) == "a" * 300


def test_method_explains_the_tags() -> None:
    page = render_html(build_report(alike()))
    assert "short names" in page
    assert "[128·7]" in page


def test_no_label_needs_a_browser(tmp_path: Path) -> None:
    report = build_report(alike())
    page = render_html(report)
    for label in shown(report, "kernels"):
        assert label.replace("<", "&lt;") in page
