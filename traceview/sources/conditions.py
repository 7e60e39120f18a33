"""Read the conditions that stand beside a trace: NAME.capture.json, as `traceview.capture` writes it.

A white list again: known keys, and what the user noted himself, as short texts fit to show. A sidecar that is missing,
damaged or of another kind says nothing. A text that had to be cut ends with a digest, so that two that differ stay apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from traceview.events import Metadata, Noted, Notice, Trace
from traceview.sources.metadata import label_of
from traceview.units import data_size, hide_home, safe

SUFFIX, SCHEMA = ".capture.json", "traceview.capture/1"
LARGEST = 1 << 18  # bytes; ours have under 4 KiB
DRAWN = 1 << 32  # a seed from here on was drawn by torch: who sets one by hand takes less
NOT_SEEDED = " (not set by hand)"  # behind such a seed
NOT_TOLD = "not told"  # torch or NVML would not say
_LONGEST, _LONGEST_NAME = 120, 40
_MOST = 32  # versions, and conditions of the user's own
_GIVEN = ("batch", "shapes", "precision", "seed", "workload")  # of the user's own: those with names of ours
_SETTINGS = {
    "default_dtype": "default dtype", "autocast": "autocast", "matmul_precision": "float32 matmul",
    "tf32_matmul": "TF32 matmul", "tf32_cudnn": "TF32 cuDNN", "cudnn_benchmark": "cuDNN benchmark",
    "cudnn_deterministic": "cuDNN deterministic", "deterministic": "deterministic", "inference_mode": "inference mode",
    "grad": "gradients", "threads": "threads", "seed": "seed",
}  # fmt: skip
_STATE = ("SM clock", "memory clock", "temperature", "power", "throttling")
TORCH_SEED = "torch seed"  # where the user noted a seed of his own
TITLES = frozenset({
    "device", "visible devices", "device memory", "compute capability", "versions", "ranks", "world size",
    "profiler switches", "recorded steps", TORCH_SEED, *_GIVEN, *_SETTINGS.values(), *_STATE,
})  # fmt: skip
_SWITCHES = ("record_shapes", "with_stack", "profile_memory", "with_flops", "with_modules")


def read_conditions(trace: str | Path) -> Noted:
    """Return the conditions beside a trace, an empty Noted where there are none."""
    if str(trace) == "-":
        return Noted()
    found = read_sidecar(sidecar_of(Path(trace)))
    return Noted() if found is None else _noted(found)


def sidecar_of(trace: Path) -> Path:
    """Return where the sidecar of a trace stands, if there is one."""
    return trace.with_name(label_of(trace.name) + SUFFIX)


def read_sidecar(path: Path) -> dict[str, Any] | None:
    """Return what a sidecar says, None for what is no sidecar; a pipe in its place is not waited for."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                return None
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):  # not there, no JSON, or nested to death
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


def with_noted(trace: Trace, noted: Noted) -> Trace:
    """Return a trace with what stands beside it, and a notice where that contradicts it."""
    if noted == Noted():
        return trace
    seen = replace(trace.meta, switches=left_by(trace) | dict(trace.meta.switches))
    wrong = contradictions(noted, seen, device_names(trace))
    found = [Notice("conditions_contradict", "warning", len(wrong), _wrong(wrong))] if wrong else []
    return replace(trace, meta=replace(trace.meta, noted=noted), notices=(*trace.notices, *found))


def device_names(trace: Trace) -> list[str]:
    """Return the names of a trace's devices, each once."""
    return sorted({d.name for d in trace.devices if d.name})


def left_by(trace: Trace) -> dict[str, bool]:
    """Return the switches that were on, for what they left in a trace."""
    left = {
        "record_shapes": len(trace.arg("input_dims").rows),
        "with_stack": len(trace.arg("python_id").rows),
        "profile_memory": len(trace.memory),
    }
    return {name: True for name, rows in left.items() if rows}


def contradictions(noted: Noted, meta: Metadata, devices: Iterable[str]) -> tuple[str, ...]:
    """Return where a sidecar says something else than what its trace records."""
    pairs: list[tuple[str, Any, Any]] = []
    names = list(devices)
    if noted.device and names and noted.device not in names:
        pairs.append(("device", noted.device, ", ".join(names)))
    pairs += [(k, noted.switches[k], on) for k, on in meta.switches.items() if k in noted.switches]
    pairs += [("rank", noted.rank, meta.rank), ("world size", noted.world_size, meta.world_size)]
    versions = noted.versions, meta.versions
    told, own = (v.get("PyTorch", "").partition("+")[0] or None for v in versions)
    pairs.append(("PyTorch", told, own))
    cuda = versions[0].get("CUDA"), versions[1].get("CUDA runtime")
    if cuda[0] and cuda[1] and cuda[0].partition(".")[0] != cuda[1].partition(".")[0]:
        pairs.append(("CUDA", *cuda))
    return tuple(
        f"{what} {_text(told)}, the trace {_text(recorded)}"
        for what, told, recorded in pairs
        if told is not None and recorded is not None and told != recorded
    )


def _wrong(wrong: Iterable[str]) -> str:
    return (
        f"the sidecar contradicts its trace, which counts: {'; '.join(wrong)}; it may belong to another trace"
    )


def _noted(found: Mapping[str, Any]) -> Noted:
    device, ranks = found.get("device"), _mapping(found.get("ranks"))
    versions = list(_mapping(found.get("versions")).items())[:_MOST]
    switches = {
        k: v for k, v in _mapping(found.get("profiler")).items() if k in _SWITCHES and isinstance(v, bool)
    }
    if switches.get("with_flops"):  # torch records shapes for them
        switches["record_shapes"] = True
    noted = Noted(
        device=_device(device) if isinstance(device, dict) else None,
        versions={
            _cut(str(k), 20): _cut(str(v), 40) for k, v in versions if isinstance(v, (str, int, float))
        },
        switches=switches,
        rank=_integer(ranks.get("rank")),
        world_size=_integer(found.get("world_size")),
        sized="world_size" in found,
    )
    texts = {k: _cut(t) for k, v in _conditions(found, noted).items() if (t := _text(v))}
    return replace(noted, texts=texts | _own(_mapping(found.get("given")), texts))


def _device(device: Mapping[str, Any]) -> str | None:
    """Return the device's name, "" where there was none."""
    if not device:
        return ""
    name = device.get("name")
    return _cut(name) if isinstance(name, str) and name else None


def _conditions(found: Mapping[str, Any], noted: Noted) -> dict[str, Any]:
    device, settings, given = (_mapping(found.get(k)) for k in ("device", "settings", "given"))
    memory, ranks = device.get("memory_bytes"), found.get("ranks")
    on = [name for name, value in noted.switches.items() if value]
    told = {title: _setting(key, settings[key]) for key, title in _SETTINGS.items() if key in settings}
    if "seed" in given and "seed" in told:
        told[TORCH_SEED] = told.pop("seed")
    return {
        "device": noted.device,
        "visible devices": device.get("count"),
        "device memory": data_size(memory) if _is_number(memory) else None,
        "compute capability": device.get("capability"),
        "versions": ", ".join(f"{k} {v}" for k, v in noted.versions.items()),
        "ranks": _ranks(ranks) if isinstance(ranks, dict) else None,
        "world size": (noted.world_size or NOT_TOLD) if noted.sized else None,
        "profiler switches": (on or "none") if noted.switches else None,
        "recorded steps": _mapping(found.get("window")).get("recorded"),
        **{key: _given(given[key]) for key in _GIVEN if key in given},
        **told,
        **_state(_mapping(found.get("state"))),
    }


def _ranks(ranks: Mapping[str, Any]) -> str:
    listed = [f"{k} {v}" for k, v in list(ranks.items())[:_MOST] if _integer(v) is not None]
    return ", ".join(listed) or "none"


def _setting(key: str, value: Any) -> Any:
    """Return a setting as it was: null is autocast that is off, else what torch did not tell."""
    if value is None:
        return "off" if key == "autocast" else NOT_TOLD
    if key == "seed":
        number = _integer(value)
        return f"{number}{NOT_SEEDED}" if number is not None and number >= DRAWN else value
    return value


def _own(given: Mapping[str, Any], taken: Mapping[str, str]) -> dict[str, str]:
    """Return what the user noted under names of his own; one of ours stands with `(given)` behind it."""
    listed = [(k, v) for k, v in given.items() if k not in _GIVEN]
    found: dict[str, str] = {}
    for key, value in listed[:_MOST]:
        name = _cut(key, _LONGEST_NAME).strip() or "(no name)"
        name = f"{name} (given)" if name in TITLES else name
        while name in found or name in taken:
            name += "'"
        found[name] = _cut(_text(_given(value)))
    if rest := listed[_MOST:]:
        found["further conditions"] = f"{len(rest):,} #{_digest(json.dumps(rest))}"
    return found


def _given(value: Any) -> Any:
    """Return what the user gave so that nothing of it is without a text."""
    if value is None or value == []:
        return "none"
    if isinstance(value, dict):
        return json.dumps(value)
    return "(empty)" if value == "" else value


def _state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return clocks and temperature from start to end, and what held the clocks down at either."""
    start, end = (_mapping(state.get(k)) for k in ("start", "end"))
    if not start and not end:
        return {}
    held = [str(h) for side in (start, end) for h in _listed(side.get("throttles"))]
    told = any("throttles" in side for side in (start, end))
    return {
        "SM clock": _range(start, end, "sm_mhz", "MHz"),
        "memory clock": _range(start, end, "memory_mhz", "MHz"),
        "temperature": _range(start, end, "temperature_c", "°C"),
        "power": _range(start, end, "power_w", "W"),
        "throttling": ", ".join(dict.fromkeys(held)) or ("none seen" if told else NOT_TOLD),
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
        return ", ".join(_items(value))
    return str(value) if isinstance(value, (str, int, float)) else ""


def _items(values: list[Any]) -> Iterator[str]:
    """Return the entries of a list: a shape as 1x3x224x224."""
    for value in values:
        flat = isinstance(value, list) and all(isinstance(v, (str, int, float)) for v in value)
        yield "x".join(map(str, value)) if flat else _text(value) if _is_plain(value) else json.dumps(value)


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float))


def _cut(text: str, limit: int = _LONGEST) -> str:
    """Return a text without home folders, in visible characters; a long one is cut, with a digest of the whole."""
    plain = safe(hide_home(text))
    return plain if len(plain) <= limit else f"{plain[: limit - 14]}…#{_digest(plain)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64 else None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12
