"""Copies: what no kernel hides, which block the host, how fast; calculated by hand."""

from __future__ import annotations

import math

import pytest

from tests.analyses.making import analysed, call, copy, device, fill, kernel


def test_time_under_kernels_is_not_exposed() -> None:
    table = analysed(kernel("k", 0, 50), copy(30, 40, stream=8), kernel("k", 65, 100)).copies
    # 30..50 and 65..70 run under kernels
    assert (table.sum.tolist(), table.exposed.tolist()) == ([40_000], [15_000])


def test_another_copy_hides_nothing() -> None:
    table = analysed(copy(0, 10, stream=8), fill(5, 10, stream=9)).copies
    assert sorted(table.exposed.tolist()) == [10_000, 10_000]


def test_copies_with_pageable_memory_or_a_blocking_call_block() -> None:
    name = "Memcpy DtoD (Device -> Device)"
    table = analysed(
        call("cudaMemcpyAsync", 0, 20, 1),
        copy(5, 10, 1),
        call("cudaMemcpyAsync", 30, 2, 2),
        device("gpu_memcpy", name, 40, 5, 2),
        call("cudaMemcpy", 60, 20, 3),
        device("gpu_memcpy", name, 65, 5, 3),
    ).copies
    blocking = dict(zip(table.name.tolist(), table.blocking.tolist(), strict=True))
    assert blocking == {"Memcpy HtoD (Pageable -> Device)": 1, name: 1}


def test_bandwidth_is_bytes_by_time_and_unknown_without_either() -> None:
    table = analysed(copy(0, 10, bytes=5_000_000)).copies
    assert table.bandwidth.tolist() == [pytest.approx(500.0)]
    assert math.isnan(analysed(copy(0, 10)).copies.bandwidth[0])
