"""Launches, their latencies, and what is missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, call, codes, copy, kernel, launch, op, read, text
from traceview.analyses import Analysis, analyze
from traceview.sources import read_blocks


def us(analysis: Analysis, column: str) -> list[float]:
    return [v / 1000 if v >= 0 else v for v in getattr(analysis.launches.pairs, column).tolist()]


def test_latency_counts_from_the_start_and_queue_delay_from_the_end_of_the_call() -> None:
    analysis = analysed(launch(100, 5, 1), kernel("k", 130, 10, 1))
    assert us(analysis, "latency") == [30]
    assert us(analysis, "queue_delay") == [25]


def test_a_kernel_that_starts_while_its_call_runs_has_no_queue_delay_and_is_counted() -> None:
    analysis = analysed(launch(100, 20, 1), kernel("k", 110, 10, 1))
    assert us(analysis, "queue_delay") == [-1]
    assert analysis.launches.started_during_call == 1
    assert analysis.launches.queue_delay is None
    assert analysis.launches.latency is not None
    assert analysis.launches.negative == 0


def test_a_kernel_that_starts_when_its_call_returns_waited_for_nothing() -> None:
    analysis = analysed(launch(100, 20, 1), kernel("k", 120, 10, 1))
    assert us(analysis, "queue_delay") == [0]
    assert analysis.launches.started_during_call == 0


def test_a_kernel_before_its_launch_is_clock_skew_and_no_number() -> None:
    analysis = analysed(launch(100, 5, 1), kernel("k", 97, 10, 1), launch(120, 4, 2), kernel("k", 130, 6, 2))
    assert analysis.launches.negative == analysis.facts["negative_latency_count"] == 1
    assert us(analysis, "latency") == [10]
    assert "clock_skew" in codes(analysis)
    assert analysis.launches.linked == 2


def test_start_delay_is_what_the_launch_cost_after_the_stream_was_free() -> None:
    analysis = analysed(
        launch(100, 5, 1), launch(106, 5, 2), launch(300, 5, 3),
        kernel("first", 110, 50, 1),
        kernel("queued", 162, 10, 2),  # the stream was free at 160
        kernel("late", 308, 10, 3),  # launched at 300, long after the stream was free
    )  # fmt: skip
    assert us(analysis, "start_delay") == [-1, 2, 8]
    assert us(analysis, "latency") == [10, 56, 8]


def test_a_deep_queue_has_latency_and_no_start_delay() -> None:
    events: list[Event] = []
    for i in range(20):
        events += [launch(10 * i, 3, i), kernel("k", 10 + 100 * i, 100, i)]
    launches = analysed(*events).launches
    assert launches.start_delay is not None
    assert launches.start_delay.max == 0
    assert launches.latency is not None
    assert launches.latency.max == (10 + 100 * 19 - 10 * 19) * 1000


def test_the_work_before_on_the_stream_may_be_a_copy_and_other_streams_do_not_count() -> None:
    analysis = analysed(
        launch(100, 5, 1), launch(106, 5, 2),
        copy(90, 60), kernel("a", 153, 10, 1),
        kernel("b", 400, 10, 2, stream=9),
    )  # fmt: skip
    assert us(analysis, "start_delay") == [3, -1]


def test_overlap_within_a_stream_gives_no_negative_delay() -> None:
    analysis = analysed(launch(90, 2, 1), launch(93, 2, 2), kernel("a", 103, 4, 1), kernel("b", 105, 2, 2))
    assert us(analysis, "start_delay") == [-1, 0]


def graph(correlation: int, ts: float, *kernels: tuple[str, float, float]) -> list[Event]:
    events = [call("cudaGraphLaunch", ts, 10, correlation)]
    nodes = [
        kernel(n, s, d, correlation, **{"graph node id": 100 + i}) for i, (n, s, d) in enumerate(kernels)
    ]
    return [*events, *nodes]


def test_a_graph_launch_counts_once_and_only_its_first_record_has_a_latency() -> None:
    analysis = analysed(
        *graph(1, 100, ("a", 120, 5), ("b", 126, 6), ("a", 133, 5)),
        *graph(2, 200, ("a", 215, 5), ("b", 221, 7)),
        launch(300, 4, 3), kernel("c", 310, 28, 3),
    )  # fmt: skip
    launches = analysis.launches
    assert (launches.calls, launches.cpu_ns, launches.linked) == (3, 24_000, 6)
    assert us(analysis, "latency") == [20, 15, 10]
    assert launches.kernels_per_graph_launch.tolist() == [3, 2]
    assert launches.graph_kernel_share == 28 / 56
    assert launches.by_call.name.tolist() == ["cudaGraphLaunch", "cudaLaunchKernel"]
    assert launches.by_call.kernels.tolist() == [5, 1]


def test_a_graph_that_begins_with_a_copy_has_the_latency_of_the_copy() -> None:
    events = [call("cudaGraphLaunch", 100, 10, 1), copy(112, 3, 1), kernel("k", 118, 5, 1)]
    assert us(analysed(*events), "latency") == [12]


def test_a_graph_launch_without_records_has_no_kernels_to_list() -> None:
    facts = analysed(*graph(1, 100, ("a", 120, 5)), call("cudaGraphLaunch", 200, 9, 2)).facts
    assert (facts["graph_launches"], facts["graph_launches_with_kernels"]) == (2, 1)
    assert facts["kernels_per_graph_launch"] == [1]


def test_a_driver_call_inside_a_runtime_call_is_part_of_it() -> None:
    inner = {**launch(101, 3, 2), "cat": "cuda_driver", "name": "cuLaunchKernel"}
    analysis = analysed(launch(100, 6, 1), inner, kernel("k", 120, 10, 2))
    assert (analysis.launches.calls, analysis.launches.cpu_ns) == (1, 6_000)
    assert analysis.facts["links"] == [["k", 100]]
    assert analysis.launches.without_gpu == 0


def test_copies_fills_and_waits_are_no_launches() -> None:
    analysis = analysed(
        call("cudaMemcpyAsync", 100, 5, 1), copy(120, 10, 1), call("cudaMemsetAsync", 106, 2, 2),
        call("cudaDeviceSynchronize", 130, 50), launch(110, 5, 3), kernel("k", 140, 5, 3),
    )  # fmt: skip
    assert (analysis.launches.calls, analysis.launches.without_gpu) == (1, 0)
    assert analysis.launches.by_call.name.tolist() == ["cudaLaunchKernel"]


def test_a_call_of_any_name_is_a_launch_when_a_kernel_carries_its_id() -> None:
    analysis = analysed(call("xyzEnqueueSomething", 100, 5, 1), kernel("k", 120, 10, 1))
    assert (analysis.launches.calls, analysis.launches.cpu_ns) == (1, 5_000)


def test_a_kernel_without_a_call_is_unlinked() -> None:
    facts = analysed(kernel("before the window", 1, 2, 99), launch(100, 5, 1), kernel("k", 120, 10, 1)).facts
    assert (facts["kernels_linked"], facts["kernels_unlinked"]) == (1, 1)
    assert facts["links"] == [["k", 100]]


def test_links_name_the_time_as_the_file_writes_it() -> None:
    facts = analysed(launch(1712195495521.123, 5, 1), kernel("k", 1712195495530.5, 10, 1)).facts
    assert facts["links"] == [["k", 1712195495521.123]]


def test_at_most_a_thousand_links_are_listed_the_earliest_first() -> None:
    events = [e for i in range(1200) for e in (launch(10 * i, 3, i), kernel("k", 10 * i + 5, 1, i))]
    links = analysed(*events).facts["links"]
    assert len(links) == 1000
    assert links[-1] == ["k", 9990]


# coverage


def many(count: int, with_kernel: int) -> list[Event]:
    """Return launches 100 us apart; the first `with_kernel` have kernels, and the last 1 ms is empty."""
    launches = [launch(100 * i, 5, i) for i in range(count)]
    kernels = [kernel("k", 100 * i + 10, 50, i) for i in range(with_kernel)]
    return [*launches, *kernels, op("after", 100 * count + 2000, 1)]


@pytest.mark.parametrize(("present", "reliable"), [(200, True), (198, True), (197, False)])
def test_ninety_nine_percent_of_launches_need_records_to_speak_of_utilisation(
    present: int, reliable: bool
) -> None:
    analysis = analysed(*many(200, present))
    assert analysis.utilisation_reliable is reliable
    assert (analysis.utilisation is not None) is reliable
    assert analysis.facts["launches_without_gpu"] == 200 - present
    assert ("launches_without_kernels" in codes(analysis)) is not reliable


def test_launches_of_the_last_millisecond_are_set_aside() -> None:
    analysis = analysed(*many(200, 190)[:-1])  # the last launch began at 19900 us
    assert analysis.coverage.tail == 10
    assert analysis.coverage.expected == 190
    assert analysis.utilisation_reliable
    assert "launches_without_kernels" in codes(analysis, "info")


def test_launches_of_the_last_millisecond_that_have_records_are_not_set_aside() -> None:
    analysis = analysed(launch(980, 3, 1), kernel("k", 1000, 100, 1))
    assert analysis.coverage.tail == 0
    assert analysis.utilisation == 1


def captured(launches: int, threads: int = 1) -> list[Event]:
    """Return a stream capture of some launches on one thread, and on others launches at the same time."""
    events = [call("cudaStreamBeginCapture", 10, 1), call("cudaStreamEndCapture", 900, 1)]
    events += [launch(20 + i, 0.5, 1000 + i) for i in range(launches)]
    for t in range(1, threads):
        events += [launch(20, 5, 2000 + t, tid=t), kernel("side", 40, 5, 2000 + t, stream=t)]
    return events


def test_launches_under_stream_capture_start_nothing_and_are_set_aside() -> None:
    analysis = analysed(*captured(4), *[{**e, "ts": e["ts"] + 1000} for e in many(40, 40)])
    assert analysis.coverage.capture == 4
    assert analysis.utilisation_reliable
    assert "stream capture" in analysis.launches.without_reason


def test_a_run_that_mostly_captures_cannot_tell_utilisation() -> None:
    analysis = analysed(*captured(30), *[{**e, "ts": e["ts"] + 1000} for e in many(40, 40)])
    assert analysis.coverage.capture == 30  # of 70: over 20 %
    assert not analysis.utilisation_reliable
    assert "launches_without_kernels" in codes(analysis)


def test_a_capture_holds_the_launches_of_its_own_thread_only() -> None:
    events = [*captured(1), launch(30, 2, 77, tid=5), *[{**e, "ts": e["ts"] + 1000} for e in many(40, 40)]]
    assert analysed(*events).coverage.capture == 1


def test_the_message_names_the_cut_of_a_cut_file() -> None:
    whole = text(launch(10, 5, 1), launch(20, 5, 2), kernel("k", 30, 5, 1), kernel("cut off", 40, 5, 2))
    analysis = analyze(read_blocks([whole[: whole.index(b"cut off")]]))
    (message,) = [w.message for w in analysis.warnings if w.code == "launches_without_kernels"]
    assert message.startswith("1 of 2 launches without a device record: the file is cut")
    assert "privileges" not in message


def test_the_message_names_records_that_could_not_be_timed() -> None:
    lost = kernel("k", 40, 5, 2)
    del lost["dur"]
    analysis = analysed(launch(10, 5, 1), launch(20, 5, 2), kernel("k", 30, 5, 1), lost)
    assert "1 device records could not be timed" in analysis.launches.without_reason
    assert analysis.launches.without_gpu == 1


def test_an_untimed_record_counts_as_present() -> None:
    analysis = analysed(launch(10, 5, 1), kernel("k", 0, 0, 1), launch(20, 5, 2), kernel("k", 40, 5, 2))
    assert analysis.launches.without_gpu == 0
    assert analysis.utilisation_reliable


def test_launches_without_any_record_have_the_usual_causes_named() -> None:
    analysis = analysed(launch(10, 5, 1), op("x", 5000, 1))
    assert "permission" in analysis.launches.without_reason
    assert analysis.utilisation is None
    assert analysis.facts["utilisation_reliable"] is False
    assert {"no_gpu_events", "launches_without_kernels"} <= codes(analysis)


def test_no_launches_are_no_reason_to_doubt_the_device() -> None:
    analysis = analysed(kernel("k", 10, 5), kernel("k", 20, 5))
    assert analysis.utilisation == 10 / 15


@given(
    st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 20), st.integers(-5, 300), st.integers(0, 40)),
        min_size=1,
        max_size=20,
    )
)
def test_no_delay_is_negative_and_a_start_delay_never_exceeds_the_latency(
    drawn: list[tuple[int, ...]],
) -> None:
    events: list[Event] = []
    for i, (ts, dur, after, length) in enumerate(drawn):
        events += [launch(10 + ts, dur, i, tid=i), kernel("k", 10 + ts + after, length, i, stream=i % 3)]
    pairs = analyze(read(*events)).launches.pairs
    assert (pairs.latency >= 0).all()
    assert (pairs.queue_delay >= -1).all()
    assert (pairs.start_delay >= -1).all()
    assert (pairs.start_delay <= pairs.latency).all()
    assert (pairs.queue_delay <= pairs.latency).all()
