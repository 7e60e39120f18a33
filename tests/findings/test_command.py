"""traceview findings: forms, gates and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses.making import Event, analysed, kernel, launch, op, text
from tests.findings.making import SLUGS, gap, lost
from traceview.cli import run
from traceview.findings import RULES, check
from traceview.findings.document import escaped, findings_document, findings_markdown, findings_text
from traceview.findings.explain import explain

HOSTILE = "</td>|[x](https://evil.example) @team #1 `a` <script> www.evil.example GH-1 \u202e\n"


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "run.json"
    path.write_bytes(text(*gap()))
    return str(path)


def test_the_document_has_the_keys_that_scripts_rely_on(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["findings", trace, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "traceview.findings/1"
    assert document["checked"] == SLUGS
    first = document["findings"][0]
    assert first["slug"] == "host-late-gaps"
    assert first["severity"] == "high"
    assert first["time_at_stake_us"] == 100
    assert first["window_us"] == [82.5, 247.5]
    assert first["evidence"][1] == {
        "label": "gaps",
        "text": "1",
        "table": None,
        "name": None,
        "window_us": None,
    }
    assert first["evidence"][-1] == {
        "label": "worst gap",
        "text": "110 µs",
        "table": "gaps",
        "name": None,
        "window_us": [110, 220],  # from the trace's first event, at 10
    }
    assert first["share_at_stake"] == pytest.approx(100 / 310)
    described = document["findings"][-1]
    assert (described["time_at_stake_us"], described["window_us"]) == (None, [10, 110])  # the first kernel


@pytest.mark.parametrize(
    ("gates", "status"),
    [
        (["high"], 1),
        (["medium"], 1),
        (["host-late-gaps"], 1),
        (["data-loading"], 0),
        (["repeated-sequences"], 0),
        (["data-loading", "low"], 1),
        (["note"], 1),
    ],
    ids=str,
)
def test_a_gate_fails_on_a_severity_or_worse_and_on_a_slug_above_note(
    trace: str, gates: list[str], status: int
) -> None:
    words = [word for gate in gates for word in ("--fail-on", gate)]
    assert run(["findings", trace, *words]) == status


def test_a_gate_that_could_not_ask_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lost.json"
    path.write_bytes(text(*gap(), *lost(10)))
    assert run(["findings", str(path), "--fail-on", "high"]) == 0
    assert "A gate says nothing about these." in capsys.readouterr().err
    assert run(["findings", str(path), "--fail-on", "high", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_an_unknown_gate_is_wrong_usage_before_anything_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["findings", "nowhere.json", "--fail-on", "worst"]) == 2
    assert "--fail-on worst" in capsys.readouterr().err


DESCRIBING = ["unrecorded-work", "coverage-unreliable", "dominant-kernel", "cpu-only"]


def test_evidence_names_the_table_and_the_full_name_of_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "void cutlass::gemm<" + "float, " * 40 + "int>(int)"
    events = [kernel(long, 20, 100, 1), op("aten::late", 121, 98), launch(10, 5, 1)]
    events += [launch(220, 5, 2), kernel("second", 230, 10, 2)]
    path = tmp_path / "long.json"
    path.write_bytes(text(*events))
    assert run(["findings", str(path), "--format", "json"]) == 0
    found = {f["slug"]: f for f in json.loads(capsys.readouterr().out)["findings"]}
    named = [(e["table"], e["name"]) for f in found.values() for e in f["evidence"] if e["name"]]
    assert ("kernels", long) in named
    assert ("operators", "aten::late") in named
    assert long not in found["dominant-kernel"]["sentence"]


@pytest.mark.parametrize("slug", DESCRIBING)
def test_a_rule_that_only_describes_is_refused_as_a_gate_before_anything_is_read(
    slug: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["findings", "nowhere.json", "--fail-on", "high", "--fail-on", slug]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--fail-on {slug}" in line
    assert "only describes" in line
    assert "--fail-on note" in line
    assert "refuses it as a gate" in " ".join(explain(slug).split())


def test_a_rule_only_describes_where_its_finding_has_no_time_at_stake(tmp_path: Path) -> None:
    assert [rule.slug for rule in RULES if rule.describes] == DESCRIBING
    traces = (gap(), gap(*lost(10)), [op("aten::add", 0, 5)])
    found = [f for events in traces for f in check(analysed(*events)).found]
    assert {f.slug for f in found if f.at_stake is None} == {*DESCRIBING} - {"unrecorded-work"}
    assert {f.slug for f in found if f.at_stake is not None}.isdisjoint(DESCRIBING)
    path = tmp_path / "lost.json"
    path.write_bytes(text(*gap(), *lost(10)))
    assert run(["findings", str(path), "--fail-on", "note"]) == 1


def test_chosen_steps_are_judged_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = []
    for i in range(4):
        at = 200.0 * i
        events += [{**op("x", at, 199), "cat": "user_annotation", "name": f"ProfilerStep#{i}"}]
        events += [launch(at + 50, 5, i + 1), kernel("k", at + 60, 120, i + 1)]
    path = tmp_path / "steps.json"
    path.write_bytes(text(*events))
    assert run(["findings", str(path), "--steps", "1:2", "--format", "json"]) == 0
    assert "1" in json.loads(capsys.readouterr().out)["chosen"]


def test_the_text_tells_severity_stake_evidence_window_and_what_to_do() -> None:
    analysis = analysed(*gap())
    shown = findings_text(check(analysis), analysis, "run")
    for part in (
        "▲ high  host-late-gaps  up to 100 µs (32.3 % of the GPU span)",
        "Evidence: ",
        "Look at: 82.5 µs to 248 µs",
        "What to do: ",
        "traceview explain host-late-gaps",
        "checks found nothing: launch-bound",
    ):
        assert part in shown


def test_a_check_that_could_not_be_made_has_not_passed() -> None:
    analysis = analysed(*gap(), *lost(10))
    shown = findings_text(check(analysis), analysis, "run")
    assert "could not be made, device records are missing: launch-bound, host-late-gaps" in shown.replace(
        "\n", " "
    )


def test_markdown_holds_no_markup_of_a_trace() -> None:
    analysis = analysed(*gap(op(HOSTILE, 115, 108)))
    shown = findings_markdown(check(analysis), analysis, HOSTILE)
    for piece in ("<script", "</td>", "](", "@team", "#1 ", "https://", "www.", "GH-1", "`a`", "\u202e"):
        assert piece not in shown, piece
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {5}
    assert escaped("a_b") == "a&#95;b"


def test_the_document_of_a_trace_without_a_device_names_what_could_not_be_asked() -> None:
    document = findings_document(check(analysed(op("aten::add", 0, 5))))
    assert [f["slug"] for f in document["findings"]] == ["cpu-only"]
    assert "data-loading" in document["unanswered"]
