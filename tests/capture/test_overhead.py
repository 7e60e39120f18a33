from __future__ import annotations

from typing import Any

from tests.perf import capture


def test_waiting_steps_cost_next_to_nothing_over_a_bare_profiler(torch: Any) -> None:
    bare, ours = capture.measure(steps=2000, rounds=5)
    assert ours - bare <= capture.LIMIT_US
