"""Tens of thousands of devices and streams: as fast as one, and each measured as if it were alone."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, fill, kernel, launch, op, read
from traceview.analyses import analyze
from traceview.tables import Table

record = st.tuples(
    st.integers(0, 3),  # device
    st.integers(7, 9),  # stream
    st.integers(1, 300),
    st.integers(0, 60),
    st.sampled_from(["k", "ncclKernel", "fill"]),
)


def made(number: int, drawn: tuple[int, int, int, int, str]) -> list[Event]:
    gpu, stream, ts, dur, name = drawn
    made = fill(ts, dur, number, device=gpu, stream=stream)
    if name != "fill":
        made = kernel(name, ts, dur, number, device=gpu, stream=stream)
    return [launch(max(ts - 20, 0), 3, number), made]


def rows(table: Table, device: str) -> list[tuple[Any, ...]]:
    """Return the rows of one device; rows of the trace have other numbers in another trace."""
    columns = [c.name for c in table.columns() if c.unit != "id"]
    both = zip(*(getattr(table, c).tolist() for c in columns), strict=True)
    return sorted(row for row in both if row[columns.index("device")] == device)


@settings(deadline=None, max_examples=40)
@given(st.lists(record, min_size=1, max_size=30))
def test_a_device_among_others_is_measured_as_if_it_were_alone(
    drawn: list[tuple[int, int, int, int, str]],
) -> None:
    pairs = [made(i, d) for i, d in enumerate(drawn)]
    host = [op("first", 0, 1), *(call for call, _ in pairs)]
    together = analysed(*host, *(work for _, work in pairs))
    for gpu in {d[0] for d in drawn}:
        alone = analysed(*host, *(work for _, work in pairs if work["pid"] == gpu))
        for name in ("gpu_time", "gaps"):
            assert rows(getattr(together, name), str(gpu)) == rows(getattr(alone, name), str(gpu))
        for name in ("times", "concurrency", "pairs"):
            found = [rows(getattr(a.streams, name), str(gpu)) for a in (together, alone)]
            assert found[0] == found[1]


def test_twenty_thousand_streams_of_five_thousand_devices_take_seconds() -> None:
    count = 20_000
    events = [kernel("k", 10 * i + 9, 5, i, device=i % 5000, stream=i) for i in range(count)]
    trace = read(*events, *[launch(10 * i, 3, i) for i in range(count)])
    begun = time.process_time()
    analysis = analyze(trace)
    assert time.process_time() - begun < 15  # 1 s where it was written
    assert len(analysis.gpu_time) == 5000
    assert len(analysis.streams.times) == count
    assert analysis.gaps.dur.sum() == analysis.gpu_time.idle.sum()


def test_twenty_thousand_merged_ranks_take_seconds() -> None:
    count = 20_000
    events = [
        {**kernel("k", 10 * i + ts, 5, device=0), "pid": f"[rank{i}] 0"}
        for i in range(count)
        for ts in (0, 30)
    ]
    trace = read(*events)
    begun = time.process_time()
    analysis = analyze(trace)
    assert time.process_time() - begun < 15
    assert analysis.gpu_time.idle.tolist() == [25_000] * count
