"""Rules about idle time: what each finds in one gap, with the stake by hand, and where it keeps silent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analyses.making import Event, call, copy, host, kernel, launch, note, op
from tests.findings.making import findings, gap, loop, lost, stakes, steps
from traceview.findings import Severity

LOADER = note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 130, 60)
SYNC = call("cudaStreamSynchronize", 30, 92)
ALLOCATION = call("cudaMalloc", 140, 50)
PAGEABLE = call("cudaMemcpyAsync", 30, 92, 7)

# rule, what else the trace has, how the second kernel is launched, us at stake: the gap runs from 120 to 230
CAUSES: list[tuple[str, list[Event], dict[str, Any], float]] = [
    ("host-late-gaps", [], {}, 100),  # 120 to the call at 220
    ("data-loading", [LOADER], {}, 60),
    ("allocation-stalls", [ALLOCATION], {}, 50),
    ("slow-launches", [], {"called": 130, "took": 95}, 95),
    ("queued-work", [], {"called": 121, "took": 4}, 105),  # returned at 125, over 100 us before the start
    ("profiler-overhead-high", [host("overhead", "Buffer Flush", 140, 40)], {}, 40),
    ("unexplained-idle", [], {"called": 20_000}, 110),
    ("sync-in-loop", [SYNC], {}, 90),  # blocked from 30 to the opening at 120; host late and waiting are 100
    ("blocking-copies", [PAGEABLE, copy(119, 1, 7, stream=9)], {}, 90),
]
IDS = [slug for slug, *_ in CAUSES]


def trace(slug: str, events: list[Event], shape: dict[str, Any], work: float = 100) -> list[Event]:
    made = gap(*events, **shape, work=work)
    if slug == "unexplained-idle":  # its kernel names no launch
        made[3] = kernel("second", 230, work)
        del made[2]
    return made


@pytest.mark.parametrize(("slug", "events", "shape", "stake"), CAUSES, ids=IDS)
def test_a_cause_of_idle_time_is_found_with_its_own_part_at_stake(
    slug: str, events: list[Event], shape: dict[str, Any], stake: float
) -> None:
    finding = findings(*trace(slug, events, shape))[slug]
    assert finding.at_stake == stake * 1000
    assert finding.share == pytest.approx(stake / 310)  # of the span: 20 to 330
    if finding.window is not None:
        assert finding.window == (
            82_500,
            247_500,
        )  # the gap and a quarter of it on both sides, from the origin at 10


@pytest.mark.parametrize(("slug", "events", "shape", "stake"), CAUSES, ids=IDS)
def test_on_a_busy_device_it_is_a_note(
    slug: str, events: list[Event], shape: dict[str, Any], stake: float
) -> None:
    finding = findings(*trace(slug, events, shape, work=2_000))[slug]
    assert finding.severity == Severity.NOTE
    assert finding.at_stake == stake * 1000


@pytest.mark.parametrize(("slug", "events", "shape", "stake"), CAUSES, ids=IDS)
def test_what_is_known_with_low_confidence_is_medium_at_most(
    slug: str, events: list[Event], shape: dict[str, Any], stake: float
) -> None:
    finding = findings(*trace(slug, events, shape))[slug]
    assert stake / 310 >= 0.12  # so that all but the smallest are high by their stake
    expected = Severity.MEDIUM if finding.confidence == "low" or stake / 310 < 0.15 else Severity.HIGH
    assert finding.severity == expected


@pytest.mark.parametrize(("slug", "events", "shape", "stake"), CAUSES, ids=IDS)
def test_below_one_per_cent_nothing_is_said(
    slug: str, events: list[Event], shape: dict[str, Any], stake: float
) -> None:
    assert slug not in findings(*trace(slug, events, shape, work=99 * stake))


@pytest.mark.parametrize(("slug", "events", "shape", "stake"), CAUSES, ids=IDS)
def test_where_device_records_are_missing_nothing_is_said(
    slug: str, events: list[Event], shape: dict[str, Any], stake: float
) -> None:
    found = findings(*trace(slug, events, shape), *lost(10))
    assert stake
    assert slug not in found
    assert "coverage-unreliable" in found


def test_a_cause_that_is_not_there_is_not_found() -> None:
    assert stakes(*gap()) == {"host-late-gaps": 100}
    assert "slow-launches" not in findings(*gap(called=185, took=40))  # 40 us of a call are no alarm


def test_idle_time_outside_of_steps_is_not_charged_to_them() -> None:
    around = [note("ProfilerStep#0", 5, 12), note("ProfilerStep#1", 215, 12)]
    assert stakes(*gap(*around))["host-late-gaps"] == 100
    late = [launch(9_000, 5, 3), kernel("third", 9_010, 10, 3)]
    assert stakes(*gap(*around), *late)["host-late-gaps"] == 100


def test_each_cause_is_placed_by_its_own_slices_not_by_the_largest_part_of_the_gap() -> None:
    # of the gap the loader holds 130 to 190, and the host is late before and behind it
    found = findings(*gap(LOADER, op("aten::late", 191, 28), op("aten::early", 121, 2)))
    late, loading = (found[slug].texts for slug in ("host-late-gaps", "data-loading"))
    assert late["where the host was"] == "most of it under aten::late"  # 30 of 40 us
    assert loading["where the host was"].startswith("most of it under enumerate(DataLoader)")


@pytest.mark.parametrize(
    ("around", "place"),
    [
        (note("optimizer", 120, 100), "optimizer"),
        (host("python_function", "train.py(7): log", 120, 100), "train.py(7): log"),
    ],
    ids=["annotation", "Python frame"],
)
def test_a_late_host_outside_of_operators_is_placed_by_annotation_or_python(
    around: Event, place: str
) -> None:
    found = findings(*gap(around, call("cudaMalloc", 140, 45)))["host-late-gaps"]
    assert f"under {place}" in found.sentence


def test_a_data_loader_is_not_charged_to_the_wait_at_its_end() -> None:
    assert stakes(*gap(LOADER, call("cudaStreamSynchronize", 185, 6))) == {
        "data-loading": 60,
        "host-late-gaps": 39,
    }


def test_the_profilers_last_synchronise_is_no_finding() -> None:
    assert "sync-in-loop" not in findings(*gap(), call("cudaDeviceSynchronize", 300, 1_000))


def item_per_step(work: float) -> list[Event]:
    """Return four steps whose kernel runs for `work`, each with a .item() behind it: 60 us idle per step."""
    events: list[Event] = []
    long = work + 60
    for i in range(4):
        at = long * i
        events += [note(f"ProfilerStep#{i}", at, long - 1), launch(at + 10, 5, i + 1)]
        events += [kernel("k", at + 20, work, i + 1), op("aten::item", at + 16, work + 6)]
        events += [call("cudaStreamSynchronize", at + 18, work + 3)]
    return events


def test_an_item_per_step_on_a_busy_device_is_a_note_at_most() -> None:
    found = findings(*item_per_step(work=1_000))
    assert {"sync-in-loop", "host-late-gaps"} < set(found)
    assert {f.severity for f in found.values()} == {Severity.NOTE}


def test_an_item_per_step_on_a_starving_device_is_an_alarm() -> None:
    found = findings(*item_per_step(work=40))["sync-in-loop"]
    # each of three gaps of 60: after the wait returns 1 us later the host is late for 49; blocked for 42 before
    assert found.at_stake == 3 * 42_000
    assert found.severity == Severity.HIGH
    assert "aten::item" in found.sentence


def test_launch_bound_says_how_long_the_device_waits_between_short_kernels() -> None:
    assert stakes(*loop(120))["launch-bound"] == 119 * 45  # host late 35, in the call 5, in flight 5


@pytest.mark.parametrize(
    "events",
    [
        loop(99),  # too few
        loop(120, dur=25, apart=75),  # kernels over 20 us
        loop(120, ahead=True),  # launched long before: queued
        loop(120, apart=400),  # gaps over 200 us
    ],
    ids=["few kernels", "long kernels", "launched ahead", "long gaps"],
)
def test_launch_bound_keeps_silent(events: list[Event]) -> None:
    assert "launch-bound" not in findings(*events)


def test_short_kernels_are_shown_where_they_are_densest() -> None:
    slow = loop(60, apart=60)
    fast = [
        {**e, "ts": e["ts"] + 10_000, "args": {**e["args"], "correlation": e["args"]["correlation"] + 1_000}}
        for e in loop(50, apart=40)
    ]
    # launched at 10,010, the first of the fast ones begins at 10,020 and the last ends at 10,020 + 49 * 40 + 5
    window = findings(*slow, *fast)["short-kernels"].window
    assert window == ((10_020 - 10) * 1_000, (10_020 + 49 * 40 + 5 - 10) * 1_000)


def test_short_kernels_cost_what_their_starts_cost() -> None:
    assert stakes(*loop(120))["short-kernels"] == 119 * 10  # from the call to the start


@pytest.mark.parametrize(
    "events",
    [
        [*loop(120), launch(6_010, 5, 900), kernel("long", 6_020, 3_000, 900)],  # a sixth of the kernel time
        loop(120, ahead=True),
        loop(120, dur=12),
    ],
    ids=["little of the time", "launched ahead", "over 10 us"],
)
def test_short_kernels_keep_silent(events: list[Event]) -> None:
    assert "short-kernels" not in findings(*events)


def test_a_sequence_that_repeats_is_worth_a_graph() -> None:
    found = findings(*loop(96, name=lambda i: f"k{i % 8}"))["repeated-sequences"]
    assert "sequence of 8 kernels repeats 12 times" in found.sentence
    assert found.at_stake == 95 * 45_000


@pytest.mark.parametrize(
    "events",
    [
        loop(96, name=lambda i: f"k{i * i % 97}"),
        loop(56, name=lambda i: f"k{i % 8}"),
        loop(96, name=lambda i: f"k{i % 8}", ahead=True),
    ],
    ids=["nothing repeats", "seven times only", "launched ahead"],
)
def test_repeated_sequences_keep_silent(events: list[Event]) -> None:
    assert "repeated-sequences" not in findings(*events)


def stepwise(*allocating: int, number: int = 4) -> list[Event]:
    """Return steps of 200 us with kernels of 100, some of which allocate for 40 before they launch."""
    events: list[Event] = []
    for i in range(number):
        at = 200.0 * i
        events += [
            note(f"ProfilerStep#{i}", at, 199),
            launch(at + 80, 5, i + 1),
            kernel("k", at + 90, 100, i + 1),
        ]
        if i in allocating:
            events.append(call("cudaMalloc", at + 20, 40))
    return events


def test_allocation_in_the_loop_counts_from_the_second_step_on() -> None:
    # gaps open at 190 + 200 i and are of step i; steps 2 and 3 allocate for 40 in the gaps of steps 1 and 2
    assert stakes(*stepwise(0, 2, 3))["allocation-in-loop"] == 80


@pytest.mark.parametrize(
    "events", [stepwise(0), stepwise(0, 2), stepwise(1, number=2)], ids=["warm-up", "one step", "two steps"]
)
def test_allocation_in_the_loop_keeps_silent(events: list[Event]) -> None:
    assert "allocation-in-loop" not in findings(*events)


def test_allocation_under_a_full_queue_costs_nothing() -> None:
    events = [*steps(100, 100, 100, 100, work=1), *(call("cudaMalloc", 40 + 100 * i, 30) for i in range(5))]
    assert stakes(*events) == {}
