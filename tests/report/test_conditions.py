"""What stands beside a trace is shown whole, and harms nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.analyses import Analysis, analyze
from traceview.cli import run as command
from traceview.report import build_report, render_html
from traceview.report.view import DefinitionsView
from traceview.sources import read_trace


def analysed(folder: Path, told: dict[str, Any], **metadata: Any) -> Analysis:
    """Analyse a small trace with a sidecar."""
    (folder / "run.json").write_bytes(making.text(making.note("step", 0, 10), **metadata))
    text = json.dumps({"schema": "traceview.capture/1", **told})
    (folder / "run.capture.json").write_text(text, encoding="utf-8")
    return analyze(read_trace(folder / "run.json"))


def conditions(found: Analysis) -> tuple[tuple[str, str], ...]:
    """Return what the Method section lists as conditions."""
    (method,) = [s for s in build_report(found).sections if s.id == "method"]
    (block,) = [b for b in method.blocks if isinstance(b, DefinitionsView) and b.title == "Conditions"]
    return block.items


def test_the_page_shows_what_the_user_noted_himself(tmp_path: Path) -> None:
    found = analysed(tmp_path, {"given": {"batch": 8, "lr": 0.1}, "settings": {"autocast": None}})
    assert conditions(found) == (("batch", "8"), ("autocast", "off"), ("lr", "0.1"))
    assert "<dt>lr</dt>" in render_html(build_report(found))


def test_the_json_summary_tells_it_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    analysed(tmp_path, {"given": {"lr": 0.1, "workers": 4}})
    assert command(["summary", str(tmp_path / "run.json"), "--format", "json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["meta"]["conditions"] == {"lr": "0.1", "workers": "4"}


def test_hostile_notes_are_texts_on_the_page(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>\x1b[31m\u202e /home/s3cret/x"
    page = render_html(build_report(analysed(tmp_path, {"given": {bad: bad}})))
    assert "<script>alert(1)" not in page
    assert "s3cret" not in page
    assert not {"\x1b", "\u202e"} & set(page)


def test_very_many_long_notes_stay_a_short_list(tmp_path: Path) -> None:
    given = {f"{i} {'k' * 500}": "v" * 500 for i in range(200)}
    items = conditions(analysed(tmp_path, {"given": given}))
    assert len(items) == 33
    assert max(len(k) for k, _ in items) <= 40
    assert max(len(v) for _, v in items) <= 120


def test_a_sidecar_of_another_trace_is_said_on_the_page(tmp_path: Path) -> None:
    devices = [{"id": 0, "name": "GPU A"}]
    found = analysed(tmp_path, {"device": {"name": "GPU B"}}, deviceProperties=devices)
    (line,) = [b for b in build_report(found).banner if b.code == "conditions_contradict"]
    assert "device GPU B, the trace GPU A" in line.text
