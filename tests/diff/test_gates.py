"""Gates: what they say of a comparison, and what is refused."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import pytest

from tests.diff.runs import run, side
from traceview.diff.compare import Diff, compare
from traceview.diff.gates import FAIL, PASS, UNPROVEN, judge, parse
from traceview.errors import UsageError

QUIET = (200.0, 201.0, 199.0, 200.5, 199.5, 200.2, 199.8, 200.1, 199.9)


@cache
def example(steps: int = 9, factor: float = 1.2) -> Diff:
    base = [[("aten::mm", "gemm", us), ("aten::add", "add", 50.0)] for us in QUIET[:steps]]
    new = [[("aten::mm", "gemm", us * factor), ("aten::add", "add", 50.0)] for us in QUIET[:steps]]
    return compare([side(run(base))], [side(run(new))])


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        ("gpu_busy>10%", FAIL),  # 250 → 290 us is 16 %
        ("gpu_busy>20%", PASS),
        ("gpu_busy>30us", FAIL),
        ("gpu_busy>50us", PASS),
        ("gpu_busy<5%", PASS),  # it did not fall
        ("gpu_busy=>280us", FAIL),
        ("gpu_busy=>300us", PASS),
        ("gpu_busy=<300us", FAIL),
        ("launches>0x", PASS),
        ("launches=>1x", FAIL),  # two launches a step
        ("kernel:^gemm$>15%", FAIL),
        ("kernel:^add$>1%", PASS),
        ("op:aten::mm>15%", FAIL),
        (" kernel_time > 0.01 ms ", FAIL),
    ],
)
def test_a_gate_says_what_its_numbers_say(gate: str, state: str) -> None:
    (outcome,) = judge([parse(gate)], example())
    assert outcome.state == state, outcome.why


def test_a_gate_says_where_the_change_lies() -> None:
    (timed, counted) = judge([parse("gpu_busy>10%"), parse("launches>0x")], example())
    # steps differ by at most 0.5 %, so the 16 % of 250 us are known to a fraction of one
    assert re.fullmatch(
        r"250 µs → 290 µs \(\+16\.\d %, 95 % interval \+1[56]\.\d % to \+16\.\d %\)", timed.why
    )
    assert "interval" not in counted.why


def test_with_too_few_steps_a_gate_is_unproven() -> None:
    (outcome,) = judge([parse("gpu_busy>10%")], example(4))
    assert outcome.state == UNPROVEN
    assert "measured once" in outcome.why


def test_a_faster_run_fails_a_gate_on_falling() -> None:
    (outcome,) = judge([parse("gpu_busy<5%")], example(9, 0.5))
    assert outcome.state == FAIL


@pytest.mark.parametrize(
    "text",
    [
        "", ">5%", "step_time", "step_time>", "step_time>5", "step_time>5 parsecs", "nonsense>5%", "kernel:>5%",
        "launches>5ms", "step_time>5x", "peak_memory>5ms", "step_time=>5%", "step_time:mm>5%", "step_time>-5%",
    ],
)  # fmt: skip
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize("text", ["kernel:nothing_like_it>5%", "exposed_comm>5%", "peak_memory>1MB"])
def test_a_gate_that_cannot_be_asked_of_these_runs_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        judge([parse(text)], example())


def test_a_pattern_may_hold_comparison_signs() -> None:
    gate = parse("kernel:foo<int>>5us")
    assert (gate.pattern, gate.limit, gate.more) == ("foo<int>", Fraction(5000), True)


def test_a_gate_on_idle_time_of_single_runs_is_unproven_where_the_program_did_the_same() -> None:
    base = [[("aten::mm", "gemm", us)] for us in QUIET]
    new = [
        [("aten::mm", "gemm", us - 100)] for us in QUIET
    ]  # steps of 1,000 us: what is less busy is more idle
    found = compare([side(run(base))], [side(run(new))])
    (outcome,) = judge([parse("gpu_idle>5%")], found)
    assert outcome.state == UNPROVEN
    assert "measured once" in outcome.why
