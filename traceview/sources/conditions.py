"""Read the conditions that stand beside a trace: NAME.capture.json, as `traceview.capture` writes it.

A white list again: known keys, as short texts. A sidecar that is missing, damaged or of another kind says nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from traceview.sources.metadata import label_of

SUFFIX, SCHEMA = ".capture.json", "traceview.capture/1"
LARGEST = 1 << 18  # bytes; ours have under 4 KiB
_LONGEST = 120
_MOST = 8  # entries of a list, and versions
_GIVEN = ("batch", "shapes", "precision", "seed", "workload")  # of what the user may note
_SETTINGS = {
    "default_dtype": "default dtype", "autocast": "autocast", "matmul_precision": "float32 matmul",
    "tf32_matmul": "TF32 matmul", "tf32_cudnn": "TF32 cuDNN", "cudnn_benchmark": "cuDNN benchmark",
    "deterministic": "deterministic", "inference_mode": "inference mode", "grad": "gradients", "threads": "threads",
    "seed": "seed",
}  # fmt: skip


def read_conditions(trace: str | Path) -> dict[str, str]:
    """Return the conditions beside a trace by name, {} where there are none."""
    path = Path(trace)
    if str(trace) == "-":
        return {}
    try:
        place = path.with_name(label_of(path.name) + SUFFIX)
        with place.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST:
                return {}
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):  # not there, no JSON, or nested to death
        return {}
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return {}
    return {k: t[:_LONGEST] for k, v in _conditions(found).items() if (t := _text(v))}


def _conditions(found: Mapping[str, Any]) -> dict[str, Any]:
    device, settings, given = (_mapping(found.get(k)) for k in ("device", "settings", "given"))
    versions = list(_mapping(found.get("versions")).items())[:_MOST]
    window = _mapping(found.get("window"))
    return {
        "device": device.get("name"),
        "versions": ", ".join(f"{str(k)[:20]} {str(v)[:40]}" for k, v in versions),
        "recorded steps": window.get("recorded"),
        **{key: given.get(key) for key in _GIVEN},
        **{title: settings[key] for key, title in _SETTINGS.items() if key in settings and key not in given},
        **_state(_mapping(found.get("state"))),
    }


def _state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return clocks and temperature from start to end, and what held the clocks down at either."""
    start, end = (_mapping(state.get(k)) for k in ("start", "end"))
    if not start and not end:
        return {}
    held = [str(h)[:40] for side in (start, end) for h in _listed(side.get("throttles"))]
    return {
        "SM clock": _range(start, end, "sm_mhz", "MHz"),
        "memory clock": _range(start, end, "memory_mhz", "MHz"),
        "temperature": _range(start, end, "temperature_c", "°C"),
        "power": _range(start, end, "power_w", "W"),
        "throttling": ", ".join(dict.fromkeys(held)) or "none seen",
    }


def _range(start: Mapping[str, Any], end: Mapping[str, Any], key: str, unit: str) -> str:
    values = [f"{v:,.0f}" for v in (start.get(key), end.get(key)) if _is_number(v)]
    return f"{' to '.join(dict.fromkeys(values))} {unit}" if values else ""


def _text(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(t for v in value[:_MOST] if (t := _item(v)))
    return str(value) if isinstance(value, (str, int, float)) else ""


def _item(value: Any) -> str:
    """Return an entry of a list: a shape as 1x3x224x224."""
    if isinstance(value, list):
        return "x".join(str(v)[:20] for v in value[:_MOST] if isinstance(v, (str, int, float)))
    return _text(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12
