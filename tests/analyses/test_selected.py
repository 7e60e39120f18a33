"""Chosen steps are answered over their device windows, and windows lie on every device: worked out by hand, and by microseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses.making import Event, analysed, call, copy, fill, kernel, launch, note, read
from traceview.analyses import Analysis, Choice, analyze
from traceview.analyses.gap_parts import CAUSES
from traceview.events import DEVICE_WORK
from traceview.findings import check
from traceview.report.export import summary_document

PARTS = ("compute", "exposed_collective", "exposed_copy", "exposed_fill", "idle")
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def loading(count: int = 4) -> list[Event]:
    """Return steps of 1000 us: 600 of a data loader, then a launch 50 later and a kernel of 300 that starts 10 after it."""
    events: list[Event] = []
    for i in range(count):
        at = 1000 * i
        events += [note(f"ProfilerStep#{i}", at, 1000), note(LOADER, at, 600)]
        events += [launch(at + 650, 5, i), kernel("k", at + 660, 300, i)]
    return events


def chosen(*events: Event, steps: str) -> Analysis:
    selected = analyze(read(*events), choice=Choice.parsed(steps)).selected
    assert selected is not None
    return selected


def us(analysis: Analysis, column: str = "total") -> dict[str, float]:
    """Return us by cause, those without any left out."""
    table = analysis.gap_causes
    both = zip(table.cause.tolist(), getattr(table, column).tolist(), strict=True)
    return {cause: ns / 1000 for cause, ns in both if ns}


def test_a_chosen_step_has_the_idle_time_up_to_the_next_steps_first_record() -> None:
    # its window runs from 1660 to 2660: 300 of work, then nothing to 2000, loading to 2600, the launch from 2650 to 2655
    selected = chosen(*loading(), steps="1:1")
    assert selected.gpu_time.span.tolist() == [1_000_000]
    assert selected.gpu_time.idle.tolist() == [700_000]
    assert selected.gpu_time.first.tolist() == [1_660_000]
    assert selected.gpu_time.last.tolist() == [2_660_000]
    causes = {"data loading": 600, "host late": 90, "inside the launch call": 5, "launch in flight": 5}
    assert us(selected) == us(selected, "inside_steps") == causes
    assert us(selected, "outside_steps") == {}
    assert selected.facts["utilisation"] == 0.3
    finding = next(f for f in check(selected).found if f.slug == "data-loading")
    assert (finding.at_stake, finding.share) == (600_000, 0.6)


def test_the_last_step_is_answered_up_to_the_end_of_its_own_work() -> None:
    selected = chosen(*loading(), steps="3:")
    assert selected.gpu_time.span.tolist() == [300_000]
    assert len(selected.gaps) == 0


def test_steps_chosen_together_have_the_time_of_each_and_their_rows_name_the_step_among_them() -> None:
    selected = chosen(*loading(), steps="1:2")
    assert selected.gpu_time.idle.tolist() == [1_400_000]
    assert selected.gaps.step.tolist() == [0, 1]
    assert selected.step_windows.number.tolist() == [1, 2]
    assert selected.gap_slices.gap.max() == 1
    assert {selected.gaps.cause[g] for g in selected.gap_slices.gap.tolist()} == {"data loading"}


def test_the_launch_that_ends_a_gap_is_named_where_it_was_chosen_and_else_not() -> None:
    found = chosen(*loading(), steps="1:2")
    first, second = found.gaps.launch.tolist()
    assert found.trace.name_of(first) == "cudaLaunchKernel"
    assert found.trace.slices.start[first] == 2_650_000
    assert second == -1


def test_work_of_other_steps_in_a_chosen_window_is_no_idle_time() -> None:
    # step 2 copies its batch from 2100 to 2500 on a side stream, in the window of step 1
    early = [launch(2010, 2, 77), copy(2100, 400, 77, stream=20)]
    selected = chosen(*loading(), *early, steps="1:1")
    assert selected.gpu_time.exposed_copy.tolist() == [400_000]
    assert selected.gpu_time.idle.tolist() == [300_000]
    assert len(selected.copies) == 0
    assert chosen(*loading(), *early, steps="2:2").copies.sum.tolist() == [400_000]


def test_a_wait_is_charged_with_the_gap_behind_the_work_of_its_step() -> None:
    # step 1 waits from 1700 to 1970 for the kernel that ends at 1960: blocked for 260 when the gap opens
    waits = [call("cudaDeviceSynchronize", 1000 * i + 700, 270) for i in range(4)]
    events = [e for e in loading() if e["name"] != LOADER]
    selected = chosen(*events, *waits, steps="1:1")
    assert us(selected)["host late"] == 680  # 1970 to the launch at 2650
    assert us(selected)["synchronisation or blocking copy"] == 10
    assert (selected.syncs.calls.tolist(), selected.syncs.damage.tolist()) == ([1], [260_000])


def test_device_work_without_a_launch_is_kept_where_it_starts_in_a_window_on_its_own_device() -> None:
    # device 1: the window of step 1 runs from 150 to 250, on device 0 from 110 to 210
    strays = [kernel("early", 120, 5, device=1), kernel("late", 230, 5, device=1)]
    selected = chosen(*two_devices(), *strays, steps="1:1")
    assert sorted(selected.kernels.name.tolist()) == ["late", "main", "side"]


def test_a_selection_without_any_window_has_the_time_of_the_work_that_it_launched() -> None:
    # the chosen step has work on a side stream only
    side = [
        launch(1010, 2, 77),
        copy(1100, 40, 77, stream=20),
        launch(1020, 2, 78),
        copy(1200, 40, 78, stream=20),
    ]
    events = [e for e in loading() if not (e["cat"] == "kernel" and e["ts"] == 1660)]
    selected = chosen(*events, *side, steps="1:1")
    assert selected.step_windows.window_start.tolist() == [-1]
    assert selected.gpu_time.span.tolist() == [140_000]
    assert not selected.in_windows


def test_all_steps_are_those_that_annotations_mark_where_the_profiler_marks_none() -> None:
    events = [{**e, "name": e["name"].replace("ProfilerStep#", "Iteration ")} for e in loading()]
    for steps, count in ((":", 4), ("1:2", 2)):
        selected = chosen(*events, steps=steps)
        assert selected.facts["step_count"] == count
        assert len(selected.step_windows) == count


def test_a_wait_for_work_of_an_earlier_step_is_no_wait_without_work() -> None:
    first = [note("ProfilerStep#0", 0, 1000), launch(650, 5, 0), kernel("k", 660, 3340, 0)]
    lost, wait = launch(2010, 2, 99), call("cudaDeviceSynchronize", 2020, 1985)
    second = [note("ProfilerStep#1", 2000, 2500), lost, wait, launch(4007, 2, 1), kernel("k", 4010, 90, 1)]
    assert len(chosen(*first, *second, steps="1:1").health.unrecorded) == 0


def test_a_launch_at_the_end_of_the_chosen_steps_is_not_excused_by_the_end_of_the_recording() -> None:
    lost = launch(1990, 2, 99)  # 2 ms before the recording ends
    assert chosen(*loading(), lost, steps="1:1").coverage.tail == 0


def test_selected_answers_of_json_agree_with_each_other() -> None:
    document = summary_document(analyze(read(*loading()), choice=Choice.parsed("1:2")))["selected"]
    assert document["gpu_time"] == document["window_time"]
    assert document["facts"]["idle_us"] == 1400 == sum(row["total_us"] for row in document["gap_causes"])


def two_devices() -> list[Event]:
    """Return steps of 100 us with work on two devices; that of the second is less, and begins 40 us later."""
    events: list[Event] = []
    for i in range(4):
        at = 100 * i
        events += [note(f"ProfilerStep#{i}", at, 100)]
        events += [launch(at + 2, 2, 10 * i), kernel("main", at + 10, 60, 10 * i)]
        events += [launch(at + 6, 2, 10 * i + 1), kernel("side", at + 50, 20, 10 * i + 1, device=1)]
    return events


def test_each_device_has_windows_of_its_own_and_its_gaps_lie_in_those() -> None:
    # device 0: windows 10-110, …, 310-370, idle 40 in each of three; device 1: 50-150, …, 350-370, idle 80 in each of three
    analysis = analysed(*two_devices())
    table = analysis.window_time
    assert table.device.tolist() == ["0", "1"]
    assert table.span.tolist() == [360_000, 320_000]
    assert table.idle.tolist() == [120_000, 240_000]
    assert sum(us(analysis, "inside_steps").values()) == 360
    assert us(analysis, "outside_steps") == {}
    assert analysis.step_windows.device.tolist() == ["0"] * 4
    assert analysis.step_windows.idle.tolist() == [40_000] * 3 + [0]
    assert analysis.step_time.median_ns == 100_000


def test_work_before_and_behind_a_devices_own_windows_is_outside_though_inside_those_of_the_main_device() -> (
    None
):
    # device 1 works from 20 to 30, before its first window from 50, which the main device's window from 10 to 110 holds
    analysis = analysed(*two_devices(), kernel("stray", 20, 10, device=1))
    assert sum(us(analysis, "outside_steps").values()) == 20
    assert analysis.gaps.step[analysis.gaps.start == 30_000].tolist() == [-1]


def test_a_device_on_whose_main_stream_no_step_has_work_has_no_windows() -> None:
    analysis = analysed(*two_devices()[:-3], kernel("a", 20, 10, device=2), kernel("b", 250, 10, device=2))
    assert "2" not in analysis.window_time.device
    assert (analysis.gaps.step[analysis.gaps.device == "2"] == -1).all()


def test_the_base_of_findings_says_whose_windows_it_is_where_another_device_has_some() -> None:
    sentences = " ".join(f.sentence for f in check(analysed(*two_devices())).found)
    assert "of the step windows of GPU 0" in sentences
    single = [e for e in two_devices() if e["pid"] != 1]
    assert "of the step windows of" not in " ".join(f.sentence for f in check(analysed(*single)).found)


record = st.tuples(
    st.sampled_from(["k", "ncclKernel", "copy", "fill"]),
    st.integers(0, 50),  # duration
    st.integers(0, 150),  # delay
    st.integers(0, 1),  # device
    st.integers(7, 8),  # stream
    st.booleans(),  # launched
)
runs = st.lists(st.lists(record, max_size=5), min_size=1, max_size=5)
PRIORITY = {"k": 0, "ncclKernel": 1, "copy": 2, "fill": 3}


def made(drawn: list[list[tuple[str, int, int, int, int, bool]]]) -> list[Event]:
    events: list[Event] = []
    for i, records in enumerate(drawn):
        events.append(note(f"ProfilerStep#{i}", 100 * i, 99))
        for j, (kind, dur, delay, gpu, stream, launched) in enumerate(records):
            number = 10 * i + j
            write: Any = {"copy": copy, "fill": fill}.get(kind)
            ts, link, at = (
                100 * i + delay + 3 * j,
                number if launched else None,
                {"device": gpu, "stream": stream},
            )
            events.append(write(ts, dur, link, **at) if write else kernel(kind, ts, dur, link, **at))
            events.append(launch(100 * i + 2 * j, 1, number))
    return events


def slow_split(analysis: Analysis, device: str, windows: list[tuple[int, int]]) -> dict[str, int]:
    """Return us of each part within windows in us: what has the highest priority at each microsecond."""
    trace, s = analysis.trace, analysis.trace.slices
    found = dict.fromkeys(PARTS, 0)
    places = {"k": 0, "ncclKernel": 1}
    work = []
    for row in trace.rows_of(*DEVICE_WORK).tolist():
        if trace.tracks[s.track[row]].device == device:
            name = trace.name_of(row)
            place = places.get(name, 2 if name.startswith("Memcpy") else 3)
            work.append((int(s.start[row]) // 1000, int(s.start[row] + s.dur[row]) // 1000, place))
    for begin, end in windows:
        for t in range(begin, end):
            found[PARTS[min((p for a, b, p in work if a <= t < b), default=4)]] += 1
    return found


@given(runs, st.integers(0, 4), st.integers(0, 4))
def test_the_time_of_chosen_steps_is_that_of_their_windows(
    drawn: list[list[tuple[str, int, int, int, int, bool]]], first: int, more: int
) -> None:
    first = min(first, len(drawn) - 1)
    analysis = analyze(read(*made(drawn)), choice=Choice(first, first + more))
    selected = analysis.selected
    assert selected is not None
    windows = selected.step_windows
    some = windows.window_start >= 0
    if not some.any():
        return
    main = str(windows.device[some][0])
    row = selected.gpu_time.device.tolist().index(main)
    whole = windows.window_end[some] - windows.window_start[some]
    assert selected.gpu_time.span[row] == whole.sum()
    edges = zip(
        (windows.window_start[some] // 1000).tolist(),
        (windows.window_end[some] // 1000).tolist(),
        strict=True,
    )
    expected = slow_split(analysis, main, list(edges))
    for part in PARTS:
        assert getattr(selected.gpu_time, part)[row] == getattr(windows, part).sum() == expected[part] * 1000


@given(runs, st.integers(0, 4), st.integers(0, 4))
def test_gaps_of_a_selection_add_up_to_its_idle_time_and_those_inside_steps_to_that_of_the_windows(
    drawn: list[list[tuple[str, int, int, int, int, bool]]], first: int, more: int
) -> None:
    first = min(first, len(drawn) - 1)
    analysis = analyze(read(*made(drawn)), choice=Choice(first, first + more))
    causes = analysis.gap_causes
    assert (causes.inside_steps + causes.outside_steps == causes.total).all()
    assert causes.total.sum() == analysis.gpu_time.idle.sum()
    assert causes.inside_steps.sum() == analysis.window_time.idle.sum()
    selected = analysis.selected
    assert selected is not None
    added = np.sum([getattr(selected.gaps, c) for c, _ in CAUSES], axis=0)
    assert (added == selected.gaps.dur).all()
    for device, idle in zip(selected.gpu_time.device.tolist(), selected.gpu_time.idle.tolist(), strict=True):
        assert selected.gaps.dur[selected.gaps.device == device].sum() == idle
    if selected.in_windows:
        assert selected.gap_causes.outside_steps.sum() == 0
        held = zip(selected.gap_slices.gap.tolist(), selected.gap_slices.start.tolist(), strict=True)
        assert all(
            selected.gaps.start[g] <= t < selected.gaps.start[g] + selected.gaps.dur[g] for g, t in held
        )


@pytest.mark.parametrize("steps", ["0:1", "1:3"])
def test_ranks_of_one_file_are_answered_each_by_its_own_windows(steps: str) -> None:
    merged: list[Event] = []
    for rank in (0, 1):
        for e in loading():
            on_host = e["cat"] != "kernel"
            pid = f"rank{rank} 41" if on_host else f"rank{rank} GPU 0"
            merged.append({**e, "pid": pid, "ts": e["ts"] + 7 * rank})
    selected, alone = chosen(*merged, steps=steps), chosen(*loading(), steps=steps)
    assert len(selected.gpu_time) == 2
    assert selected.gpu_time.idle.tolist() == alone.gpu_time.idle.tolist() * 2
    assert us(selected) == {cause: 2 * total for cause, total in us(alone).items()}
    assert {f.slug for f in check(selected).found} >= {"data-loading"}


def test_a_rank_that_alone_has_work_in_the_chosen_steps_keeps_its_name() -> None:
    merged: list[Event] = []
    for rank in (0, 1):
        for e in loading():
            on_host = e["cat"] != "kernel"
            if rank and e["args"].get("correlation") == 1:
                continue
            merged.append({**e, "pid": f"rank{rank} 41" if on_host else f"rank{rank} GPU 0"})
    selected = chosen(*merged, steps="1:1")
    assert selected.gpu_time.device.tolist() == ["rank0/0"]
    assert selected.kernels_by_stream.device.tolist() == ["rank0/0"]
    assert "data-loading" in {f.slug for f in check(selected).found}
