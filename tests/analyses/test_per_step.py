"""Times per step: what a step launched, whenever it ran, adding up to the times of kernels and operators."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from tests.analyses.making import Event, analysed, call, copy, kernel, launch, note, op
from tests.pages import GPU_SAMPLE
from traceview.analyses import Analysis, Choice, analyze
from traceview.analyses.per_step import KERNEL, LARGEST, ON_DEVICE, ON_HOST, PerStep
from traceview.assets import asset
from traceview.report.trends import per_step
from traceview.report.view import Trend
from traceview.sources import read_trace


def run(steps: int = 3) -> list[Event]:
    """Return steps 4, 5, … of which the n-th launches n kernels "k" of 10 µs from "aten::mm", and "z" only first."""
    events, number = [], 0
    for i in range(steps):
        at = 1000 * i
        events += [note(f"ProfilerStep#{i + 4}", at, 900), op("aten::mm", at + 1, 500)]
        for j in range(i + 1):
            number += 1
            events += [launch(at + 2 + 10 * j, 5, number), kernel("k", at + 700 + 20 * j, 10, number)]
    number += 1
    return [*events, launch(600, 5, number), kernel("z", 5000, 7, number)]


def cells(analysis: Analysis, what: str) -> dict[tuple[str, int], int]:
    table = analysis.per_step
    rows = zip(table.what, table.name, table.number.tolist(), table.time.tolist(), strict=True)
    return {(str(n), s): t for w, n, s, t in rows if w == what}


def test_a_kernel_counts_in_the_step_that_launched_it() -> None:
    assert cells(analysed(*run()), KERNEL) == {
        ("k", 4): 10_000, ("k", 5): 20_000, ("k", 6): 30_000, ("z", 4): 7_000,
    }  # fmt: skip


def test_an_operator_has_the_device_time_that_it_launched() -> None:
    assert cells(analysed(*run()), ON_DEVICE) == {
        ("aten::mm", 4): 10_000, ("aten::mm", 5): 20_000, ("aten::mm", 6): 30_000,
    }  # fmt: skip


def test_without_device_work_an_operator_has_its_own_time_on_the_host() -> None:
    events = [note(f"ProfilerStep#{i}", 100 * i, 90) for i in range(2)]
    events += [op("aten::mm", 1, 20), op("aten::add", 5, 6), op("aten::mm", 110, 30)]
    assert cells(analysed(*events), ON_HOST) == {
        ("aten::mm", 0): 14_000, ("aten::add", 0): 6_000, ("aten::mm", 1): 30_000,
    }  # fmt: skip


def test_of_one_step_or_none_nothing_is_told() -> None:
    assert len(analysed(*run(1)).per_step) == 0
    assert len(analysed(kernel("k", 1, 2)).per_step) == 0


def test_the_times_of_a_sample_add_up_to_kernels_and_operators_and_steps() -> None:
    analysis = analyze(read_trace(asset(GPU_SAMPLE)))
    by_step: Counter[int] = Counter()
    by_name: Counter[str] = Counter()
    for (name, step), time in cells(analysis, KERNEL).items():
        by_step[step] += time
        by_name[name] += time
    windows = analysis.step_windows
    assert dict(by_step) == dict(zip(windows.number.tolist(), windows.kernel_sum.tolist(), strict=True))
    whole = dict(zip(analysis.kernels.name.tolist(), analysis.kernels.sum.tolist(), strict=True))
    assert all(time <= whole[name] for name, time in by_name.items())
    table = analysis.operators
    device = dict(zip(table.name.tolist(), table.device_self.tolist(), strict=True))
    of_operator: Counter[str] = Counter()
    for (name, _), time in cells(analysis, ON_DEVICE).items():
        of_operator[name] += time
    assert of_operator
    assert all(time <= device[name] for name, time in of_operator.items())


def test_chosen_steps_have_their_own_times_only() -> None:
    trace = analysed(*run()).trace
    chosen = analyze(trace, choice=Choice(5, 6)).selected
    assert chosen is not None
    assert cells(chosen, KERNEL) == {("k", 5): 20_000, ("k", 6): 30_000}


def test_a_line_has_lowest_median_and_highest_and_heights_from_zero() -> None:
    trend = per_step(analysed(*run()), KERNEL, ["k", "z", "other"])
    assert trend is not None
    assert trend.rows == ((10_000, 20_000, 30_000, (33, 66, 99)), (0, 0, 7_000, (99, 0, 0)), None)
    assert trend.points == "3 steps"
    assert per_step(analysed(*run()), ON_HOST, ["k"]) is None


def test_many_steps_are_drawn_as_means_of_neighbours_and_many_rows_have_no_line() -> None:
    events = []
    for i in range(150):
        events += [note(f"ProfilerStep#{i}", 100 * i, 90), launch(100 * i + 1, 1, i + 1)]
        events += [kernel("k", 100 * i + 9, 2 if i == 1 else 1, i + 1)]
    trend = per_step(analysed(*events), KERNEL, ["k"] * 200)
    assert trend is not None
    low, middle, high, heights = trend.rows[0] or (0, 0, 0, ())
    assert (low, middle, high) == (1_000, 1_000, 2_000)
    assert len(heights) == 50 <= Trend.MOST_POINTS
    assert heights[:2] == (99, 74)  # means of three: 4/3 and 1
    assert "each point the mean of 3" in trend.meaning
    assert len(trend.rows) == LARGEST


def test_of_very_many_steps_fewer_names_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = analysed(*run())
    assert len(np.unique(analysis.per_step.name)) == 3
    monkeypatch.setattr(sys.modules[PerStep.__module__], "MOST_CELLS", 3)
    assert set(analysed(*run()).per_step.name.tolist()) == {"k", "aten::mm"}
    assert analysed(call("cudaMemcpyAsync", 1, 2, 9), copy(5, 2, 9)).per_step.time.tolist() == []
