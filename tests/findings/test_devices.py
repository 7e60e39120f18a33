"""Stakes of a trace with several devices are shares of the devices whose windows are the base."""

from __future__ import annotations

from tests.analyses.making import analysed, kernel, launch, note
from traceview.findings import check


def test_idle_time_of_a_device_without_windows_is_no_stake() -> None:
    # device 0 works 900 of every 1000 us; device 1 has one short kernel a step and waits 990 us for the next
    events = []
    for i in range(5):
        at = 1000 * i
        events += [note(f"ProfilerStep#{i}", at, 1000)]
        events += [launch(at + 5, 2, 10 * i), kernel("main", at + 10, 900, 10 * i)]
        events += [launch(at + 8, 2, 10 * i + 1), kernel("side", at + 20, 10, 10 * i + 1, device=1)]
    analysis = analysed(*events)
    windows = analysis.step_windows
    whole = int((windows.window_end - windows.window_start)[windows.window_start >= 0].sum())
    idle_of_main = int(analysis.gpu_time.idle[analysis.gpu_time.device.tolist().index("0")])
    for finding in check(analysis).found:
        assert (finding.at_stake or 0) <= idle_of_main
        assert (finding.share or 0.0) <= idle_of_main / whole
