"""Launch behaviour: queue depth, what launching costs, kernel lengths; calculated by hand."""

from __future__ import annotations

from tests.analyses.making import analysed, call, kernel, launch, op


def test_the_queue_is_deep_while_work_is_launched_and_not_begun() -> None:
    result = analysed(
        launch(0, 2, 1),
        launch(10, 2, 2),
        launch(20, 2, 3),
        kernel("a", 5, 30, 1),
        kernel("a", 35, 30, 2),
        kernel("a", 65, 30, 3),
    ).launch_behaviour
    depth = result.depth
    points = list(zip((depth.time // 1000).tolist(), depth.depth.tolist(), strict=True))
    assert points == [(0, 1), (5, 0), (10, 1), (20, 2), (35, 1), (65, 0)]
    assert set(depth.stream) == {"7"}


def test_only_idle_time_of_the_device_counts_as_cost_of_launching() -> None:
    # the second kernel waits from its launch (50) to 60 while the device idles; the third waits under the second
    result = analysed(
        launch(0, 2, 1),
        kernel("a", 5, 30, 1),
        launch(50, 2, 2),
        kernel("a", 60, 30, 2),
        launch(70, 2, 3),
        kernel("b", 90, 5, 3),
    ).launch_behaviour
    assert result.delay_cost == 10_000


def test_kernels_shorter_than_the_call_that_launched_them_are_counted() -> None:
    result = analysed(
        op("aten::add", 0, 10),
        launch(1, 5, 1),
        kernel("short", 20, 3, 1),
        launch(30, 5, 2),
        kernel("long", 50, 30, 2),
    ).launch_behaviour
    assert (result.shorter_than_launch, result.shorter_share) == (1, 0.5)
    assert result.without_operator == 1


def test_a_graph_is_one_launch_and_its_kernels_are_compared_with_no_call() -> None:
    graph = call("cudaGraphLaunch", 0, 9, 5)
    result = analysed(graph, *(kernel("g", 20 + 5 * i, 2, 5) for i in range(3))).launch_behaviour
    assert (result.graph_launches, result.graph_kernels) == (1, 3)
    assert result.shorter_share is None


def test_the_histogram_holds_every_kernel_once() -> None:
    lengths = analysed(
        kernel("a", 5, 0), kernel("a", 10, 1), kernel("a", 20, 4.999), kernel("a", 40, 20_000)
    ).launch_behaviour.lengths
    bars = {int(s) // 1000: int(n) for s, n in zip(lengths.shortest, lengths.kernels, strict=True) if n}
    assert bars == {0: 1, 1: 1, 2: 1, 10_000: 1}
    assert int(lengths.sum.sum()) == 0 + 1_000 + 4_999 + 20_000_000


def test_a_trace_without_launches_has_no_shares() -> None:
    result = analysed(kernel("a", 0, 5)).launch_behaviour
    assert (result.shorter_share, result.delay_cost, len(result.depth)) == (None, 0, 0)
