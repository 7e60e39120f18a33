"""What torch.profiler hands over for loops of known length: the agreed rows, by hand."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Hold a schedule, a loop, and which iterations are in each trace that torch.profiler hands over."""

    name: str
    schedule: dict[str, int]
    loop: int
    steps_per_iter: int
    traces: list[list[int]]
    least_loop: int
    verdict: str


def cycle(wait: int, warmup: int, active: int, repeat: int, skip_first: int = 0) -> dict[str, int]:
    return {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}


ROWS = [
    Row("one full window", cycle(1, 1, 3, 1), 10, 1, [[2, 3, 4]], 5, "ok"),
    Row("the loop ends in warm-up", cycle(5, 5, 3, 1), 8, 1, [], 13, "refuse_or_warn_before_run"),
    Row("step is never called", cycle(1, 1, 3, 2), 1, 0, [], 5, "refuse_or_warn_before_run"),
    Row(
        "an empty last window", cycle(0, 0, 5, 0), 100, 1,
        [*([i, i + 1, i + 2, i + 3, i + 4] for i in range(0, 100, 5)), []], 5, "warn",
    ),
    Row("the last window is cut short", cycle(1, 1, 4, 1), 4, 1, [[2, 3]], 6, "warn"),
    Row("two windows after skipped steps", cycle(5, 1, 2, 2, 10), 30, 1, [[16, 17], [24, 25]], 18, "ok"),
]  # fmt: skip
