"""Health: how far a trace can be trusted, and what was not recorded."""

from __future__ import annotations

from tests.analyses.making import analysed, call, frame, host, kernel, launch, op


def test_what_was_recorded_is_said_and_what_not() -> None:
    bare = analysed(op("a", 0, 5)).health
    assert bare.recorded == {
        "shapes": False,
        "stacks": False,
        "memory": False,
        "device": False,
        "steps": False,
    }
    assert bare.cpu_only
    full = analysed(
        op("a", 0, 5, **{"Input Dims": [[2]]}),
        frame("f", 0, 9),
        host("user_annotation", "ProfilerStep#1", 0, 9),
        kernel("k", 3, 1),
    ).health
    assert full.recorded == {"shapes": True, "stacks": True, "memory": False, "device": True, "steps": True}
    assert not full.cpu_only


def test_the_profilers_own_time_is_a_union() -> None:
    health = analysed(
        host("overhead", "flush", 0, 10), host("overhead", "flush", 5, 10), kernel("k", 3, 1)
    ).health
    assert (health.overhead, health.overhead_calls) == (15_000, 2)


def test_a_record_that_overruns_three_later_ones_is_broken_and_clipped() -> None:
    events = [kernel("long", 0, 1000), *(kernel("k", 10 + 10 * i, 5) for i in range(4))]
    health = analysed(*events).health
    assert (health.overlong, health.overlong_clipped) == (1, 990_000)


def test_waiting_with_a_launch_that_has_no_record_may_hide_device_work() -> None:
    lost = launch(100, 5, 9)
    wait = call("cudaDeviceSynchronize", 110, 5_000)
    health = analysed(
        launch(0, 5, 1), kernel("k", 10, 20, 1), lost, wait, launch(9_000, 5, 2), kernel("k", 9_010, 5, 2)
    ).health
    assert health.unrecorded.dur.tolist() == [5_000_000]
    assert health.unrecorded.call.tolist() == ["cudaDeviceSynchronize"]


def test_a_wait_for_recorded_work_hides_nothing() -> None:
    wait = call("cudaDeviceSynchronize", 10, 5_000)
    health = analysed(launch(0, 5, 1), kernel("k", 20, 4_900, 1), wait, launch(9_000, 5, 3)).health
    assert not len(health.unrecorded)


def test_launches_without_records_are_lost_unless_nothing_could_be_recorded() -> None:
    events = [launch(10 * i, 2, i) for i in range(5)]
    kernels = [kernel("k", 10 * i + 5, 2, i) for i in range(3)]
    health = analysed(*events, *kernels, op("later", 5_000, 10)).health
    assert health.launches_lost == 2
