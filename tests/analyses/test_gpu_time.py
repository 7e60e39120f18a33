"""The split of a device's span."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, copy, fill, kernel

PARTS = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
NAMES = {"compute": "k", "collective": "ncclKernel_x"}


def made(kind: str, ts: int, dur: int, gpu: int) -> Event:
    if kind in NAMES:
        return kernel(NAMES[kind], ts, dur, device=gpu, stream=7)
    return (copy if kind == "copy" else fill)(ts, dur, device=gpu, stream=8)


work = st.lists(
    st.tuples(
        st.sampled_from(["compute", "collective", "copy", "fill"]),
        st.integers(1, 60),
        st.integers(0, 20),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=25,
)


@given(work)
def test_every_microsecond_of_the_span_has_the_most_important_work_of_that_time(
    drawn: list[tuple[str, int, int, int]],
) -> None:
    table = analysed(*[made(*w) for w in drawn]).gpu_time
    order = ("compute", "collective", "copy", "fill")
    for i, device in enumerate(table.device.tolist()):
        own = [(k, ts, ts + dur) for k, ts, dur, gpu in drawn if str(gpu) == device]
        first, last = min(s for _, s, _ in own), max(e for _, _, e in own)
        expected = dict.fromkeys(PARTS, 0)
        for t in range(first, last):
            running = {k for k, s, e in own if s <= t < e}
            what = next((k for k in order if k in running), "idle")
            key = what if what in ("compute", "idle") else f"exposed_{what}"
            expected[key] += 1000
        assert {p: int(getattr(table, p)[i]) for p in PARTS} == expected
        assert table.span[i] == (last - first) * 1000
        assert table.busy[i] == table.span[i] - table.idle[i]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), min_size=1, max_size=30))
def test_the_parts_add_up_to_the_span_to_the_nanosecond(drawn: list[tuple[int, int]]) -> None:
    events = [
        kernel("k" if i % 3 else "nccl", 1 + ts / 1000, dur / 1000) for i, (ts, dur) in enumerate(drawn)
    ]
    table = analysed(*events, copy(500.001, 30.007)).gpu_time
    assert sum(int(getattr(table, p)[0]) for p in PARTS) == int(table.span[0])


def test_streams_side_by_side_are_busy_once_and_summed_twice() -> None:
    table = analysed(kernel("a", 1000, 100), kernel("b", 1040, 80, stream=8)).gpu_time
    assert (table.kernel_sum[0], table.kernel_busy[0], table.busy[0]) == (180_000, 120_000, 120_000)


def test_devices_are_measured_on_their_own_span() -> None:
    analysis = analysed(kernel("a", 0.5, 10), kernel("b", 100, 10, device=1), kernel("b", 120, 10, device=1))
    assert analysis.gpu_time.span.tolist() == [10_000, 30_000]
    assert analysis.facts["gpu_span_us"] == 40
    assert analysis.facts["utilisation"] == 30 / 40
    assert analysis.facts["kernel_busy_us_by_device"] == {"0": 10, "1": 20}


def test_a_device_whose_records_all_lack_a_time_has_no_span() -> None:
    analysis = analysed(kernel("a", 0, 0, device=1), kernel("b", 100, 10))
    assert dict(zip(analysis.gpu_time.device, analysis.gpu_time.span, strict=True)) == {"0": 10_000, "1": 0}
