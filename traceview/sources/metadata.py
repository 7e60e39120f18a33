"""The white list of a file's metadata. Nothing else of it is stored: it can hold secrets.

A public trace once carried an access token in `env`. So keys are taken one by one, as plain
numbers and short texts, never copied wholesale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath, PureWindowsPath
from typing import Any

from traceview.events import Device, Metadata

_VERSIONS = {
    "cupti_version": "CUPTI",
    "cuda_runtime_version": "CUDA runtime",
    "cuda_driver_version": "CUDA driver",
    "hip_runtime_version": "HIP runtime",
    "hip_driver_version": "HIP driver",
    "roctracer_version": "roctracer",
    "rocprofiler_version": "rocprofiler",
    "pytorch_version": "PyTorch",
    "torch_version": "PyTorch",
}
_SWITCHES = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
_DEVICE_NUMBERS = {
    "totalGlobalMem": "memory_bytes",
    "numSms": "sm_count",
    "computeMajor": "compute_major",
    "computeMinor": "compute_minor",
    "warpSize": "warp_size",
    "maxThreadsPerMultiprocessor": "threads_per_sm",
    "sharedMemPerMultiprocessor": "shared_memory_per_sm",
    "regsPerMultiprocessor": "registers_per_sm",
}
_INTEGER = re.compile(r"^\s*-?[0-9]{1,19}\s*$")
_SUFFIXES = re.compile(r"(?:\.pt)?(?:\.trace)?(?:\.(?:json|gz|zip))*$", re.IGNORECASE)


def label_of(name: str) -> str:
    """Return the file's base name without .pt.trace.json.gz and its like."""
    base = PurePath(name).name
    return _SUFFIXES.sub("", base) or base


def read_metadata(found: Mapping[str, Any], file_name: str, dialect: str) -> Metadata:
    """Take the white list out of a document's metadata."""
    distributed = _mapping(found.get("distributedInfo"))
    versions = {title: text for key, title in _VERSIONS.items() if (text := _version(key, found.get(key)))}
    trace_name = found.get("traceName")
    return Metadata(
        dialect=dialect,
        label=label_of(file_name),
        trace_name=PureWindowsPath(trace_name).name[:200] if isinstance(trace_name, str) else None,
        synthetic=bool(found.get("synthetic")),
        versions=versions,
        switches={key: bool(found[key]) for key in _SWITCHES if isinstance(found.get(key), (int, bool))},
        rank=_integer(distributed.get("rank")),
        world_size=_integer(distributed.get("world_size")),
        backend=_short(distributed.get("backend")),
        base_ns=_integer(found.get("baseTimeNanoseconds")),
        schema_version=_short(found.get("schemaVersion")),
        display_unit=_short(found.get("displayTimeUnit")),
    )


def read_devices(found: Mapping[str, Any]) -> dict[str, Device]:
    """Return the described devices by key."""
    listed = found.get("deviceProperties")
    devices: dict[str, Device] = {}
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict) or "id" not in entry:
            continue
        key = str(entry["id"])
        numbers = {ours: entry[k] for k, ours in _DEVICE_NUMBERS.items() if _is_number(entry.get(k))}
        devices[key] = Device(key, _short(entry.get("name")), numbers)
    return devices


def version_keys() -> dict[str, str]:
    """Return the key in a file of each version that Metadata may hold."""
    return {title: key for key, title in reversed(_VERSIONS.items())}


def device_numbers(properties: Mapping[str, float | str]) -> dict[str, float | str]:
    """Return the properties of a device by their keys in a file."""
    return {key: properties[ours] for key, ours in _DEVICE_NUMBERS.items() if ours in properties}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _integer(value: object) -> int | None:
    if isinstance(value, str) and _INTEGER.match(value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        return value
    return None


def _short(value: object) -> str | None:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value)[:120]
    return None


def _version(key: str, value: object) -> str | None:
    """Return a version as people write it: CUDA's 12040 is 12.4."""
    number = _integer(value)
    if number is not None and key.startswith("cuda_") and number >= 1000:
        return f"{number // 1000}.{number % 1000 // 10}"
    return _short(value)
