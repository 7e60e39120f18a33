"""Compare the conditions that were noted when two runs were captured: settings, inputs, clocks, and the user's own.

What makes other work of it is grave; what may only change its speed is not. A measurement, a seed that nobody set,
and what one side alone noted decide nothing, and are named all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from traceview.diff.conditions import CARE, FINE, ONE_SIDED, REFUSED, Condition
from traceview.sources.conditions import NOT_SEEDED, NOT_TOLD, TITLES, TORCH_SEED
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
    TORCH_SEED: "the seeds of torch differ, and so may the inputs",
    "visible devices": "the number of visible devices differs",
    "device memory": "the devices have other memory",
    "compute capability": "the devices have other compute capabilities",
    "ranks": "the runs are of other ranks",
    "cuDNN deterministic": "deterministic algorithms of cuDNN differ",
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
_MEASURED = ("temperature", "power", "recorded steps")
_SEEDS = ("seed", TORCH_SEED)
_NOT_HELD = {"none seen", NOT_TOLD}
_AS_RECORDED = ("device", "versions", "world size", "profiler switches")  # recorded.py compares them
_THERE, _MISSING = "noted", "not noted"
# what --expect calls them
KINDS = {
    "batch": "shapes", "shapes": "shapes", "workload": "shapes", "precision": "precision", "default dtype": "precision",
    "autocast": "precision", "float32 matmul": "precision", "TF32 matmul": "precision", "TF32 cuDNN": "precision",
    "SM clock": "device", "memory clock": "device", "visible devices": "device", "device memory": "device",
    "compute capability": "device", "ranks": "ranks",
}  # fmt: skip


def noted(base: Mapping[str, str], new: Mapping[str, str]) -> list[Condition]:
    """Return what was noted of two runs, and what differs."""
    if not base or not new:
        there = [_THERE if side else _MISSING for side in (base, new)]
        alone = Condition(f"conditions{NOTED}", there[0], there[1], False, FINE, ONE_SIDED)
        return [alone] if base or new else []
    keys = dict.fromkeys([*base, *new])
    return [_of(key, base.get(key), new.get(key)) for key in keys if key not in _AS_RECORDED]


def names(noted: Mapping[str, str]) -> list[str]:
    """Return what was noted, by the names that conditions have here, the user's own first."""
    found = [key for key in noted if key not in _AS_RECORDED]
    return sorted(found, key=lambda name: name in TITLES)


def _of(key: str, base: str | None, new: str | None) -> Condition:
    if base is None or new is None:
        return Condition(f"{key}{NOTED}", base or _MISSING, new or _MISSING, False, FINE, ONE_SIDED)
    pair = base, new
    if key in _CLOCKS:
        return _condition(
            key, pair, not _apart(*pair), CARE, f"the {key}s differ by over {share(CLOCK_APART)}"
        )
    if key == "throttling":
        held = not set(pair) <= _NOT_HELD
        sentence = "a device was throttled: its times are not those of the program alone"
        return _condition(
            key, pair, not held and base == new, CARE if held else FINE, sentence if held else ""
        )
    if key in _MEASURED:
        return _condition(key, pair, base == new, FINE, "a measurement: named only")
    if key in _SEEDS and all(text.endswith(NOT_SEEDED) for text in pair):
        return _condition(key, pair, base == new, FINE, "neither side set a seed: torch drew one for each")
    weight = REFUSED if key in _GRAVE else CARE
    sentence = _GRAVE.get(key) or _LIGHT.get(key) or f"{key} differs, as noted at capture"
    return _condition(key, pair, base == new, weight, sentence)


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
