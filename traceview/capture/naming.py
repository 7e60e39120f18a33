"""Name the files of a capture, and put them there: whole, under a name that was free, and never half.

NAME is LABEL-rank0-tp1-pid123-w0: the label, every parallel rank found, the process, the window. No host name.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

TRACE, SIDECAR, PART = ".pt.trace.json.gz", ".capture.json", ".part"
# where launchers tell a process its place among all, in the order of trust
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS", "SLURM_NPROCS")
_PARALLEL = ("tp", "pp", "dp", "ep", "cp", "sp")
_MEGATRON = {
    "tp": "get_tensor_model_parallel_rank", "pp": "get_pipeline_model_parallel_rank",
    "dp": "get_data_parallel_rank", "ep": "get_expert_model_parallel_rank",
    "cp": "get_context_parallel_rank",
}  # fmt: skip
_VLLM = {
    "tp": "get_tensor_model_parallel_rank", "pp": "get_pp_group", "dp": "get_dp_group", "ep": "get_ep_group",
}  # fmt: skip
_LONGEST_LABEL = 80
_TRIES = 1000
SHELL = (
    "parent-"  # begins the name of a run of which only the process is known that started it, on one machine
)
_BEGUN = time.monotonic()
_PROCESS = secrets.token_hex(4)  # tells apart the processes of containers, where each has the same pid


def safe_label(label: str) -> str:
    """Return a label that can be part of a file's name: letters, digits, dot, dash and underscore."""
    kept = re.sub(r"[^\w.-]+", "-", label, flags=re.ASCII).strip("-.")
    return kept[:_LONGEST_LABEL] or "capture"


def ranks() -> dict[str, int]:
    """Return every parallel rank of this process that can be found out: rank, tp, pp, dp, ep, cp, sp."""
    found: dict[str, int] = {}
    rank = _first(os.environ, _RANKS)
    if rank is None:
        rank = _group_rank()
    if rank is not None and world_size() != 1:
        found["rank"] = rank
    for name in _PARALLEL:
        value = _first(os.environ, (f"{name.upper()}_RANK", f"{_LONG[name]}_PARALLEL_RANK"))
        if value is None:
            value = _framework_rank(name)
        if value is not None:
            found[name] = value
    return found


_LONG = {
    "tp": "TENSOR", "pp": "PIPELINE", "dp": "DATA", "ep": "EXPERT", "cp": "CONTEXT", "sp": "SEQUENCE",
}  # fmt: skip


def world_size() -> int | None:
    """Return how many processes take part, None where nobody says."""
    found = _first(os.environ, _SIZES)
    if found is not None:
        return found
    group = _group()
    return int(group.get_world_size()) if group is not None else None


def speaks() -> bool:
    """Tell whether this process speaks for its machine: eight ranks need not say the same."""
    local = _first(os.environ, _LOCAL)
    return not (ranks().get("rank", 0) if local is None else local)


def _first(source: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    return next((int(source[n]) for n in names if re.fullmatch(r"\d{1,9}", source.get(n, ""))), None)


def _group() -> Any:
    """Return torch.distributed where the job has initialised it; it is never imported for this."""
    group = sys.modules.get("torch.distributed")
    return group if group is not None and group.is_available() and group.is_initialized() else None


def _group_rank() -> int | None:
    group = _group()
    return int(group.get_rank()) if group is not None else None


def _framework_rank(name: str) -> int | None:
    """Ask Megatron's or vLLM's parallel state, where the job has loaded one; not initialised is no rank."""
    for module, getters in (
        ("megatron.core.parallel_state", _MEGATRON),
        ("vllm.distributed.parallel_state", _VLLM),
    ):
        getter = getattr(sys.modules.get(module), getters.get(name, ""), None)
        with suppress(AssertionError, RuntimeError, ValueError, TypeError, AttributeError):
            if getter is not None:
                value = getter()
                return int(getattr(value, "rank_in_group", value))
    return None


def name_of(label: str, window: int) -> str:
    """Return the name of a window's files without suffix."""
    places = "".join(f"-{k}{v}" for k, v in ranks().items())
    return f"{safe_label(label)}{places}-pid{os.getpid()}-w{window}"


@lru_cache(maxsize=1)
def run_name() -> str:
    """Return what all processes of one run share, and other runs do not: what `prune` keeps together."""
    elastic = os.environ.get("TORCHELASTIC_RUN_ID", "")
    if elastic and elastic != "none":
        return safe_label(f"elastic-{elastic}")
    if job := os.environ.get("SLURM_JOB_ID"):
        return safe_label(f"slurm-{job}.{os.environ.get('SLURM_STEP_ID', '')}")
    if (world_size() or 1) > 1:
        return f"{SHELL}{os.getppid()}{_started(os.getppid())}"  # ranks that one launcher started
    return f"process-{_PROCESS}"


def age() -> float:
    """Return for how many seconds this process has known of recordings: files of its run are no older."""
    return time.monotonic() - _BEGUN


def _started(pid: int) -> str:
    """Return when a process was started, as Linux counts: in a container each launcher may have the same pid."""
    with suppress(OSError, IndexError):
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        return f"-{int(fields[19])}"
    return ""


def part_of(folder: Path, name: str, suffix: str) -> Path:
    """Return where a file is written before it has its name: hidden, and no other process writes there."""
    return folder / f".{name}.{_PROCESS}{suffix}{PART}"


def publish(part: Path, folder: Path, name: str, suffix: str) -> Path:
    """Give a whole file its name, or the next free one of NAME, NAME-2, NAME-3; nothing is overwritten."""
    with part.open("rb") as file:
        os.fsync(file.fileno())  # a name must not appear before what it names
    for number in range(1, _TRIES):
        target = folder / f"{name}{f'-{number}' if number > 1 else ''}{suffix}"
        if suffix == TRACE and target.with_name(target.name.removesuffix(TRACE) + SIDECAR).exists():
            continue  # of a trace that was moved away: it would tell the conditions of this one
        if _claimed(part, target):
            return target
    raise FileExistsError(f"{name}{suffix}: {_TRIES} files of this name exist")


def _claimed(part: Path, target: Path) -> bool:
    """Move a file to a name if that is free; a link tells this in one step where the file system has links."""
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError:  # no hard links here
        if target.exists():
            return False
        part.rename(target)
        return True
    part.unlink()
    return True
