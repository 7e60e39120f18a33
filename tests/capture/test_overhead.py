"""The benchmark of waiting steps works; what it measures is printed by `python tests/perf/capture.py`, never asserted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.perf import capture


def test_both_sides_of_the_benchmark_step(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[int] = []

    def per_step(step: Any, steps: int) -> float:
        for _ in range(steps):
            step()
        timed.append(steps)
        return float(len(timed))

    monkeypatch.setattr(capture, "per_step", per_step)
    assert capture.measure(steps=3, rounds=2) == (1, 2)  # the best of 1 and 3, and of 2 and 4
    assert timed == [3, 3, 3, 3]
