"""How the table of runs names and words conditions: as sidecars are read, whoever notes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PureWindowsPath
from typing import Any

from traceview.sources.conditions import NOT_SEEDED, NOT_TOLD, TORCH_SEED

# of torch's settings those that change the time of an inference
_SETTINGS = {
    "tf32_matmul": "TF32 matmul", "tf32_cudnn": "TF32 cuDNN", "cudnn_benchmark": "cuDNN benchmark",
    "matmul_precision": "float32 matmul", "threads": "threads",
}  # fmt: skip
# names of rows that were written before
_FORMER = {key.replace("_", " "): name for key, name in _SETTINGS.items()} | {"shapes": "shape"}
_SEEDS = ("seed", TORCH_SEED)
_SWITCHES = {"True": "on", "False": "off", "None": "", NOT_TOLD: ""}


def settings_said(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return torch's settings as conditions; what torch does not tell stays out."""
    return of_today({name: str(settings[key]) for key, name in _SETTINGS.items() if key in settings})


def of_today(conditions: Mapping[str, str]) -> dict[str, str]:
    """Return conditions by the names and in the words of today.

    What nobody could tell is left out. A seed that torch drew itself is no condition: each process has another one. A
    sidecar's words tell it; a seed that was given to a bench, or noted by hand, is one however large it is.
    """
    found = {}
    for name, value in conditions.items():
        told = _SWITCHES.get(value, value)
        if told and not (name in _SEEDS and told.endswith(NOT_SEEDED)):
            found[_FORMER.get(name, name)] = target_said(told) if name == "target" else told
    return found


def target_said(target: str) -> str:
    """Return a target without the folder of its file: that is the user's, and no condition."""
    place, colon, name = target.rpartition(":")
    return f"{PureWindowsPath(place).name}{colon}{name}" if place.endswith(".py") else target
