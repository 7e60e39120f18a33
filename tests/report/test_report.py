"""The report as plain data: golden files, titles, sections without data, the size of any page."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.analyses.making import Event, analysed
from tests.pages import CPU_SAMPLE, GPU_SAMPLE, html_of, report_of
from traceview.analyses import analyze
from traceview.assets import asset
from traceview.report import Report, ReportOptions, build, build_report, render_html
from traceview.report.sections import SECTIONS
from traceview.report.view import FactsView, FindingsView, SplitView, TableView, TimelineView
from traceview.sources import read_trace
from traceview.units import public_label

GOLDEN = Path(__file__).parent / "golden"
FAILED = Path(__file__).parents[1] / "golden-failures"
QUIRKS = ["graph-launch-many-kernels", "two-kernels-one-correlation", "hostile-names", "string-tids-2021"]


def plain(report: Report) -> dict[str, Any]:
    """Return what a reader sees of a report, as JSON-able data; names as their labels."""

    def block(view: object) -> Any:
        if isinstance(view, TableView) and view.id == "utilisation":  # test_utilisation.py holds its rows
            return {view.id: f"{len(view.rows)} stretches"}
        if isinstance(view, TableView):
            forms = [c.form for c in view.columns]
            return {
                view.id: [
                    [
                        report.names.label(int(v or 0)) if f == "name" else v
                        for v, f in zip(row, forms, strict=True)
                    ]
                    for row in view.rows
                ]
            }
        if isinstance(view, FactsView):
            return {f.label: f.value for f in view.facts}
        if isinstance(view, FindingsView):
            return [f"{f.severity} {f.slug}: {f.sentence}" for f in view.findings]
        if isinstance(view, SplitView):
            return {b.label: {p.label: [p.duration, p.share] for p in b.parts} for b in view.bars}
        if isinstance(view, TimelineView):
            return {"lanes": [[lane.label, lane.note, lane.rows] for lane in view.lanes], "note": view.note}
        return None

    return {
        "title": report.title,
        "verdict": report.verdict,
        "chips": {c.label: c.text for c in report.chips},
        "banner": [line.code for line in report.banner],
        "kpis": {k.label: f"{k.value} {k.unit}".strip() for k in report.kpis},
        "sections": {s.id: s.empty or [b for b in map(block, s.blocks) if b] for s in report.sections},
    }


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_quirk_makes_the_report_of_its_golden_file(quirk: str) -> None:
    """Compare with the file; UPDATE_GOLDEN=1 writes it, a difference lands in tests/golden-failures."""
    found = json.dumps(plain(report_of(f"sample_traces/quirks/{quirk}.json")), indent=1, ensure_ascii=False)
    path = GOLDEN / f"{quirk}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found + "\n", encoding="utf-8")
    expected = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else ""
    if found != expected:
        FAILED.mkdir(exist_ok=True)
        (FAILED / path.name).write_text(found + "\n", encoding="utf-8")
    assert found == expected


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("node-17.example.org_4711.1700000000123", "process 4711"),
        ("alice-laptop_12.1700000000123456789", "process 12"),
        ("resnet50__worker0.1623143089861", "resnet50__worker0"),
        ("/home/alice/run/trace", "trace"),
        (r"C:\Users\alice\trace", "trace"),
        ("rank-0.Apr_03_18_51_38.1102", "rank-0.Apr_03_18_51_38.1102"),
    ],
)
def test_a_title_shows_no_host_user_or_folder(label: str, shown: str) -> None:
    assert public_label(label) == shown


def test_paths_are_shown_when_asked_for() -> None:
    assert public_label("node-17_4711.1700000000123", show_paths=True) == "node-17_4711.1700000000123"


def test_a_title_that_was_asked_for_is_used() -> None:
    report = report_of(GPU_SAMPLE, ReportOptions(title="My run\u202e"))
    assert report.title == "My run\\u202e"


def test_the_gpu_sample_fills_every_section() -> None:
    report = report_of(GPU_SAMPLE)
    assert [s.id for s in report.sections] == [s.id for s in SECTIONS]
    assert not [s.id for s in report.sections if s.empty]


def test_a_trace_without_gpu_says_why_sections_are_empty_and_how_to_record() -> None:
    report = report_of(CPU_SAMPLE)
    empty = {s.id: s.empty for s in report.sections if s.empty}
    assert {"gpu-time", "kernels", "categories"} <= empty.keys()
    assert "Record with" in empty["gpu-time"]
    assert "No GPU work" in report.verdict


def test_the_parts_of_a_device_add_up_to_its_span() -> None:
    split = next(b for s in report_of(GPU_SAMPLE).sections for b in s.blocks if isinstance(b, SplitView))
    for bar in split.bars:
        assert sum(p.part for p in bar.parts) == pytest.approx(1)


def test_top_limits_the_rows_and_counts_the_others() -> None:
    report = report_of(GPU_SAMPLE, ReportOptions(top=2))
    table = next(
        b for s in report.sections for b in s.blocks if isinstance(b, TableView) and b.id == "kernels"
    )
    assert len(table.rows) == 2
    assert table.others.startswith("Others (")


def test_events_read_are_used_or_ignored_by_reason() -> None:
    for name in sorted(p.name for p in asset("sample_traces/quirks").iterdir()):
        account = read_trace(asset(f"sample_traces/quirks/{name}")).account
        assert account.events_read == account.used + sum(account.ignored.values())


def test_a_report_shows_itself_in_a_notebook() -> None:
    report = report_of("sample_traces/quirks/hostile-names.json")
    assert report.verdict in report._repr_html_()
    assert "<svg" not in report._repr_html_()


def test_a_smaller_budget_makes_a_smaller_timeline() -> None:
    def items(options: ReportOptions) -> int:
        blocks = [b for s in report_of(GPU_SAMPLE, options).sections for b in s.blocks]
        return int(next(b for b in blocks if isinstance(b, TimelineView)).layout["items"])

    assert items(ReportOptions(timeline_budget=200)) <= 200 < items(ReportOptions())


def worst_trace(path: Path) -> Path:
    """Write slices of random times whose names are all different, long and random."""
    rng = random.Random(7)
    events = []
    at = 0
    for i in range(60_000):
        at += rng.randrange(1, 900_000)
        name = f"{rng.getrandbits(400):x}"
        place = {"pid": 0, "tid": 7, "cat": "kernel", "args": {"device": 0, "stream": 7}}
        if i % 2:
            place = {"pid": 1, "tid": i % 7, "cat": "cpu_op", "args": {}}
        events.append(
            {"ph": "X", "name": name, "ts": at / 1000, "dur": rng.randrange(900_000) / 1000, **place}
        )
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


def test_the_page_of_the_worst_trace_stays_within_its_size(tmp_path: Path) -> None:
    page = render_html(build_report(analyze(read_trace(worst_trace(tmp_path / "worst.json")))))
    assert len(page.encode("utf-8")) <= 2_500_000


@pytest.mark.parametrize("sample", [GPU_SAMPLE, CPU_SAMPLE])
def test_the_pages_of_the_samples_are_small(sample: str) -> None:
    assert len(html_of(sample).encode("utf-8")) <= 2_500_000


def test_a_page_that_would_be_too_large_uses_the_room_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = analyze(read_trace(asset(GPU_SAMPLE)))
    full = next(
        b for s in build_report(analysis).sections for b in s.blocks if isinstance(b, TimelineView)
    ).payload
    limit = build.PAGE_LIMIT
    room = len(full) // 2
    monkeypatch.setattr(build.html, "size_without_slices", lambda report: limit - room)
    monkeypatch.setattr(build.html, "size_of_names", lambda names: 0)
    blocks = [b for s in build_report(analysis).sections for b in s.blocks]
    payload = next(b for b in blocks if isinstance(b, TimelineView)).payload
    assert room // 3 < len(payload) <= room


def test_advice_for_another_profiler_than_that_of_pytorch_names_its_own_calls() -> None:
    events: list[Event] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
        {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "Stream #7(Compute)"}},
        {"ph": "X", "pid": 1, "tid": 7, "name": "fusion", "ts": 0, "dur": 5},
    ]
    report = build_report(analysed(*events, displayTimeUnit="ns"))
    text = str(report.sections)
    assert "StepTraceAnnotation" in text
    assert "prof.step()" not in text
