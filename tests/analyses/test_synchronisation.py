"""Waits of the host for a device: kind, place, and the idle time they can have caused."""

from __future__ import annotations

import pytest

from tests.analyses.making import Event, analysed, call, copy, device, kernel, launch, note, op
from traceview.analyses.synchronisation import Syncs


def around(*events: Event, called: float = 150, starts: float = 160) -> Syncs:
    """Return the waits of a trace with work from 50 to 100, and again as said."""
    work = [
        launch(40, 5, 1),
        kernel("first", 50, 50, 1),
        launch(called, 5, 2),
        kernel("second", starts, 10, 2),
    ]
    return analysed(*work, *events).syncs


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaDeviceSynchronize", "device"),
        ("hipDeviceSynchronize", "device"),
        ("cuCtxSynchronize", "device"),
        ("cudaStreamSynchronize", "stream"),
        ("hipStreamSynchronize", "stream"),
        ("urQueueFinish", "stream"),
        ("cudaEventSynchronize", "event"),
        ("zeEventHostSynchronize", "event"),
        ("cudaMemcpy", "blocking copy"),
        ("hipMemcpyWithStream", "blocking copy"),
        ("cudaMemcpy2D_v3020", "blocking copy"),
    ],
)
def test_a_wait_is_known_by_the_name_of_its_call(name: str, kind: str) -> None:
    table = around(call(name, 60, 45))
    assert (table.name.tolist(), table.kind.tolist(), table.host_time.tolist()) == ([name], [kind], [45_000])


@pytest.mark.parametrize(
    "name", ["cudaMemcpyAsync", "cudaStreamWaitEvent", "cudaEventQuery", "cudaMemcpy2DAsync"]
)
def test_other_calls_are_no_waits(name: str) -> None:
    assert len(around(call(name, 60, 45))) == 0


def test_a_copy_of_pageable_memory_blocks_whatever_its_call() -> None:
    table = around(call("cudaMemcpyAsync", 60, 45, 7), copy(70, 10, 7))
    assert table.kind.tolist() == ["blocking copy"]


def test_a_wait_inside_item_is_one_of_its_own_kind() -> None:
    events = [op("aten::item", 55, 60), op("aten::_local_scalar_dense", 56, 58)]
    table = around(*events, call("cudaStreamSynchronize", 60, 45))
    assert (table.kind.tolist(), table.op.tolist()) == (["item"], ["aten::_local_scalar_dense"])


def test_a_device_record_of_a_wait_counts_only_where_no_call_covers_it() -> None:
    record = device("cuda_sync", "Stream Sync", 62, 40)
    assert around(record).name.tolist() == ["Stream Sync"]
    assert around(record, call("cudaStreamSynchronize", 60, 45)).name.tolist() == ["cudaStreamSynchronize"]
    assert len(around(device("cuda_sync", "Stream Wait Event", 62, 40))) == 0


def test_damage_is_at_most_the_slices_of_waiting_and_of_a_late_host() -> None:
    table = around(call("cudaStreamSynchronize", 50, 60))  # blocked for 50 when the gap opens
    assert (table.damage[0], table.gaps[0]) == (50_000, 1)  # 10 waiting, 40 late
    later = around(call("cudaStreamSynchronize", 50, 60), called=200, starts=210)
    assert later.damage[0] == 50_000  # of 100, as far as the host had been blocked


def test_damage_is_at_most_the_time_for_which_the_host_had_been_blocked() -> None:
    table = around(call("cudaStreamSynchronize", 97, 8))
    assert table.damage[0] == 3_000


def test_data_loading_and_allocation_are_not_charged_to_a_wait() -> None:
    loading = note("load_batch", 110, 30)
    table = around(call("cudaStreamSynchronize", 40, 65), call("cudaMalloc", 105, 5), loading)
    assert table.damage[0] == 15_000  # waiting from 100 to 105, late from 140 to 150


def test_a_wait_that_covers_no_opening_costs_nothing() -> None:
    assert around(call("cudaStreamSynchronize", 110, 20)).damage[0] == 0
    assert around(call("cudaStreamSynchronize", 60, 40)).damage[0] == 0  # returned as the gap opened


def test_where_two_waits_cover_an_opening_the_one_that_lasts_longer_is_charged() -> None:
    table = around(call("cudaEventSynchronize", 60, 41, tid=9), call("cudaStreamSynchronize", 90, 20))
    damage = dict(zip(table.kind.tolist(), table.damage.tolist(), strict=True))
    assert damage == {"stream": 10_000, "event": 0}


def test_the_profilers_own_last_synchronise_is_set_aside() -> None:
    events = [
        note("ProfilerStep#1", 0, 300),
        call("cudaDeviceSynchronize", 60, 45),
        call("cudaDeviceSynchronize", 400, 9),
    ]
    table = around(*events)
    assert table.final.tolist() == [False, True]
    assert table.inside_steps.tolist() == [1, 0]
    assert table.damage[1] == 0


def test_a_synchronise_with_work_after_it_is_the_programs_own() -> None:
    assert around(call("cudaDeviceSynchronize", 60, 45)).final.tolist() == [False]


def test_waits_are_told_apart_by_their_place() -> None:
    events = [
        note("eval", 50, 30),
        call("cudaStreamSynchronize", 60, 5),
        call("cudaStreamSynchronize", 90, 15),
    ]
    table = around(*events)
    assert dict(zip(table.annotation.tolist(), table.calls.tolist(), strict=True)) == {"eval": 1, "": 1}
    assert table.annotation[0] == ""  # the one with damage comes first


def test_a_trace_without_waits_has_an_empty_table() -> None:
    assert len(analysed(kernel("k", 0, 1)).syncs) == 0


def test_a_loader_that_ends_in_a_short_wait_leaves_the_wait_no_damage_of_the_loading() -> None:
    loading = note("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 101, 45)
    table = around(call("cudaStreamSynchronize", 40, 61), loading, call("cudaStreamSynchronize", 146, 4))
    assert table.damage.sum() == 1_000 + 4_000
