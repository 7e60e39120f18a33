"""Compare the conditions that were noted when two runs were captured: settings, inputs, clocks.

Only what both sides noted is compared. What makes other work of it is grave; what may only change its speed is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from traceview.diff.conditions import CARE, FINE, REFUSED, Condition
from traceview.units import share

NOTED = " (noted)"  # behind the names of these conditions
CLOCK_APART = 0.05  # share by which clocks may differ before it is said
_GRAVE = {
    "batch": "the batches differ: the runs did other work",
    "precision": "the precisions differ: the runs did other work",
    "default dtype": "the default kinds of numbers differ",
    "autocast": "autocast differs: the runs computed in other kinds of numbers",
}
_LIGHT = {
    "shapes": "the noted shapes differ",
    "workload": "the noted workloads differ",
    "seed": "the seeds differ, and so may the inputs",
    "float32 matmul": "the precision of float32 products differs",
    "TF32 matmul": "TF32 of products differs",
    "TF32 cuDNN": "TF32 of convolutions differs",
    "cuDNN benchmark": "cuDNN's search for algorithms differs",
    "deterministic": "deterministic algorithms differ",
    "inference mode": "inference mode differs",
    "gradients": "gradients are recorded on one side only",
    "threads": "the host's threads differ",
}
_CLOCKS = ("SM clock", "memory clock")
# what --expect calls them
KINDS = {
    "batch": "shapes", "shapes": "shapes", "workload": "shapes", "precision": "precision", "default dtype": "precision",
    "autocast": "precision", "float32 matmul": "precision", "TF32 matmul": "precision", "TF32 cuDNN": "precision",
    "SM clock": "device", "memory clock": "device",
}  # fmt: skip


def noted(base: Mapping[str, str], new: Mapping[str, str]) -> list[Condition]:
    """Return what both sides noted, and what differs."""
    found = []
    for key in (k for k in base if k in new):
        pair = base[key], new[key]
        if sentence := _GRAVE.get(key) or _LIGHT.get(key):
            weight = REFUSED if key in _GRAVE else CARE
            found.append(_condition(key, pair, pair[0] == pair[1], weight, sentence))
        elif key in _CLOCKS:
            found.append(
                _condition(
                    key, pair, not _apart(*pair), CARE, f"the {key}s differ by over {share(CLOCK_APART)}"
                )
            )
        elif key == "throttling":
            held = set(pair) != {"none seen"}
            sentence = "a device was throttled: its times are not those of the program alone"
            found.append(_condition(key, pair, not held, CARE, sentence))
    return found


def _condition(key: str, pair: tuple[str, str], alike: bool, weight: str, sentence: str) -> Condition:
    return Condition(f"{key}{NOTED}", *pair, alike, FINE if alike else weight, "" if alike else sentence)


def _apart(base: str, new: str) -> bool:
    """Tell whether clocks differ: the last ones of each, at the window's end."""
    left, right = (_last(text) for text in (base, new))
    if not left or not right:
        return base != new
    return abs(left - right) > CLOCK_APART * max(left, right)


def _last(text: str) -> float | None:
    numbers = re.findall(r"\d[\d,]{0,15}", text)
    return float(numbers[-1].replace(",", "")) if numbers else None
