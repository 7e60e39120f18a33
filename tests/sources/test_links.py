"""Device work is linked to the host call that launched it."""

from __future__ import annotations

from tests.sources.trace_text import event, launch, launched_by, read
from traceview.events import Flag, Kind


def test_an_id_links_a_kernel_to_its_launch_whatever_their_order_in_time() -> None:
    trace = read([launch(100, 1), event("early", "kernel", 97, 10, correlation=1)])
    assert launched_by(trace) == {("early", 97_000): ("cudaLaunchKernel", 100_000)}


def test_a_graph_launch_starts_many_kernels() -> None:
    kernels = [event(f"k{i}", "kernel", 20 + i, 1, correlation=5) for i in range(3)]
    trace = read([launch(10, 5, name="cudaGraphLaunch"), *kernels])
    assert set(launched_by(trace).values()) == {("cudaGraphLaunch", 10_000)}
    flags = trace.slices.flags[trace.rows_of(Kind.KERNEL)]
    assert all(flags & Flag.GRAPH)


def test_a_driver_call_inside_a_runtime_call_is_part_of_it() -> None:
    outer = launch(10, 1, dur=8)
    inner = event("cuLaunchKernel", "cuda_driver", 12, 3, correlation=2)
    trace = read([outer, inner, event("k", "kernel", 20, 1, correlation=2)])
    assert launched_by(trace) == {("k", 20_000): ("cudaLaunchKernel", 10_000)}
    nested = [trace.name_of(int(r)) for r in (trace.slices.flags & Flag.NESTED_CALL).nonzero()[0]]
    assert nested == ["cuLaunchKernel"]


def test_a_call_that_begins_where_another_ends_is_not_inside_it() -> None:
    trace = read([launch(10, 1, dur=2), launch(12, 2, dur=0), event("k", "kernel", 20, 1, correlation=2)])
    assert launched_by(trace) == {("k", 20_000): ("cudaLaunchKernel", 12_000)}


def test_ids_are_opaque_beyond_every_integer_and_as_texts() -> None:
    ids = [2**53, 2**53 + 1, 2**64 + 1, "abc", "0x7f", "21"]
    calls = [launch(10 + i, x, dur=0.5) for i, x in enumerate(ids)]
    kernels = [event(f"k{i}", "kernel", 50 + i, 1, correlation=x) for i, x in enumerate(ids)]
    linked = launched_by(read([*calls, *kernels]))
    assert linked == {
        (f"k{i}", (50 + i) * 1000): ("cudaLaunchKernel", (10 + i) * 1000) for i in range(len(ids))
    }


def test_a_repeated_id_goes_to_the_last_call_that_began_before_the_work() -> None:
    calls = [launch(10, 1), launch(100, 1)]
    trace = read(
        [*calls, event("a", "kernel", 20, 1, correlation=1), event("b", "kernel", 120, 1, correlation=1)]
    )
    assert launched_by(trace) == {
        ("a", 20_000): ("cudaLaunchKernel", 10_000),
        ("b", 120_000): ("cudaLaunchKernel", 100_000),
    }


def test_merged_ranks_keep_their_ids_apart() -> None:
    def rank(n: int, at: float) -> list[dict[str, object]]:
        call = {**launch(at, 1), "pid": f"[rank{n}] 100"}
        kernel = {**event(f"k{n}", "kernel", at + 200, 1, correlation=1), "pid": f"[rank{n}] 0"}
        return [call, kernel]

    trace = read([*rank(0, 10), *rank(1, 20)])
    assert launched_by(trace) == {
        ("k0", 210_000): ("cudaLaunchKernel", 10_000),
        ("k1", 220_000): ("cudaLaunchKernel", 20_000),
    }
    assert [d.key for d in trace.devices] == ["rank0/0", "rank1/0"]


def test_any_call_whose_id_a_kernel_carries_launched_it() -> None:
    trace = read([launch(10, 1, name="vendorEnqueueThing"), event("k", "kernel", 20, 1, correlation=1)])
    assert [trace.name_of(r) for r in trace.rows_of(Kind.LAUNCH)] == ["vendorEnqueueThing"]


def test_a_copy_is_linked_to_its_call_which_is_no_launch() -> None:
    copy = event("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 20, 1, correlation=1)
    trace = read([launch(10, 1, name="cudaMemcpyAsync"), copy])
    assert launched_by(trace) == {("Memcpy HtoD (Pageable -> Device)", 20_000): ("cudaMemcpyAsync", 10_000)}
    assert not len(trace.rows_of(Kind.LAUNCH))


def test_the_same_record_twice_is_flagged_and_twins_on_another_stream_are_not() -> None:
    same = event("k", "kernel", 20, 5, correlation=1)
    other = event("k", "kernel", 20, 5, correlation=1, args={"stream": 8})
    trace = read([launch(10, 1), same, same, other])
    assert len(trace.rows_of(Kind.KERNEL)) == 2
    assert [(n.code, n.count) for n in trace.notices] == [("duplicate_records", 1)]


def test_equal_nodes_of_one_graph_launch_are_no_duplicates() -> None:
    twin = event("k", "kernel", 20, 5, correlation=1)
    trace = read([launch(10, 1, name="cudaGraphLaunch"), twin, twin])
    assert len(trace.rows_of(Kind.KERNEL)) == 2
    assert not trace.notices


def test_flow_arrows_link_only_where_no_id_does() -> None:
    events = [
        {"name": "add", "ph": "X", "ts": 10, "dur": 5, "tid": 1, "pid": "CPU functions"},
        {"name": "n", "ph": "s", "ts": 10, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda"},
        {"name": "n", "ph": "f", "ts": 20, "tid": 0, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda"},
        {"name": "add", "ph": "X", "ts": 20, "dur": 3, "tid": 0, "pid": "CUDA functions"},
    ]
    assert launched_by(read(events)) == {("add", 20_000): ("add", 10_000)}
