"""A page keeps its size whatever a trace is made of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_privacy import row
from traceview.analyses import analyze
from traceview.report import ReportOptions, build_report, html, render_html
from traceview.report.view import TimelineView
from traceview.sources import read_trace

LIMIT = 2_500_000
HEADS = (
    "",
    "Memcpy ",
    "Memset ",
    "nccl",
    "void k<",
    "/home/a/",
    "_ZN",
    "ProfilerStep#",
    "autograd::engine::evaluate_function: ",
)
FILLS = {
    "invisible": "\u202e",
    "tags": "<",
    "quotes": '"&',
    "wide": "核",
    "noise": "".join(map(chr, range(33, 127))) + "äöü€\u2028",
}


def page_of(path: Path, events: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return render_html(build_report(analyze(read_trace(path))))


def hostile(fill: str, number: int, length: int) -> list[dict[str, Any]]:
    """Return kernels, operators, waits, copies and threads with long names, all different."""
    dice = random.Random(7)

    def name(i: int) -> str:
        return f"{dice.choice(HEADS)}{i:x}" + "".join(dice.choices(fill, k=length))

    events = []
    for i in range(number):
        at, ids = 100.0 * i, {"correlation": 2 * i + 1}
        events += [
            {**row("cpu_op", name(i), at, 50), "tid": name(i % 90)},
            {**row("user_annotation", name(i), at + 1, 40), "tid": name(i % 90)},
            row("cuda_runtime", "cudaLaunchKernel", at + 2, 2, **ids),
            row("cuda_runtime", f"cudaDeviceSynchronize{name(i)}", at + 5, 30),
            row("kernel", name(i), at + 6, 9, **{**ids, "stream": name(i % 40)}),
            row("gpu_memcpy", name(i), at + 16, 3, correlation=2 * i + 2, bytes=9),
        ]
    return events


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(("number", "length"), [(1, 200_000), (700, 900)])
def test_names_of_any_kind_make_no_page_over_its_limit(
    tmp_path: Path, fill: str, number: int, length: int
) -> None:
    page = page_of(tmp_path / "t.json", hostile(FILLS[fill], number, length))
    assert len(page.encode("utf-8")) <= LIMIT


def test_a_copy_named_by_invisible_characters_makes_a_page_of_usual_size(tmp_path: Path) -> None:
    page = page_of(tmp_path / "t.json", [row("kernel", "Memcpy" + "\u202e" * 200_000, 1, 5)])
    assert len(page) < 1_500_000


def many(number: int) -> list[dict[str, Any]]:
    """Return launches and kernels at odd times, each with a name of its own, that hardly compress."""
    dice = random.Random(3)
    events, at = [], 0.0
    for _ in range(number):
        at += dice.randrange(4_000, 90_000) / 1_000
        ids = {"correlation": dice.randrange(2**31)}
        events += [
            row("cuda_runtime", "cudaLaunchKernel", at, dice.randrange(1_000, 3_900) / 1_000, **ids),
            row("kernel", f"k{dice.randrange(20_000):x}", at + dice.randrange(5_000) / 1_000, 0.9, **ids),
        ]
    return events


def test_a_larger_budget_than_the_default_is_kept_whatever_the_size_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("traceview.report.build.PAGE_LIMIT", 1_560_000)
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": many(9_000)}), encoding="utf-8")
    analysis = analyze(read_trace(tmp_path / "t.json"))
    reports = {b: build_report(analysis, ReportOptions(timeline_budget=b)) for b in (150_000, 150_001)}
    views = {
        b: next(x for s in r.sections for x in s.blocks if isinstance(x, TimelineView))
        for b, r in reports.items()
    }
    assert len(render_html(reports[150_000]).encode()) < 1_580_000
    assert views[150_000].layout["items"] < 17_999
    assert "may be larger" not in views[150_000].note
    assert len(render_html(reports[150_001]).encode()) > 1_600_000
    assert views[150_001].layout["items"] > 17_900
    assert "A larger timeline budget was asked for" in views[150_001].note


def test_the_size_is_told_to_the_byte_but_for_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": hostile("ab<", 60, 30)}), encoding="utf-8")
    report = build_report(analyze(read_trace(tmp_path / "t.json")))
    timeline = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    whole = len(render_html(report).encode("utf-8"))
    assert html.size_without_slices(report) + html.size_of_names(report.names) == whole
    without = [s for s in report.sections if s.id != "timeline"]
    parts = html.size_without_slices(type(report)(**{**vars(report), "sections": tuple(without)}))
    assert 0 < whole - parts - html.size_of_names(report.names) - html.size_of_timeline(timeline) < 5_000
