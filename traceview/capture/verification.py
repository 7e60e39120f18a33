"""Look before a recording whether it can succeed, and after it whether it has: causes in order of likelihood.

What is found is said, never raised. The check of a written trace uses traceview's own reader.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from traceview.capture import naming
from traceview.capture.course import Course
from traceview.capture.guard import say
from traceview.capture.keeping import Window
from traceview.sources.conditions import read_sidecar, sidecar_of
from traceview.units import count, data_size, plural, share

LARGEST_CHECKED = 64_000_000  # bytes of a compressed trace: a larger one would hold the job up for long
PER_STEP = (
    4_000_000  # bytes a step may take on disk while it is written, plain and compressed; stacks: five times
)
_DRIVER = Path("/proc/driver/nvidia/params")
_PROCESS = Path("/proc")
_GPUS = (Path("/proc/driver/nvidia/gpus"), Path("/dev/kfd"))
_SYS_ADMIN, _PERFMON = 21, 38  # bits of Linux capabilities
# programs that subscribe to the same counters and records of a device, by how their processes are called
_SUBSCRIBERS = {
    "nsys": "Nsight Systems", "nsys-launcher": "Nsight Systems", "ncu": "Nsight Compute", "nv-hostengine": "DCGM",
    "dcgm-exporter": "DCGM", "rocprofv3": "rocprofv3",
}  # fmt: skip


class Checked(NamedTuple):
    """Hold what a trace holds: kernels, launches and those with device records, steps, and how many lack some."""

    kernels: int
    launches: int
    covered: int
    steps: int
    lacking: int  # steps where over 1 % of the launches have no device record


def before(recording: Course) -> None:
    """Say what may keep this recording from showing device work, or from being written."""
    schedule, beside = recording.schedule, _ranks_here()
    steps = schedule.active * max(schedule.repeat, 1) * beside
    for line in preflight(recording.folder, steps, bool(recording.options.get("stacks"))):
        say(f"{recording.label}: warning: {line}")


def preflight(folder: Path, steps: int, stacks: bool) -> list[str]:
    """Return what stands against a recording of so many steps into a folder."""
    found = [*_device(), *_privileges(), *_subscribers()]
    needed = steps * PER_STEP * (5 if stacks else 1)
    place = next((p for p in (folder, *folder.absolute().parents) if p.exists()), None)
    if place is not None and not os.access(place, os.W_OK):
        found.append(f"{place} cannot be written to, so no file can be kept; name another folder")
    elif place is not None and (free := shutil.disk_usage(place).free) < needed:
        found.append(
            f"{data_size(free)} free where the trace goes; {plural(steps, 'step')} may take {data_size(needed)}"
        )
    return found


def _device() -> Iterator[str]:
    import torch

    if torch.cuda.is_available():
        if torch.profiler.ProfilerActivity.CUDA not in torch.profiler.supported_activities():
            yield "this torch records no device work (no CUPTI or roctracer); install a build with CUDA or ROCm"
    elif torch.version.cuda or torch.version.hip:
        yield "no device is visible to torch, so only the host is recorded; look at CUDA_VISIBLE_DEVICES and the driver"
    elif _has_gpu():
        yield f"this machine has a GPU, but {_CPU_BUILD}"


_CPU_BUILD = (
    "this torch is a build for the CPU alone, so only the host is recorded; install one with CUDA or ROCm"
)


def _has_gpu() -> bool:
    """Tell whether a driver of NVIDIA or AMD shows a GPU, whatever torch can do."""
    with suppress(OSError):
        return any(p.exists() and (p.is_char_device() or any(p.iterdir())) for p in _GPUS)
    return False


def _ranks_here() -> int:
    """Return how many ranks write on this machine, as launchers tell."""
    told = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(told) if re.fullmatch(r"[1-9]\d{0,3}", told) else 1


def _privileges() -> Iterator[str]:
    """Say whether the driver keeps profiling to administrators. Records of kernels work without, on most drivers."""
    with suppress(OSError):
        if (
            "RmProfilingAdminOnly: 1" in _DRIVER.read_text(encoding="ascii", errors="replace")
            and not _is_admin()
        ):
            yield (
                "the driver keeps profiling to administrators (RmProfilingAdminOnly: 1) and this process has no CAP_SYS_ADMIN: "
                "if no kernels are recorded, set NVreg_RestrictProfilingToAdminUsers=0, or run the container with --cap-add SYS_ADMIN"
            )


def _is_admin() -> bool:
    for line in (_PROCESS / "self" / "status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("CapEff:"):
            bits = int(line.split()[1], 16)
            return bool(bits >> _SYS_ADMIN & 1 or bits >> _PERFMON & 1)
    return False


def _subscribers() -> Iterator[str]:
    """Name profilers that run beside this one: a device gives its records to one of them."""
    if any(name.startswith("NSYS_") for name in os.environ) or "CUDA_INJECTION64_PATH" in os.environ:
        yield "this process was started under another profiler, which may take the device's records"
    seen = set()
    for place in _PROCESS.glob("[0-9]*/comm"):
        with suppress(OSError):
            seen.add(_SUBSCRIBERS.get(place.read_text(encoding="utf-8", errors="replace").strip()))
    for name in sorted(n for n in seen if n):
        yield f"{name} is running on this machine: only one profiler gets a device's records"


def after(window: Window) -> None:
    """Open the trace that was written and say whether it holds what it should."""
    size = window.trace.stat().st_size
    if size > LARGEST_CHECKED:
        say(
            f"{window.trace.name}: {data_size(size)}, not opened here; 'traceview summary' tells what is in it"
        )
        return
    checked = check(window.trace)
    for line in told(checked, _torch_device() or _has_gpu()):
        say(f"{window.trace.name}: {line}")
    if not window.options.get("quiet"):
        checked = checked._replace(
            steps=len(window.steps) or checked.steps
        )  # torch begins one more than it records
        say(f"{window.trace.name}: {summary(checked)}, {data_size(size)}{_ranks(window)}")


def check(path: Path) -> Checked:
    """Read a trace and count what a check needs."""
    from traceview.analyses import analyze
    from traceview.sources import read_trace

    analysis = analyze(read_trace(path, parts=1))
    coverage, table = analysis.coverage, analysis.health.steps
    return Checked(
        int(analysis.facts["kernel_count"]), coverage.expected, coverage.present, len(analysis.trace.steps),
        int((~table.complete & (table.launches > 0)).sum()),
    )  # fmt: skip


def summary(checked: Checked) -> str:
    """Say what a trace holds."""
    covered = (
        f", device records for {share(checked.covered / checked.launches)} of the launches"
        if checked.launches
        else ""
    )
    return f"{count(checked.kernels)} kernels in {plural(checked.steps, 'step')}{covered}"


def told(checked: Checked, device: bool) -> list[str]:
    """Return what is wrong with a trace; of a run without a device nothing is missed."""
    if checked.kernels:
        if checked.lacking:
            lacking = f"{plural(checked.lacking, 'step')} of {checked.steps} lack device records of over 1 % of their launches"
            return [
                f"warning: {lacking}; record fewer steps, or without stacks and shapes: the profiler's buffers overflow"
            ]
        return []
    if not device:
        return []
    return [
        "warning: no kernel was recorded; likely causes, the likeliest first:",
        *(f"  {c}" for c in _causes(checked)),
    ]


def _causes(checked: Checked) -> list[str]:
    """Return why a trace may hold no kernels, the likeliest first."""
    torch = sys.modules.get("torch")
    if torch is not None and not (torch.version.cuda or torch.version.hip):
        return [f"1. {_CPU_BUILD}"]
    if checked.launches:
        return [
            "1. another profiler (nsys, DCGM, a second torch.profiler) took the records: stop it",
            "2. no privileges: NVreg_RestrictProfilingToAdminUsers=0, or --cap-add SYS_ADMIN for a container",
            "3. CUPTI does not fit the driver: compare torch.version.cuda with nvidia-smi",
            "4. a CUDA graph was being captured, and not replayed, in these steps: raise wait",
        ]
    return [
        "1. the work ran on the CPU: look at model.device",
        "2. the work ran in another process or thread pool: record there",
        "3. the recorded steps launched nothing: look at where step() is called",
    ]


def _torch_device() -> bool:
    torch = sys.modules.get("torch")
    return bool(torch is not None and torch.cuda.is_available())


def _ranks(window: Window) -> str:
    """Say how many ranks have files of this window so far."""
    own, size = naming.ranks().get("rank"), naming.world_size()
    if own is None or not size:
        return ""
    label = re.escape(window.name.partition(f"-rank{own}")[0])
    named = re.compile(rf"{label}-rank(\d+)-(?:.*-)?w{window.index}(?:-\d+)?{re.escape(naming.TRACE)}")
    since = window.trace.stat().st_mtime - naming.age()  # by the clock of the folder
    there = {str(own)}
    for path in window.trace.parent.iterdir():
        found = named.fullmatch(path.name)
        if found and found[1] not in there and _is_of_this_run(path, size, since):
            there.add(found[1])
    return f", files of {len(there)} of {size} ranks so far"


def _is_of_this_run(trace: Path, size: int, since: float) -> bool:
    """Tell whether the sidecar of a trace says so; a name that launches share is an earlier one's in an older file.

    Shells of several machines that started one job have no name in common.
    """
    try:
        if trace.stat().st_mtime < since:
            return False
    except OSError:  # it was moved away meanwhile
        return False
    told = read_sidecar(sidecar_of(trace)) or {}
    run, own = str(told.get("run", "")), naming.run_name()
    shells = run.startswith(naming.SHELL) and own.startswith(naming.SHELL)
    return told.get("world_size") == size and (run == own or shells)
