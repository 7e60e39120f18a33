from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from traceview.capture import naming

LAUNCHERS = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE")
LAUNCHERS += ("PMIX_RANK", "PMIX_SIZE", "SLURM_NPROCS")
LAUNCHERS += (
    "LOCAL_RANK",
    "SLURM_LOCALID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "TORCHELASTIC_RUN_ID",
)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a process that no launcher started."""
    for name in LAUNCHERS:
        monkeypatch.delenv(name, raising=False)
    naming.run_name.cache_clear()


def test_a_single_process_has_label_pid_and_window_in_its_name() -> None:
    assert naming.name_of("train", 3) == f"train-pid{os.getpid()}-w3"


def test_every_rank_that_a_launcher_tells_is_in_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"RANK": "5", "WORLD_SIZE": "8", "TP_RANK": "1", "PIPELINE_PARALLEL_RANK": "2", "DP_RANK": "0"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert naming.name_of("train", 0) == f"train-rank5-tp1-pp2-dp0-pid{os.getpid()}-w0"


@pytest.mark.parametrize(
    "told",
    [
        {"RANK": "3"},
        {"PMIX_RANK": "3"},
        {"SLURM_PROCID": "3", "SLURM_NPROCS": "8"},
        {"RANK": "3", "WORLD_SIZE": "x"},
    ],
    ids=str,
)
def test_a_rank_of_nobody_knows_how_many_is_a_rank(
    told: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert naming.ranks() == {"rank": 3}


def test_the_only_process_has_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert naming.ranks() == {}


@pytest.mark.parametrize("prefix", ["OMPI_COMM_WORLD_", "PMI_", "PMIX_"])
def test_mpi_tells_ranks_too(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{prefix}RANK", "3")
    monkeypatch.setenv(f"{prefix}SIZE", "4")
    assert naming.ranks() == {"rank": 3}


def test_a_process_group_and_a_framework_are_asked_where_the_job_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 1, get_world_size=lambda: 2
    )
    state = SimpleNamespace(
        get_tensor_model_parallel_rank=lambda: 1, get_pipeline_model_parallel_rank=not_initialised
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", group)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "megatron.core.parallel_state", state)  # type: ignore[arg-type]
    assert naming.ranks() == {"rank": 1, "tp": 1}


def not_initialised() -> int:
    raise AssertionError("pipeline parallel group is not initialized")


def test_vllm_groups_are_asked_for_their_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    state = SimpleNamespace(
        get_tensor_model_parallel_rank=lambda: 3, get_pp_group=lambda: SimpleNamespace(rank_in_group=1)
    )
    monkeypatch.setitem(sys.modules, "vllm.distributed.parallel_state", state)  # type: ignore[arg-type]
    assert naming.ranks() == {"tp": 3, "pp": 1}


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("resnet 50/train", "resnet-50-train"),
        ("../../etc/passwd", "etc-passwd"),
        ("ünïcode", "n-code"),
        ("", "capture"),
        ("...", "capture"),
        ("a" * 300, "a" * 80),
        ('quo"te\n', "quo-te"),
    ],
)
def test_a_label_becomes_part_of_a_file_name(label: str, name: str) -> None:
    assert naming.safe_label(label) == name


def test_no_host_name_is_in_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert socket.gethostname() not in naming.name_of("x", 0).split("-")
    assert re.fullmatch(r"x-rank0-pid\d+-w0", naming.name_of("x", 0))


def started(pid: int) -> str:
    """Return the field "starttime" of a process, the 22nd of its line; the second may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split(")")[-1].split()[22 - 3]


PARENT = f"parent-{os.getppid()}" + (f"-{started(os.getppid())}" if Path("/proc/self/stat").exists() else "")


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"TORCHELASTIC_RUN_ID": "job7"}, "elastic-job7"),
        ({"SLURM_JOB_ID": "12", "SLURM_STEP_ID": "0"}, "slurm-12.0"),
        ({"TORCHELASTIC_RUN_ID": "none", "RANK": "1", "WORLD_SIZE": "2"}, PARENT),
    ],
)
def test_the_processes_of_a_run_agree_on_its_name(
    told: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in told.items():
        monkeypatch.setenv(key, value)
    assert naming.run_name() == name


@pytest.mark.parametrize(
    ("told", "speaks"),
    [
        ({}, True),
        ({"RANK": "8", "WORLD_SIZE": "16", "LOCAL_RANK": "0"}, True),
        ({"RANK": "9", "WORLD_SIZE": "16", "LOCAL_RANK": "1"}, False),
        ({"RANK": "1", "WORLD_SIZE": "2"}, False),
    ],
)
def test_one_process_of_a_machine_speaks(
    told: dict[str, str], speaks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in told.items():
        monkeypatch.setenv(key, value)
    assert naming.speaks() is speaks


def test_a_file_gets_the_next_free_name(tmp_path: Path) -> None:
    for number in range(3):
        part = naming.part_of(tmp_path, "run", ".json")
        part.write_text(str(number), encoding="utf-8")
        naming.publish(part, tmp_path, "run", ".json")
    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == {
        "run.json": "0", "run-2.json": "1", "run-3.json": "2",
    }  # fmt: skip


def test_a_file_system_without_links_overwrites_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    for number in range(2):
        part = naming.part_of(tmp_path, "run", ".json")
        part.write_text(str(number), encoding="utf-8")
        naming.publish(part, tmp_path, "run", ".json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run-2.json", "run.json"]
