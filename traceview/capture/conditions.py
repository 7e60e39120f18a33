"""Note under which conditions a window was recorded: NAME.capture.json beside the trace.

Only what is listed here is noted: no environment variable, no host, no user, no path. What torch and NVML (the
package nvidia-ml-py, where it is installed) do not tell stays out rather than guessed.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview.capture import naming
from traceview.capture.compiled import has_compiled, optimized_module
from traceview.capture.course import Course
from traceview.capture.forwards import listen, unlisten
from traceview.capture.keeping import Window
from traceview.capture.options import Options
from traceview.capture.session import SWITCHES

SCHEMA = "traceview.capture/1"
_NAME, _MOST = 100, 100  # characters of a noted condition's name, and conditions
_DRIVER = Path("/proc/driver/nvidia/version")
# NVML's bits for clocks held down, by what holds them; idle, and clocks that were chosen, are no throttling
_THROTTLES = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost", 0x20: "software thermal",
    0x40: "hardware thermal", 0x80: "power brake",
}  # fmt: skip


@dataclass
class _Seen:
    """Hold what was seen of a window."""

    thread: int  # that is recorded
    settings: dict[str, Any] | None = None
    states: list[dict[str, Any]] = field(default_factory=list)


class Noted:
    """Note the conditions of a window while it is recorded, and write them beside the trace when it is written."""

    def __init__(self) -> None:
        self._latest = _Seen(0)
        self._windows: dict[
            int, _Seen
        ] = {}  # by first step: the next one can open before this one is written

    def warming(self, _: Course) -> None:
        """Note the settings where the next module's forward finds them: autocast is often on around that alone.

        Once something is compiled, only what was is listened to: a graph can hang on how its modules are called.
        """
        self._latest = _Seen(threading.get_ident())
        listen(self, optimized_module() if has_compiled() else None)

    def entered(self, _: Any) -> None:
        """Note the settings once."""
        seen = self._latest
        if seen.thread == threading.get_ident():
            unlisten(self)
            seen.settings = settings()

    def left(self, *_: Any) -> None:
        """Hear that the module has returned."""

    def ended(self, _: Course | None = None) -> None:
        """Leave nothing in torch."""
        unlisten(self)

    def opening(self, course: Course) -> None:
        """Note what may differ when the window ends; without a warm-up the settings are still to come."""
        if not course.schedule.warmup:
            self.warming(course)
        self._latest.states = [device_state()]
        self._windows[course.first_step] = self._latest

    def closing(self, _: Course) -> None:
        """Note the state of the device in the last recorded step: after it the device is idle and cools."""
        self._latest.states.append(device_state())

    def written(self, window: Window) -> None:
        """Write the sidecar."""
        first = window.steps.start
        seen = self._windows.get(first) or _Seen(0)
        self._windows = {step: other for step, other in self._windows.items() if step > first}
        if seen is self._latest:
            unlisten(self)
        states = seen.states if len(seen.states) > 1 else [*seen.states, device_state()]
        document = describe(window.options) | {
            "trace": window.trace.name,
            "window": {
                "index": window.index, "first_step": first,
                "recorded": len(window.steps), "planned": window.planned,
            },
            "settings": seen.settings or _surely(settings()),
            "state": {"start": states[0], "end": states[-1]},
        }  # fmt: skip
        write_sidecar(window, document)


def _surely(found: dict[str, Any]) -> dict[str, Any]:
    """Return settings read outside of a model: what is on there is on in it, what is off may be on in it."""
    unsure = {"autocast": None, "inference_mode": False, "grad": True}
    return {k: v for k, v in found.items() if k not in unsure or v != unsure[k]}


def describe(options: Options) -> dict[str, Any]:
    """Return what does not change while a job runs."""
    return {
        "schema": SCHEMA,
        "run": naming.run_name(),
        "written": int(time.time()),
        "ranks": naming.ranks(),
        "world_size": naming.world_size(),
        "device": device(),
        "versions": versions(),
        "profiler": {long: bool(options.get(short)) for short, long in SWITCHES.items()}
        | ({"record_shapes": True} if options.get("flops") else {}),  # torch counts from shapes
        "given": {str(k)[:_NAME]: _plain(v) for k, v in list(options.get("conditions", {}).items())[:_MOST]},
    }


def write_sidecar(window: Window, document: dict[str, Any]) -> None:
    """Write a document beside a trace, whole or not at all."""
    folder = window.trace.parent
    part = naming.part_of(folder, window.name, naming.SIDECAR)
    try:
        part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        naming.publish(part, folder, window.name, naming.SIDECAR)
    finally:
        part.unlink(missing_ok=True)


def device() -> dict[str, Any]:
    """Return the device at work, {} on a CPU-only run."""
    import torch

    if not torch.cuda.is_available():
        return {}
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "name": found.name,
        "count": torch.cuda.device_count(),
        "memory_bytes": found.total_memory,
        "capability": f"{found.major}.{found.minor}",
    }


def versions() -> dict[str, str]:
    """Return the versions of what the numbers depend on."""
    import torch

    found = {
        "Python": platform.python_version(),
        "PyTorch": torch.__version__,
        "CUDA": torch.version.cuda,
        "HIP": torch.version.hip,
        "driver": _driver(),
    }
    if torch.cuda.is_available() and torch.backends.cudnn.is_available():
        found["cuDNN"] = torch.backends.cudnn.version()
    for module in ("triton", "vllm", "sglang"):  # only where the job has loaded them
        found[module] = getattr(sys.modules.get(module), "__version__", None)
    return {k: str(v) for k, v in found.items() if v is not None}


def settings() -> dict[str, Any]:
    """Return the switches that change speed or results, as they are now on this thread."""
    import torch

    backends = torch.backends
    return {
        "cudnn_benchmark": backends.cudnn.benchmark,
        "cudnn_deterministic": backends.cudnn.deterministic,
        "tf32_matmul": _tf32(backends.cuda.matmul),
        "tf32_cudnn": _tf32(backends.cudnn),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "default_dtype": _word(torch.get_default_dtype()),
        "autocast": _autocast(torch),
        "inference_mode": torch.is_inference_mode_enabled(),
        "grad": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "threads": torch.get_num_threads(),
        "seed": torch.initial_seed(),
    }


def _tf32(backend: Any) -> bool | None:
    with suppress(RuntimeError):  # torch refuses to tell where a program has mixed its old and new switches
        return bool(backend.allow_tf32)
    return None


def _autocast(torch: Any) -> str | None:
    kinds = ("cuda", "cpu") if torch.cuda.is_available() else ("cpu",)
    return next((_word(torch.get_autocast_dtype(k)) for k in kinds if torch.is_autocast_enabled(k)), None)


def _word(kind: Any) -> str:
    return str(kind).removeprefix("torch.")


def _plain(value: Any, deep: int = 4) -> Any:
    """Return a value that JSON can hold: numbers, switches, lists of them, lists in lists, and short texts."""
    if value is None or isinstance(value, (bool, int, float)):
        return value if value == value and value not in (float("inf"), float("-inf")) else str(value)
    if isinstance(value, (list, tuple)) and deep:
        return [_plain(v, deep - 1) for v in value[:64]]
    return str(value)[:200]


def device_state() -> dict[str, Any]:
    """Return clocks, temperature, power and what holds the clocks down, {} where NVML does not tell."""
    nvml = _nvml()
    if nvml is None:
        return {}
    readings: dict[str, Callable[[Any], Any]] = {
        "sm_mhz": lambda h: nvml.nvmlDeviceGetClockInfo(h, nvml.NVML_CLOCK_SM),
        "memory_mhz": lambda h: nvml.nvmlDeviceGetClockInfo(h, nvml.NVML_CLOCK_MEM),
        "temperature_c": lambda h: nvml.nvmlDeviceGetTemperature(h, nvml.NVML_TEMPERATURE_GPU),
        "power_w": lambda h: nvml.nvmlDeviceGetPowerUsage(h) / 1000,
        "throttles": lambda h: throttles(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(h)),
    }
    found: dict[str, Any] = {}
    with suppress(nvml.NVMLError):
        handle = _handle(nvml)
        for name, read in readings.items():
            with suppress(nvml.NVMLError):  # virtual devices tell some of it only
                found[name] = read(handle)
    return found


def throttled(*states: Mapping[str, Any]) -> list[str]:
    """Return what held the clocks down in any of these states, each once."""
    return list(dict.fromkeys(h for s in states for h in s.get("throttles", ())))


def throttles(bits: int) -> list[str]:
    """Return what holds the clocks down."""
    return [name for bit, name in _THROTTLES.items() if bits & bit]


def _nvml() -> Any:
    """Return NVML where its package and a device in use are there."""
    import torch

    if not torch.cuda.is_available():
        return None
    try:
        import pynvml
    except ModuleNotFoundError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def _handle(nvml: Any) -> Any:
    """Return NVML's handle of the device at work; it counts devices otherwise than CUDA_VISIBLE_DEVICES."""
    import torch

    at = torch.cuda.current_device()
    unique = getattr(torch.cuda.get_device_properties(at), "uuid", None)
    if unique is not None:
        return nvml.nvmlDeviceGetHandleByUUID(f"GPU-{unique}")
    return nvml.nvmlDeviceGetHandleByIndex(at)


def _driver() -> str | None:
    nvml = _nvml()
    if nvml is None:
        return _driver_of_kernel()
    with suppress(nvml.NVMLError):
        told = nvml.nvmlSystemGetDriverVersion()
        return told.decode() if isinstance(told, bytes) else str(told)
    return None


def _driver_of_kernel() -> str | None:
    """Return the version of NVIDIA's kernel module as it tells it itself."""
    with suppress(OSError):
        text = _DRIVER.read_text(encoding="ascii", errors="replace")
        found = re.search(r"(?<![\w.])(\d{3,}\.\d+(?:\.\d+)*)", text)
        return found[1] if found else None
    return None
