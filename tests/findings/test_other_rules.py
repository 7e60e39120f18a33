"""Rules about device time, step times and records: where each fires, and where it keeps silent."""

from __future__ import annotations

import pytest

from tests.analyses.making import Event, call, copy, device, host, kernel, launch, note, op
from tests.findings.making import findings, gap, lost, stakes, steps
from traceview.findings import Severity
from traceview.findings.finding import Finding

PINNED = "Memcpy HtoD (Pinned -> Device)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def at(finding: Finding, events: list[Event]) -> tuple[float, float]:
    """Return the window of a finding in the time of its events."""
    first = min(e["ts"] for e in events)
    assert finding.window is not None
    return finding.window[0] / 1_000 + first, finding.window[1] / 1_000 + first


def copied(name: str = "", ts: float = 120, dur: float = 100) -> list[Event]:
    """Return a trace with a copy between two kernels of 100 us that follow each other at 120 and 220."""
    found = [*gap(called=100, starts=220), call("cudaMemcpyAsync", 90, 2, 7), copy(ts, dur, 7, stream=9)]
    if name:
        found[-1]["name"] = name
    return found


def test_a_copy_of_pageable_memory_that_nothing_hides_is_found() -> None:
    finding = findings(*copied())["pageable-copies"]
    assert finding.at_stake == 100_000
    assert finding.severity == Severity.HIGH  # of 300
    assert at(finding, copied()) == (120, 220)


@pytest.mark.parametrize(
    "events", [copied(PINNED), copied(ts=20), copied(dur=2)], ids=["pinned", "hidden", "short"]
)
def test_pageable_copies_keep_silent(events: list[Event]) -> None:
    assert "pageable-copies" not in findings(*events)


def communicating(ts: float, dur: float = 100) -> list[Event]:
    """Return two kernels from 20 to 220, and a collective on another stream."""
    return [*gap(called=100, starts=120), launch(12, 5, 5), kernel(ALL_REDUCE, ts, dur, 5, stream=20)]


def test_communication_under_no_compute_is_found() -> None:
    finding = findings(*communicating(170))["exposed-communication"]
    assert finding.at_stake == 50_000  # 220 to 270, of 250
    assert at(finding, communicating(170)) == (220, 270)
    assert finding.severity == Severity.HIGH


@pytest.mark.parametrize(
    "events", [communicating(50), communicating(121, 101), gap()], ids=["hidden", "under 1 %", "none"]
)
def test_exposed_communication_keeps_silent(events: list[Event]) -> None:
    assert "exposed-communication" not in findings(*events)


def two_streams(called: float = 10, starts: float = 120, cat: str = "kernel", name: str = "b") -> list[Event]:
    """Return a kernel from 20 to 120 on stream 7, and work of 100 on stream 8."""
    other = device(cat, name, starts, 100, 2, stream=8)
    return [launch(5, 2, 1), kernel("a", 20, 100, 1), launch(called, 5, 2), other]


def test_work_that_waits_while_another_stream_works_is_found() -> None:
    # ready at 15, begun at 120: the other stream worked for all its 100 us meanwhile
    assert stakes(*two_streams())["serial-streams"] == 100
    assert stakes(*two_streams(called=75))["serial-streams"] == 40  # ready at 80


@pytest.mark.parametrize(
    "events",
    [
        two_streams(starts=30),
        two_streams(called=115),
        two_streams(name=ALL_REDUCE),
        two_streams(cat="gpu_memcpy", name=PINNED),
    ],
    ids=["side by side", "launched only then", "a collective", "a copy"],
)
def test_serial_streams_keep_silent(events: list[Event]) -> None:
    assert "serial-streams" not in findings(*events)


def test_a_long_first_step_is_found() -> None:
    finding = findings(*steps(400, 200, 200, 200))["first-step-outlier"]
    assert finding.at_stake == 200_000
    assert finding.window == (9_990_000, 10_390_000)  # the first event is at 10


@pytest.mark.parametrize(
    "periods",
    [(200, 200, 200, 200), (280, 200, 200, 200), (200, 400, 200, 200), (400, 200)],
    ids=["equal", "1.4 times", "a later one", "two steps"],
)
def test_first_step_outlier_keeps_silent(periods: tuple[float, ...]) -> None:
    assert "first-step-outlier" not in findings(*steps(*periods))


def test_step_times_that_spread_are_found() -> None:
    finding = findings(*steps(100, 140, 100, 140, 100))["unstable-steps"]
    assert finding.at_stake == 80_000  # two steps of 40 over the median of 100
    assert "40.0 %" in finding.sentence


@pytest.mark.parametrize(
    "periods",
    [(100, 105, 100, 105, 100), (100, 140, 120), (100, 100, 400, 100, 100)],
    ids=["5 % apart", "three steps", "one outlier"],
)
def test_unstable_steps_keep_silent(periods: tuple[float, ...]) -> None:
    assert "unstable-steps" not in findings(*steps(*periods))


def waiting(*before: Event, long: float = 5_000) -> list[Event]:
    """Return a trace in which the host waits for the device from 110 on, while it shows no work."""
    wait = call("cudaDeviceSynchronize", 110, long)
    return [
        launch(0, 5, 1),
        kernel("k", 10, 20, 1),
        *before,
        wait,
        launch(9_000, 5, 2),
        kernel("k", 9_010, 500, 2),
    ]


def test_a_wait_without_recorded_work_is_a_note_and_opens_where_it_lies() -> None:
    finding = findings(*waiting(launch(100, 5, 9)))["unrecorded-work"]
    assert (finding.at_stake, finding.severity) == (None, Severity.NOTE)
    assert finding.window == (110_000, 5_110_000)


@pytest.mark.parametrize(
    "events", [waiting(), waiting(launch(100, 5, 9), long=900)], ids=["nothing launched", "under 1 ms"]
)
def test_unrecorded_work_keeps_silent(events: list[Event]) -> None:
    assert "unrecorded-work" not in findings(*events)


def test_missing_device_records_are_said_last_and_without_a_stake() -> None:
    finding = findings(*gap(), *lost(2))["coverage-unreliable"]
    assert (finding.at_stake, finding.severity) == (None, Severity.NOTE)
    assert finding.sentence.startswith("2 of 4 launches that should have device records have them")


@pytest.mark.parametrize("events", [gap(), [op("aten::add", 0, 5)]], ids=["complete", "no launch"])
def test_coverage_unreliable_keeps_silent(events: list[Event]) -> None:
    assert "coverage-unreliable" not in findings(*events)


def test_a_trace_of_the_host_alone_says_how_to_record_the_device() -> None:
    finding = findings(op("aten::add", 0, 5))["cpu-only"]
    assert "ProfilerActivity.CUDA" in finding.advice
    assert finding.at_stake is None


@pytest.mark.parametrize("events", [gap(), [launch(0, 5, 1)]], ids=["device work", "launches"])
def test_cpu_only_keeps_silent(events: list[Event]) -> None:
    assert "cpu-only" not in findings(*events)


def kernels(**durations: float) -> list[Event]:
    return [kernel(name, 1_000 * i, dur) for i, (name, dur) in enumerate(durations.items())]


def test_a_kernel_with_a_third_of_the_kernel_time_is_described() -> None:
    finding = findings(*kernels(a=900, b=900, c=900))["dominant-kernel"]
    assert (finding.at_stake, finding.severity) == (None, Severity.NOTE)
    assert "33.3 %" in finding.sentence
    assert at(finding, kernels(a=900, b=900, c=900)) == (0, 900)


@pytest.mark.parametrize(
    "events",
    [
        kernels(a=900, b=900, c=900, d=900),
        kernels(a=100, b=50, c=50, d=50),
        kernels(**{ALL_REDUCE: 900}, b=100),
    ],
    ids=["a quarter", "a starving device", "a collective"],
)
def test_dominant_kernel_keeps_silent(events: list[Event]) -> None:
    assert "dominant-kernel" not in findings(*events)


def test_the_profilers_overhead_beside_a_busy_device_is_no_finding() -> None:
    busy = [host("overhead", "Buffer Flush", 30, 60), note("later", 400, 1)]
    assert "profiler-overhead-high" not in findings(*gap(called=100, starts=120), *busy)
