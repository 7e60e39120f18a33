"""Windows worth a look: which ones there are, and that those called exact are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses.making import Event, analysed, kernel, launch, note, op
from tests.pages import GPU_SAMPLE
from traceview.analyses import Analysis, analyze
from traceview.assets import asset
from traceview.report import ReportOptions, build_report
from traceview.report.focus import exact_of, settle, wishes
from traceview.report.lod import Bars
from traceview.report.view import TimelineView, Window
from traceview.sources import read_trace


def view_of(analysis: Analysis, budget: int) -> TimelineView:
    report = build_report(analysis, ReportOptions(timeline_budget=budget))
    return next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))


def bars(number: int) -> Bars:
    """Return one row of slices of 5 ns, one every 10 ns."""
    start = np.arange(number, dtype=np.int64) * 10
    return Bars(np.zeros(number, np.int32), start, start + 5, np.arange(number))


EMPTY = Bars(np.empty(0, np.int32), *(np.empty(0, np.int64) for _ in range(3)))


def settled(budget: int, *windows: tuple[int, int]) -> list[tuple[int, int, bool]]:
    wished = tuple(Window(str(i), a, b, exact=False) for i, (a, b) in enumerate(windows))
    found = settle((bars(1000), EMPTY, EMPTY), wished, budget)
    return [(w.start, w.end, w.exact) for w in found]


def test_where_everything_fits_every_window_is_exact() -> None:
    assert settled(1000, (0, 9_000), (0, 9_999)) == [(0, 9_000, True), (0, 9_999, True)]


def test_windows_are_exact_as_long_as_half_the_budget_holds_them() -> None:
    # half of 100 slices: the first holds 20, the second 20 more, the third 20 too many, the fourth 10 more
    found = settled(100, (0, 200), (1_000, 1_200), (5_000, 5_200), (7_000, 7_100))
    assert [exact for *_, exact in found] == [True, True, False, True]


def test_slices_in_two_windows_count_once() -> None:
    assert [exact for *_, exact in settled(100, (0, 400), (100, 300), (350, 500))] == [True, True, True]


def test_the_first_window_is_shortened_until_it_fits_and_says_so() -> None:
    wished = (Window("Step 3, of median length", 0, 8_000, exact=False),)
    (found,) = settle((bars(1000), EMPTY, EMPTY), wished, 220)
    assert found == Window("Beginning of step 3, of median length", 0, 1_000, exact=True)


def test_a_first_window_that_never_fits_is_kept_whole_and_is_not_exact() -> None:
    assert settled(2, (0, 10_000)) == [(0, 10_000, False)]
    assert exact_of([Window("w", 0, 10, exact=False)]) == ()


def test_the_longest_gaps_are_windows_with_a_margin_of_a_quarter_on_each_side() -> None:
    events = [kernel("a", 0, 100), kernel("b", 500, 100), kernel("c", 700, 100), kernel("d", 1_000, 100)]
    found = wishes(analysed(*events), None)
    assert found[0].label == "Middle eighth of the device's time"
    assert [(w.start, w.end) for w in found[1:]] == [(0, 600_000), (750_000, 1_050_000), (575_000, 725_000)]
    assert found[1].label.startswith("Idle gap, 400 µs: ")


def test_a_gap_names_its_step_and_its_device_where_there_are_several() -> None:
    events: list[Event] = []
    for step, begin in ((4, 0), (5, 1_000)):
        events += [
            note(f"ProfilerStep#{step}", begin, 900),
            launch(begin + 1, 1, step),
            launch(begin + 3, 1, step + 10),
        ]
        events += [kernel("k", begin + 10, 20, step), kernel("k", begin + 300 + step, 20, step + 10)]
    (first, second, *_) = [w.label for w in wishes(analysed(*events), None)[1:] if "in step" in w.label]
    assert {first.split(",")[0], second.split(",")[0]} == {"Idle gap in step 4", "Idle gap in step 5"}
    two = [
        kernel("a", 0, 10),
        kernel("b", 50, 10),
        kernel("c", 0, 10, device=1),
        kernel("d", 90, 10, device=1),
    ]
    labels = [w.label.split(",")[0] for w in wishes(analysed(*two), None)[1:]]
    assert labels == ["Idle gap of device 1", "Idle gap of device 0"]


def crowded() -> list[Event]:
    """Return 40 steps of 20 launches and kernels among many small operators, with one long gap in step 30."""
    events, at = [], 0.0
    for step in range(40):
        begin = at
        for i in range(20):
            number = 20 * step + i + 1
            events += [op(f"op{j}", at + 0.5 * j, 0.4) for j in range(10)]
            events += [launch(at + 6, 1, number), kernel("k", at + 8, 7, number)]
            at += 20 if (step, i) != (30, 10) else 3_000
        events.append(note(f"ProfilerStep#{step}", begin, at - begin - 1))
    return events


@pytest.mark.parametrize("budget", [1_200, 2_500, 6_000])
def test_no_slice_is_merged_in_a_window_that_is_called_exact(budget: int) -> None:
    view = view_of(analysed(*crowded()), budget)
    from tests.report.test_timeline import numbers  # decodes the payload

    gaps, lengths, entries = (numbers(view, key) for key in ("gap", "length", "entry"))
    merged, i = [], 0
    for count in view.layout["rows"]:
        at = 0
        for _ in range(count):
            at += gaps[i]
            if entries[i] & 0x8000:
                merged.append((at, at + lengths[i]))
            at += lengths[i]
            i += 1
    exact = [w for w in view.windows if w.exact]
    assert merged
    assert exact
    assert not [(a, b) for a, b in merged for w in exact if a < w.end and b > w.start]
    number = len(exact_of(exact))
    assert ("in the shaded window" if number == 1 else f"in the {number} shaded windows") in view.note


def test_findings_of_the_sample_lead_to_windows_that_are_exact() -> None:
    report = build_report(analyze(read_trace(asset(GPU_SAMPLE))), ReportOptions(timeline_budget=1_500))
    view = next(b for s in report.sections for b in s.blocks if isinstance(b, TimelineView))
    cards = [f for s in report.sections if s.id == "findings" for b in s.blocks for f in b.findings]  # type: ignore[union-attr]
    asked = {(c.window[0], c.window[1]) for c in cards if c.window}
    zero = int(view.layout["zero"])
    told = {
        (w.start + zero, w.end + zero) for w in view.windows if w.label.startswith("Finding: ") and w.exact
    }
    assert told
    assert told <= asked
    assert len({(w.start, w.end) for w in view.windows if w.label.startswith("Idle gap")} & told) == 0
