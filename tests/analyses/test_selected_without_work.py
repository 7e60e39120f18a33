"""Chosen steps that launched nothing: what is said of them is not said of the trace."""

from __future__ import annotations

from tests.analyses.making import kernel, launch, note, read
from traceview.analyses import Choice, analyze
from traceview.findings import check
from traceview.report.kpis import verdict

EVENTS = [
    *(note(f"ProfilerStep#{i}", 100 * i, 100) for i in range(4)),
    *(
        event
        for i in (0, 2, 3)
        for event in (launch(100 * i + 5, 3, i + 1), kernel("k", 100 * i + 20, 30, i + 1))
    ),
]


def test_a_step_without_device_work_says_so_and_nothing_of_the_trace() -> None:
    chosen = analyze(read(*EVENTS), choice=Choice.parsed("1:1", 0, None)).selected
    assert chosen is not None
    assert len(chosen.gpu_time) == 0
    assert verdict(chosen).startswith("No GPU work was launched in the chosen steps")
    assert "this trace" not in verdict(chosen)
    assert [n.message for n in chosen.warnings if n.code == "no_gpu_events"] == [
        "no kernels, copies or fills launched in the chosen steps: device time is unknown, not zero"
    ]
    assert "cpu-only" not in {f.slug for f in check(chosen).found}
