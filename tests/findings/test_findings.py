"""What holds for all findings: severity, order, and the promises on real traces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.analyses.making import analysed, kernel, launch
from tests.findings.making import SLUGS, gap, loop, lost
from traceview.analyses import Analysis, analyze
from traceview.findings import RULES, Finding, Findings, Severity, check
from traceview.findings.finding import base_ns, graded
from traceview.sources import read_trace

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
DEMO = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
IDLE_CAUSES = {
    "host-late-gaps": ["host_late"],
    "data-loading": ["data_loading"],
    "slow-launches": ["inside_launch"],
    "queued-work": ["queued"],
    "allocation-stalls": ["allocation"],
    "allocation-in-loop": ["allocation"],
    "profiler-overhead-high": ["profiler_overhead"],
    "unexplained-idle": ["unknown"],
    "sync-in-loop": ["host_late", "synchronisation"],
    "blocking-copies": ["host_late", "synchronisation"],
    "launch-bound": ["host_late", "inside_launch", "in_flight"],
    "repeated-sequences": ["host_late", "inside_launch", "in_flight"],
    "short-kernels": ["inside_launch", "in_flight"],
}


def finding(stake: int | None) -> Finding:
    return Finding("x", "A sentence.", (), "Advice.", "high", stake)


@pytest.mark.parametrize(
    ("stake", "severity"),
    [
        (150, Severity.HIGH),
        (149, Severity.MEDIUM),
        (50, Severity.MEDIUM),
        (49, Severity.LOW),
        (10, Severity.LOW),
        (9, Severity.NOTE),
        (None, Severity.NOTE),
    ],
)
def test_severity_follows_from_the_share_of_the_step_time(stake: int | None, severity: Severity) -> None:
    assert graded(finding(stake), 1000).severity == severity


def test_severity_has_a_ceiling() -> None:
    assert graded(finding(900), 1000, Severity.NOTE).severity == Severity.NOTE


def test_slugs_are_told_apart_and_all_of_them_are_asked() -> None:
    assert len(set(SLUGS)) == len(RULES)
    found = check(analysed(*gap()))
    assert list(found.checked) == SLUGS
    assert found.unanswered == ()


def test_a_rule_that_needs_device_records_is_not_said_to_have_passed_without_them() -> None:
    found = check(analysed(*gap(), *lost(10)))
    assert "host-late-gaps" in found.unanswered
    assert not set(found.unanswered) & set(found.checked)
    assert set(found.unanswered) | set(found.checked) == set(SLUGS)
    assert "coverage-unreliable" not in found.passed


def test_findings_that_describe_come_last_and_the_worst_first() -> None:
    long = [launch(7_000, 5, 900), kernel("long", 7_010, 2_000, 900)]
    found = check(analysed(*loop(120, name=lambda i: f"k{i % 8}"), *long)).found
    described = [f.at_stake is None for f in found]
    assert described == sorted(described)
    assert any(described)
    assert not all(described)
    ranks = [(-f.severity, -(f.at_stake or 0)) for f in found if f.at_stake is not None]
    assert ranks == sorted(ranks)


def test_a_trace_that_is_busy_throughout_has_no_finding_above_note() -> None:
    found = check(analysed(*gap(called=100, starts=120))).found
    assert [f.severity for f in found if f.slug != "dominant-kernel"] == []


def real(name: str) -> tuple[Analysis, Findings]:
    (path,) = TRACES.rglob(name) if TRACES.is_dir() else ([],)
    if not path:
        pytest.skip("the shared input is not here")
    analysis = analyze(read_trace(path))
    return analysis, check(analysis)


def test_the_starving_eager_run_has_a_high_finding_of_the_host() -> None:
    _, found = real("*b200__eager_trace.json.gz")
    assert found.found[0].slug == "host-late-gaps"
    assert found.found[0].severity == Severity.HIGH


def test_the_saturated_run_has_nothing_above_note() -> None:
    _, found = real("*ns_resolution_trace__rank-0*.json.gz")
    assert [f for f in found.found if f.severity > Severity.NOTE] == []


def shared_traces() -> list[Path]:
    return (
        sorted(p for p in TRACES.rglob("*") if p.name.endswith((".json", ".json.gz")))
        if TRACES.is_dir()
        else []
    )


@pytest.mark.parametrize("path", [DEMO, *shared_traces()], ids=lambda p: p.name[-40:])
def test_no_stake_exceeds_the_idle_time_of_its_cause(path: Path) -> None:
    analysis = analyze(read_trace(path))
    base = base_ns(analysis)
    for f in check(analysis).found:
        if f.at_stake is None:
            continue
        assert 0 <= f.at_stake <= base or not base
        if f.slug in IDLE_CAUSES:
            parts = sum((getattr(analysis.gaps, c) for c in IDLE_CAUSES[f.slug]), np.int64(0))
            assert f.at_stake <= int(np.sum(parts))
        if f.window is not None:
            assert 0 <= f.window[0] < f.window[1]


SAMPLE_CAUSES = {
    "data-loading": "data loading",
    "host-late-gaps": "host late",
    "allocation-stalls": "allocation or loading",
    "slow-launches": "inside the launch call",
    "queued-work": "queued, not started",
    "profiler-overhead-high": "profiler overhead",
}


@pytest.mark.parametrize("slug", SAMPLE_CAUSES)
def test_the_sample_shows_what_its_generator_put_in(slug: str) -> None:
    truth = json.loads((ROOT / "tests" / "samples" / "gpu_shaped.truth.json").read_text(encoding="utf-8"))
    planted = truth["idle_ns_by_cause"][SAMPLE_CAUSES[slug]]
    finding = next(f for f in check(analyze(read_trace(DEMO))).found if f.slug == slug)
    assert finding.at_stake is not None
    assert 0.5 * planted < finding.at_stake <= planted  # some lie outside of steps, some calls are short
    assert finding.severity >= Severity.LOW
