"""Two runs compared: matched by what launched the work, and adding up to the nanosecond."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff.runs import run, side
from traceview.diff.claims import Floor
from traceview.diff.compare import Diff, Options, compare
from traceview.diff.matching import LAYERS

QUIET = (200.0, 201.0, 199.0, 200.5, 199.5, 200.2, 199.8, 200.1, 199.9, 200.0)
FLOOR = Floor(0.05, 0.01, 10_000)


def diff(base: list[list[tuple[str, str, float]]], new: list[list[tuple[str, str, float]]]) -> Diff:
    return compare([side(run(base))], [side(run(new))])


def one(op: str, kernel: str, factor: float = 1.0) -> list[list[tuple[str, str, float]]]:
    """Return ten steps of one kernel, each a little different."""
    return [[(op, kernel, round(us * factor, 3))] for us in QUIET]


def test_a_kernel_of_another_name_under_the_same_operator_is_the_same_work() -> None:
    found = diff(one("aten::mm", "ampere_gemm_128x64"), one("aten::mm", "Cijk_Ailk_MT64x64"))
    (row,) = found.rows
    assert row.group.layer == "op"
    assert [(k.base, k.new, k.how) for k in row.kernels] == [
        ("ampere_gemm_128x64", "Cijk_Ailk_MT64x64", "same operator")
    ]
    assert row.change.delta == 0


def test_a_slower_operator_is_claimed_and_a_quiet_one_is_not() -> None:
    base = [[("aten::mm", "gemm", us), ("aten::add", "add", us / 2)] for us in QUIET]
    new = [[("aten::mm", "gemm", us * 1.2), ("aten::add", "add", us / 2)] for us in QUIET]
    found = diff(base, new)
    assert [(r.group.label, r.judgement.claimed) for r in found.rows] == [
        ("aten::mm", True),
        ("aten::add", False),
    ]
    assert found.headlines["gpu_busy"].claimed


def test_what_is_below_the_floor_is_not_claimed() -> None:
    found = diff(one("aten::mm", "gemm"), one("aten::mm", "gemm", 1.04))
    assert found.rows[0].judgement.reason == "below the floor"


def test_a_few_steps_claim_nothing() -> None:
    base, new = one("aten::mm", "gemm")[:4], one("aten::mm", "gemm", 1.5)[:4]
    found = diff(base, new)
    assert not found.claimed
    assert found.headlines["gpu_busy"].reason == "measured once"  # three complete steps: the last is open


def test_a_run_against_itself_is_zero() -> None:
    events = run([[("aten::mm", "gemm", us), ("aten::add", "add", 3.0)] for us in QUIET])
    found = compare([side(events)], [side(events[::-1])])
    assert all(row.change.delta == 0 for row in found.rows)
    assert all(
        j.interval is None or (j.interval.low == j.interval.high == 0) for j in found.headlines.values()
    )
    assert found.comparability.verdict != "not comparable"


durations = st.floats(1, 90).map(lambda us: round(us, 3))
works = st.lists(
    st.tuples(
        st.sampled_from(["aten::mm", "aten::add", "aten::sum"]),
        st.sampled_from(["gemm_1", "gemm_2", "k"]),
        durations,
    ),
    min_size=1,
    max_size=5,
)
runs = st.lists(works, min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(runs, runs, st.sampled_from(sorted(LAYERS)))
def test_all_differences_add_up_to_the_nanosecond_and_are_attributed_once(
    base: list[list[tuple[str, str, float]]], new: list[list[tuple[str, str, float]]], mode: str
) -> None:
    found = compare([side(run(base))], [side(run(new))], Options(match=mode))
    left, right = found.measured
    if found.per != "call":
        whole = Fraction(int(right.rows.sum.sum()), right.units) - Fraction(
            int(left.rows.sum.sum()), left.units
        )
        assert sum((r.change.delta for r in found.rows), Fraction(0)) == whole
    for row in found.rows:
        assert row.change.calls_effect + row.change.mean_effect == row.change.delta
    for place, side_of_it in ((0, left), (1, right)):
        used = [i for r in found.rows for i in (r.group.base, r.group.new)[place]]
        assert sorted(used) == list(range(len(side_of_it.rows.rows)))


@settings(max_examples=25, deadline=None)
@given(runs, runs)
def test_swapping_the_sides_negates_every_difference(
    base: list[list[tuple[str, str, float]]], new: list[list[tuple[str, str, float]]]
) -> None:
    left, right = side(run(base)), side(run(new))
    there, back = compare([left], [right]), compare([right], [left])
    assert sorted(r.change.delta for r in there.rows) == sorted(-r.change.delta for r in back.rows)
    for key, judged in there.headlines.items():
        other = back.headlines[key]
        assert judged.delta == -other.delta
        assert judged.claimed == other.claimed
        if judged.interval and other.interval:
            assert (judged.interval.low, judged.interval.high) == (-other.interval.high, -other.interval.low)


def test_an_unknown_way_to_match_is_refused() -> None:
    with pytest.raises(Exception, match="unknown matching"):
        compare([side(run([[("a", "k", 1.0)]]))], [side(run([[("a", "k", 1.0)]]))], Options(match="magic"))
