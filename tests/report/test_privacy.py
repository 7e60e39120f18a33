"""Nobody's home folder is on a page unless it was asked for, wherever a trace may name it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from traceview import units
from traceview.analyses import analyze
from traceview.events import Trace
from traceview.report import ReportOptions, build_report, render_html
from traceview.sources import read_trace

HOME = "/home/s3cret/x.cu"


def row(kind: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    place: dict[str, Any] = (
        {"pid": 0, "tid": 7} if kind in ("kernel", "gpu_memcpy") else {"pid": 41, "tid": 41}
    )
    given = {"device": 0, "stream": 7, **args} if place["pid"] == 0 else args
    return {"ph": "X", "cat": kind, "name": name, "ts": ts, "dur": dur, "args": given, **place}


def told(path: Path) -> Trace:
    """Read a trace that names a home folder wherever it can."""
    names = [
        f"k {HOME}",
        f"k<int> {HOME}(3)",
        f"void f<int>(X) {HOME}",
        HOME,
        f"_Z {HOME}",
        f"nccl {HOME}",
        f"x::y<{HOME}>(a)",
        f"k\n{HOME}",
    ]
    events = [row("python_function", f"{HOME}.py(3): f", 0, 600)]
    for i, name in enumerate(names):
        events += [
            row("user_annotation", f"loop {HOME}", 10 * i, 9.5),
            row("cpu_op", f"aten {HOME}", 10 * i + 1, 8),
            row("cuda_runtime", "cudaLaunchKernel", 10 * i + 2, 2, correlation=i + 1),
            row("kernel", name, 10 * i + 5, 3, correlation=i + 1),
        ]
    events += [
        row("cuda_runtime", f"cudaDeviceSynchronize {HOME}", 100, 30),
        row("cuda_runtime", "cudaLaunchKernel", 300, 2, correlation=99),
        row("kernel", f"late {HOME}", 400, 3, correlation=99),
        row("gpu_memcpy", f"Memcpy {HOME}", 500, 4, correlation=101, bytes=4),
        {**row(f"odd {HOME}", "odd", 500, 4), "pid": HOME, "tid": HOME},
        {"ph": "M", "name": "process_name", "pid": 41, "args": {"name": f"python {HOME}"}},
        {"ph": "M", "name": "thread_name", "pid": 41, "tid": 41, "args": {"name": f"main {HOME}"}},
    ]
    events += [row("user_annotation", f"ProfilerStep#{i}", 200 * i, 200) for i in range(3)]
    document = {
        "traceEvents": events,
        "deviceProperties": [{"id": 0, "name": f"GPU {HOME}"}],
        "distributedInfo": {"backend": HOME, "rank": 0, "world_size": 2},
        "traceName": HOME,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_trace(path)


def everything(page: str) -> str:
    """Return a page with its packed names beside it."""
    packed = re.search(r'id="tv-names">([^<]*)<', page)
    assert packed
    return page + zlib.decompress(base64.b64decode(packed[1])).decode("utf-8")


def test_no_home_folder_is_on_a_page(tmp_path: Path) -> None:
    report = build_report(analyze(told(tmp_path / "trace.json")))
    text = everything(render_html(report))
    assert "~/x.cu" in text
    assert [text[m.start() - 60 : m.end() + 20] for m in re.finditer("s3cret", text)] == []


def test_home_folders_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    report = build_report(analyze(told(tmp_path / "trace.json")), ReportOptions(show_paths=True))
    assert HOME in everything(render_html(report))
    assert HOME in next(k for k in report.kpis if k.id == "top").detail


def test_a_notebook_shows_neither_homes_nor_host_names(tmp_path: Path) -> None:
    trace = told(tmp_path / "gpu-node-17_4711.1712195495521.pt.trace.json")
    for shown in (trace._repr_html_(), analyze(trace)._repr_html_()):
        assert "s3cret" not in shown
        assert "gpu-node-17" not in shown
    assert "process 4711" in trace._repr_html_()
    assert "~/x.cu" in analyze(trace)._repr_html_()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("k\n/home/alice/x", "k\\u000a~/x"),
        ("a\u202e/home/alice/x", "a\\u202e~/x"),
        ("/home/alice", "~"),
    ],
)
def test_a_path_may_begin_after_what_cannot_be_seen(text: str, shown: str) -> None:
    assert units.shown(text) == shown


def test_a_text_is_cut_after_its_characters_are_made_visible() -> None:
    assert len(units.shown("Memcpy" + "\u202e" * 200_000)) == units.TEXT_LIMIT
