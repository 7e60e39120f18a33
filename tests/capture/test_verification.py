"""What can keep a recording from succeeding is said before it, and what is wrong with a trace after it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analyses import making
from tests.capture.making import loop
from tests.capture.rows import cycle
from traceview.capture import naming, record, verification
from traceview.capture.keeping import Window
from traceview.capture.verification import Checked

SHORT = cycle(1, 1, 3, 1)
GB = 10**9


def steps_of(launched: int, recorded: int, steps: int = 2) -> list[dict[str, Any]]:
    """Return steps with so many launches each, of which so many have kernels."""
    events, correlation = [], 0
    for number in range(steps):
        start = number * 10_000.0
        events.append(making.note(f"ProfilerStep#{number}", start, 9000))
        for place in range(launched):
            correlation += 1
            events.append(making.launch(start + 1 + place * 10, 3, correlation))
            if place < recorded:
                events.append(making.kernel("k", start + 6 + place * 10, 3, correlation))
    return events


def written(folder: Path, events: list[dict[str, Any]], **options: Any) -> Window:
    """Return a window whose trace holds these events."""
    trace = folder / "run-rank0-pid1-w0.pt.trace.json.gz"
    trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return Window(trace, "run-rank0-pid1-w0", 0, range(2, 4), 2, options)  # type: ignore[arg-type]


def test_a_trace_is_opened_and_counted(tmp_path: Path) -> None:
    checked = verification.check(written(tmp_path, steps_of(200, 200)).trace)
    assert checked == Checked(kernels=400, launches=400, covered=400, steps=2, lacking=0)
    assert verification.told(checked, device=True) == []
    assert (
        verification.summary(checked) == "400 kernels in 2 steps, device records for 100.0 % of the launches"
    )


def test_steps_that_lack_records_are_named_with_what_to_do(tmp_path: Path) -> None:
    checked = verification.check(written(tmp_path, steps_of(200, 190)).trace)
    assert (checked.kernels, checked.lacking) == (380, 2)
    (line,) = verification.told(checked, device=True)
    assert line.startswith(
        "warning: 2 steps of 2 lack device records of over 1 % of their launches; record fewer"
    )


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch be a build with CUDA."""
    built = SimpleNamespace(version=SimpleNamespace(cuda="13.0", hip=None))
    monkeypatch.setitem(sys.modules, "torch", built)  # type: ignore[arg-type]


@pytest.mark.usefixtures("cuda")
def test_launches_without_any_kernel_have_causes_in_order_of_likelihood(tmp_path: Path) -> None:
    checked = verification.check(written(tmp_path, steps_of(200, 0)).trace)
    head, *causes = verification.told(checked, device=True)
    assert head == "warning: no kernel was recorded; likely causes, the likeliest first:"
    assert [c.split()[0] for c in causes] == ["1.", "2.", "3.", "4."]
    assert "another profiler" in causes[0]
    assert "CAP" in causes[1].upper()


@pytest.mark.usefixtures("cuda")
def test_a_trace_without_launches_has_other_causes() -> None:
    causes = verification.told(Checked(0, 0, 0, 3, 0), device=True)[1:]
    assert "on the CPU" in causes[0]


def test_of_a_build_for_the_cpu_on_a_machine_with_a_gpu_that_is_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = SimpleNamespace(version=SimpleNamespace(cuda=None, hip=None))
    monkeypatch.setitem(sys.modules, "torch", built)  # type: ignore[arg-type]
    (cause,) = verification.told(Checked(0, 0, 0, 3, 0), device=True)[1:]
    assert "build for the CPU alone" in cause


def test_without_a_device_no_kernel_is_missed() -> None:
    assert verification.told(Checked(0, 0, 0, 3, 0), device=False) == []


def test_a_recording_says_what_its_trace_holds(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("run", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6)
    assert f"{steps.files[0].name}: 0 kernels in 3 steps" in capsys.readouterr().err


def test_a_large_trace_is_not_opened_in_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verification, "LARGEST_CHECKED", 10)
    verification.after(written(tmp_path, steps_of(1, 1)))
    assert "not opened here" in capsys.readouterr().err


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make this process the first of four ranks of a job; return what writes files of the others."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setattr(naming, "run_name", lambda: "elastic-heat")

    def write(name: str, run: str | None = "elastic-heat", older_s: float = 0, world: int = 4) -> None:
        path = tmp_path / f"{name}.pt.trace.json.gz"
        path.write_text("{}", encoding="utf-8")
        when = time.time() - older_s
        os.utime(path, (when, when))
        if run is not None:
            told = {"schema": "traceview.capture/1", "run": run, "world_size": world}
            (tmp_path / f"{name}.capture.json").write_text(json.dumps(told), encoding="utf-8")

    return write


def test_the_files_of_other_ranks_are_counted(
    four: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    four("run-rank2-tp0-pid3-w0")
    four("run-rank2-tp0-pid3-w0-2")
    four("run-rank3-pid4-w10")
    four("other-rank3-pid4-w0")
    verification.after(written(tmp_path, steps_of(1, 1)))
    assert "files of 2 of 4 ranks so far" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("other", "counted"),
    [
        ({"run": "elastic-other"}, 1),
        ({"run": None}, 1),  # its sidecar may be on its way
        ({"world": 2}, 1),
        ({"older_s": 3600}, 1),  # of an earlier launch with the same name
        ({}, 2),
    ],
)
def test_the_files_of_earlier_runs_are_not_counted(
    four: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, other: dict[str, Any], counted: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(naming, "age", lambda: 60.0)
    four("run-rank1-pid9-w0", **other)
    verification.after(written(tmp_path, steps_of(1, 1)))
    assert f"files of {counted} of 4 ranks so far" in capsys.readouterr().err


def test_the_files_of_a_job_that_shells_of_several_machines_started_are_counted(
    four: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "run_name", lambda: "parent-7-100")
    four("run-rank1-pid9-w0", run="parent-7-100")
    four("run-rank2-pid9-w0", run="parent-8-200")
    verification.after(written(tmp_path, steps_of(1, 1)))
    assert "files of 3 of 4 ranks so far" in capsys.readouterr().err


@pytest.fixture
def machine(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return a machine with a device and nothing wrong, whose parts a test may change."""
    processes = tmp_path / "proc"
    (processes / "self").mkdir(parents=True)
    status, params = processes / "self" / "status", tmp_path / "params"
    status.write_text("Name:\tpython\nCapEff:\t0000000000000000\n", encoding="ascii")
    params.write_text("RmProfilingAdminOnly: 0\n", encoding="ascii")
    monkeypatch.setattr(verification, "_PROCESS", processes)
    monkeypatch.setattr(verification, "_DRIVER", params)
    monkeypatch.setattr(verification, "_GPUS", (tmp_path / "gpus",))
    monkeypatch.delenv("CUDA_INJECTION64_PATH", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    kinds = {torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA}
    monkeypatch.setattr(torch.profiler, "supported_activities", lambda: kinds)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * GB))
    return SimpleNamespace(
        processes=processes, status=status, params=params, kinds=kinds, folder=tmp_path / "new"
    )


def preflight(machine: SimpleNamespace, stacks: bool = False) -> list[str]:
    return verification.preflight(machine.folder, 10, stacks)


def test_nothing_is_said_where_nothing_is_wrong(machine: SimpleNamespace) -> None:
    assert preflight(machine) == []


def test_a_driver_that_keeps_profiling_to_administrators_is_named(machine: SimpleNamespace) -> None:
    machine.params.write_text("Other: 1\nRmProfilingAdminOnly: 1\n", encoding="ascii")
    (line,) = preflight(machine)
    assert "RmProfilingAdminOnly: 1" in line
    assert "--cap-add SYS_ADMIN" in line


@pytest.mark.parametrize("bit", [21, 38], ids=["SYS_ADMIN", "PERFMON"])
def test_a_process_with_the_capability_may_profile(machine: SimpleNamespace, bit: int) -> None:
    machine.params.write_text("RmProfilingAdminOnly: 1\n", encoding="ascii")
    machine.status.write_text(f"CapEff:\t{1 << bit:016x}\n", encoding="ascii")
    assert preflight(machine) == []


def test_a_second_subscriber_is_named(machine: SimpleNamespace) -> None:
    for number, name in enumerate(("nsys", "bash", "nv-hostengine", "nsys-launcher")):
        (machine.processes / str(number)).mkdir()
        (machine.processes / str(number) / "comm").write_text(f"{name}\n", encoding="ascii")
    assert [line.split(" is running")[0] for line in preflight(machine)] == ["DCGM", "Nsight Systems"]


def test_a_start_under_another_profiler_is_named(
    machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_INJECTION64_PATH", "/opt/nsys/lib.so")
    (line,) = preflight(machine)
    assert "started under another profiler" in line
    assert "/opt" not in line


def test_a_full_disk_is_told_with_what_is_needed(
    machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * 2**20))
    assert preflight(machine) == []  # ten steps take 40 MB
    assert preflight(machine, stacks=True) == [
        "64.0 MiB free where the trace goes; 10 steps may take 190.7 MiB"
    ]


def test_a_torch_that_records_no_device_is_named(machine: SimpleNamespace, torch: Any) -> None:
    machine.kinds.discard(torch.profiler.ProfilerActivity.CUDA)
    (line,) = preflight(machine)
    assert "records no device work" in line


def test_an_invisible_device_is_named_where_torch_could_use_one(
    machine: SimpleNamespace, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    (line,) = preflight(machine)
    assert "no device is visible" in line


def test_a_build_for_the_cpu_on_a_machine_with_a_gpu_is_named(
    machine: SimpleNamespace, torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert preflight(machine) == []
    (tmp_path / "gpus").mkdir()
    assert preflight(machine) == []  # the driver is there, and no GPU
    (tmp_path / "gpus" / "0000:01:00.0").mkdir()
    (line,) = preflight(machine)
    assert line.startswith("this machine has a GPU, but this torch is a build for the CPU alone")


def test_a_folder_that_cannot_be_written_to_is_named(
    machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    (line,) = preflight(machine)
    assert "cannot be written to" in line


def test_the_disk_must_hold_all_windows_of_all_ranks_here(
    machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * 2**20))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    verification.before(record("run", machine.folder, active=2, repeat=3))  # 48 steps of 4 MB
    assert "48 steps may take 183.1 MiB" in capsys.readouterr().err
