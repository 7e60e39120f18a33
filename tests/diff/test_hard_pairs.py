"""Pairs of runs that mislead a comparison of names: the planted truth is found."""

from __future__ import annotations

from typing import Any

from tests.analyses import making
from tests.diff.runs import run, side
from traceview.diff.comparability import CARE
from traceview.diff.compare import Diff, compare

STEPS = 9
Events = list[dict[str, Any]]


def deltas(found: Diff) -> dict[str, int]:
    """Return the change of each group of work in ns."""
    sums: dict[str, int] = {}
    for row in found.rows:
        sums[row.group.label] = sums.get(row.group.label, 0) + round(float(row.change.delta))
    return sums


def noisy(us: float, step: int) -> float:
    return round(us * (1 + 0.002 * ((step * 7) % 5 - 2)), 3)


def pair(
    base: list[tuple[str, str, float]], new: list[tuple[str, str, float]], shapes: str = "[[8, 8]]"
) -> Diff:
    """Compare two programs of (operator, kernel, us) steps."""
    sides = [
        side(run([[(op, k, noisy(us, i)) for op, k, us in work] for i in range(STEPS)], shapes))
        for work in (base, new)
    ]
    return compare([sides[0]], [sides[1]])


def test_eager_against_compiled_finds_the_fusion() -> None:
    eager = [("aten::mm", "ampere_sgemm_128x64_tn", 200.0), ("aten::add", "vectorized_elementwise_kernel<add>", 30.0),
             ("aten::relu", "vectorized_elementwise_kernel<relu>", 30.0)]  # fmt: skip
    fused = ("triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0", 35.0)
    found = pair(eager, [("aten::mm", "ampere_sgemm_64x64_tn", 200.0), fused])
    assert found.comparability.verdict != "comparable" or found.comparability.matched
    told = deltas(found)
    assert told["aten::mm"] == 0
    (fusion,) = [r for r in found.rows if r.group.layer == "category"]
    assert round(float(fusion.change.base)), round(float(fusion.change.new)) == (60_000, 35_000)
    assert {k.how for k in fusion.kernels} == {"new", "gone"}
    assert fusion.judgement.claimed
    assert fusion.change.delta < 0


def replayed(steps: int, kernels: list[tuple[str, float]]) -> Events:
    """Return steps in which one graph launch, under no operator, starts all kernels."""
    events: Events = []
    for i in range(steps):
        start = 1000.0 * i
        events.append(making.note(f"ProfilerStep#{i}", start, 1000))
        events.append(making.call("cudaGraphLaunch", start + 1, 9, i + 1))
        at = start + 20
        for name, us in kernels:
            events.append(making.kernel(name, at, noisy(us, i), i + 1, **{"graph id": 7}))
            at += us + 5
    return events


def test_a_graph_replay_without_operators_is_matched_by_kernel_name() -> None:
    eager = [("aten::mm", "gemm", 200.0), ("aten::add", "add", 30.0), ("aten::mul", "mul", 30.0)]
    base = side(run([[(op, k, noisy(us, i)) for op, k, us in eager] for i in range(STEPS)]))
    found = compare([base], [side(replayed(STEPS, [("gemm", 200.0), ("add", 30.0), ("mul", 45.0)]))])
    assert found.comparability.verdict == CARE
    assert any("graph" in reason for reason in found.comparability.reasons)
    assert {r.group.layer for r in found.rows} == {"name"}
    claimed = {r.group.label for r in found.claimed}
    assert claimed == {"mul"}


def test_two_layers_that_swap_places_change_nothing() -> None:
    first, second = ("aten::conv2d_a", "implicit_gemm", 200.0), ("aten::conv2d_b", "implicit_gemm", 90.0)
    found = pair([first, second], [second, first])
    assert set(deltas(found).values()) == {0}
    assert not found.claimed


def test_kernels_of_one_name_are_told_apart_by_their_operator() -> None:
    kernel = "vectorized_elementwise_kernel"
    base = [("aten::add", kernel, 100.0), ("aten::mul", kernel, 100.0)]
    found = pair(base, [("aten::add", kernel, 100.0), ("aten::mul", kernel, 130.0)])
    assert [r.group.label for r in found.claimed] == ["aten::mul"]
    assert deltas(found)["aten::add"] == 0


def test_two_kernels_that_swap_under_one_operator_are_one_row() -> None:
    base = [("aten::mm", "gemm_a", 100.0), ("aten::mm", "gemm_b", 40.0)]
    found = pair(base, [("aten::mm", "gemm_a", 40.0), ("aten::mm", "gemm_b", 100.0)])
    (row,) = found.rows
    assert row.change.delta == 0
    assert not row.judgement.claimed


def test_renumbered_triton_kernels_are_one_family() -> None:
    old, new = "triton_poi_fused_add_relu_3", "triton_poi_fused_add_relu_11"
    found = pair(
        [("aten::mm", "gemm", 200.0), (old, old, 50.0)], [("aten::mm", "gemm", 200.0), (new, new, 80.0)]
    )
    (row,) = [r for r in found.rows if r.group.layer == "op family"]
    assert row.group.label == "triton_poi_fused_add_relu"
    assert found.comparability.matched == 1
    assert [k.how for k in row.kernels] == ["same family"]
    assert row.judgement.claimed


def test_an_image_of_another_size_without_shapes_is_compared_with_care() -> None:
    base = [("aten::conv2d", "implicit_gemm", 200.0), ("aten::relu", "relu", 40.0)]
    found = pair(base, [(op, k, us * 1.3) for op, k, us in base], shapes="[]")
    assert found.comparability.verdict == CARE
    assert any("not verified" in reason for reason in found.comparability.reasons)


def test_an_image_of_another_size_with_shapes_is_not_comparable_unless_expected() -> None:
    base = [("aten::conv2d", "implicit_gemm", 200.0)]
    sides = [
        side(run([[(op, k, noisy(us * f, i)) for op, k, us in base] for i in range(STEPS)], shapes))
        for shapes, f in (("[[8, 3, 224, 224]]", 1.0), ("[[8, 3, 256, 256]]", 1.3))
    ]
    assert compare([sides[0]], [sides[1]]).comparability.verdict == "not comparable"


def test_a_run_without_kernels_is_no_improvement() -> None:
    gpu = side(run([[("aten::mm", "gemm", 200.0)]] * STEPS))
    cpu = side(
        [making.note(f"ProfilerStep#{i}", 100.0 * i, 100) for i in range(STEPS)]
        + [making.op("aten::mm", 1, 50)]
    )
    found = compare([gpu], [cpu])
    assert found.comparability.verdict == "not comparable"
    assert not found.claimed
    assert not any(j.claimed for j in found.headlines.values())
