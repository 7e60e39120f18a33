"""Collectives: exposed time, messages and bandwidths, calculated by hand."""

from __future__ import annotations

import math

import pytest

from tests.analyses.making import analysed, kernel, launch, op

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ARGS = {
    "Collective name": "allreduce",
    "dtype": "Float",
    "Group size": 4,
    "In msg nelems": 1_000_000,
    "Out msg nelems": 1_000_000,
}


def test_what_compute_hides_is_overlapped_and_the_rest_exposed() -> None:
    table = analysed(kernel("mm", 0, 50), kernel(NCCL, 30, 40, stream=20), kernel("mm", 60, 5)).collectives
    # 30..50 and 60..65 run under compute
    assert (table.sum.tolist(), table.exposed.tolist()) == ([40_000], [15_000])
    assert table.overlapped.tolist() == [pytest.approx(25 / 40)]


def test_bandwidths_follow_the_formula_of_the_collective() -> None:
    table = analysed(kernel(NCCL, 0, 100, **ARGS)).collectives
    # 4 MB in 100 us are 40 GB/s; an all-reduce among 4 moves 2 * 3/4 of it
    assert table.message.tolist() == [4_000_000]
    assert table.algorithm_bandwidth.tolist() == [pytest.approx(40.0)]
    assert table.bus_bandwidth.tolist() == [pytest.approx(60.0)]


@pytest.mark.parametrize(
    ("name", "message", "factor"),
    [
        ("_allgather_base", 800, 3 / 4),
        ("reduce_scatter", 400, 3 / 4),
        ("all_to_allv", 800, 3 / 4),
        ("broadcast", 800, 1),
        ("send", 800, 1),
    ],
)
def test_each_collective_has_its_message_and_factor(name: str, message: int, factor: float) -> None:
    args = {**ARGS, "Collective name": name, "In msg nelems": 100, "Out msg nelems": 200}
    table = analysed(kernel("ncclKernel", 0, 1, **args)).collectives
    assert table.message.tolist() == [message]
    assert (table.bus_bandwidth / table.algorithm_bandwidth).tolist() == [pytest.approx(factor)]


def test_arguments_of_the_operator_above_the_launch_count_for_the_kernel() -> None:
    table = analysed(
        op("c10d::allreduce_", 0, 20),
        op("record_param_comms", 1, 15, **ARGS),
        launch(5, 2, 1),
        kernel(NCCL, 30, 100, 1),
    ).collectives
    assert table.collective.tolist() == ["allreduce"]
    assert table.group_size.tolist() == [4]


def test_what_is_not_recorded_is_unknown_not_zero() -> None:
    table = analysed(kernel(NCCL, 0, 100)).collectives
    assert table.collective.tolist() == ["allreduce"]
    assert (table.message.tolist(), table.group_size.tolist()) == ([-1], [-1])
    assert math.isnan(table.bus_bandwidth[0])


def test_messages_of_two_sizes_are_two_rows() -> None:
    small = {**ARGS, "In msg nelems": 10}
    table = analysed(
        kernel(NCCL, 0, 50, **ARGS), kernel(NCCL, 60, 5, **small), kernel(NCCL, 70, 7, **small)
    ).collectives
    assert table.calls.tolist() == [1, 2]
    assert table.median.tolist() == [50_000, 6_000]
    assert table.min.tolist() == [50_000, 5_000]


def test_a_trace_without_communication_has_no_rows() -> None:
    assert not len(analysed(kernel("mm", 0, 5)).collectives)
