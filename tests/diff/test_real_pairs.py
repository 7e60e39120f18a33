"""Real pairs of the shared traces: what is known of them is said."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from traceview.analyses import analyze
from traceview.diff.build import side_of
from traceview.diff.changes import statements
from traceview.diff.comparability import CARE, REFUSED
from traceview.diff.compare import Diff, compare
from traceview.diff.side import Side
from traceview.sources import read_trace

TRACES = ROOT.parent / "shared" / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the shared traces are not here")


@cache
def real(pattern: str) -> Side:
    (path,) = sorted(TRACES.glob(pattern))
    return side_of(analyze(read_trace(Path(path))), path.name)


def pair(base: str, new: str) -> Diff:
    return compare([real(base)], [real(new)])


def test_bert_on_h100_and_mi300_is_matched_by_operator_and_shapes() -> None:
    found = pair("*/*h100__gaunernst*", "*/*mi300__gaunernst*")
    assert found.comparability.matched is not None
    assert found.comparability.matched >= 0.95
    assert found.comparability.verdict == CARE
    names = [set(side.facts["kernels"]) for side in (found.base, found.new)]
    assert len(names[0] & names[1]) == 3
    assert all(j.reason == "measured once" for j in found.headlines.values())


def test_more_loader_workers_make_steps_shorter_and_kernels_no_faster() -> None:
    found = pair("*/*num_workers_0*", "*/*num_workers_4*")
    assert not found.claimed
    step = found.headlines["step_time"]
    assert (round(step.base / 1e6), round(step.new / 1e6), step.claimed) == (176, 128, True)
    assert not found.headlines["kernel_time"].claimed
    assert "data loading" in statements(found)[0].text


def test_a_run_on_the_cpu_cannot_be_compared_with_one_on_a_gpu() -> None:
    found = pair("*/*num_workers_0*", "local__generated/torch2.13_cpu*")
    assert found.comparability.verdict == REFUSED


def test_where_almost_nothing_is_linked_kernels_are_matched_by_name() -> None:
    found = pair("*/*trace_compare__base*", "*/*trace_compare__test*")
    assert found.comparability.verdict == CARE
    assert {r.group.layer for r in found.rows} <= {"name", "op"}
    # by hand: one record fewer of 4 us (8 instead of 12 us), all others alike
    assert sum(r.change.delta for r in found.rows) == 0  # at equal numbers of calls
    assert round((found.new.facts["kernel_sum_us"] - found.base.facts["kernel_sum_us"]) * 1000) == -4000
