from __future__ import annotations

import getpass
import gzip
import json
import os
import platform
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import traceview
from tests.architecture.source import ROOT
from tests.capture.making import failing, leftovers, loop
from tests.capture.rows import cycle
from traceview.capture import conditions, record

SHORT = cycle(1, 1, 3, 1)


def captured(torch: Any, folder: Path, **options: Any) -> tuple[Path, dict[str, Any]]:
    """Record a window; return its trace and what stands in its sidecar."""
    with record("run", folder, **{**SHORT, "quiet": True, **options}) as steps:
        loop(torch, steps, 6)
    (trace,) = steps.files
    sidecar = trace.with_name(trace.name.replace(".pt.trace.json.gz", ".capture.json"))
    return trace, json.loads(sidecar.read_text(encoding="utf-8"))


def test_a_sidecar_tells_the_conditions_of_its_window(torch: Any, tmp_path: Path) -> None:
    torch.manual_seed(7)
    given = {"batch": 8, "shapes": [[8, 3, 32, 32]], "precision": "fp32"}
    with torch.inference_mode():
        trace, told = captured(torch, tmp_path, conditions=given, shapes=True)
    assert told["schema"] == "traceview.capture/1"
    assert told["trace"] == trace.name
    assert told["window"] == {"index": 0, "first_step": 2, "recorded": 3, "planned": 3}
    assert told["given"] == given
    assert told["profiler"] == {
        "record_shapes": True, "with_stack": False, "profile_memory": False, "with_flops": False,
    }  # fmt: skip
    assert told["versions"]["PyTorch"] == torch.__version__
    settings = told["settings"]
    assert "autocast" not in settings  # no module ran, so what is off here may be on in the model
    assert (settings["inference_mode"], settings["seed"], settings["threads"]) == (True, 7, 1)
    assert settings["default_dtype"] == "float32"
    assert leftovers(tmp_path) == []


def test_autocast_is_noted(torch: Any, tmp_path: Path) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _, told = captured(torch, tmp_path)
    assert told["settings"]["autocast"] == "bfloat16"


@pytest.mark.parametrize("warmup", [0, 2])
def test_settings_are_those_that_the_model_runs_under(torch: Any, tmp_path: Path, warmup: int) -> None:
    model = torch.nn.Linear(4, 4)
    with record("run", tmp_path, wait=0, warmup=warmup, active=2) as steps:
        for _ in range(4):
            with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
                model(torch.ones(2, 4))
            steps.step()
    told = json.loads(next(tmp_path.glob("*.capture.json")).read_text(encoding="utf-8"))["settings"]
    assert (told["autocast"], told["inference_mode"], told["grad"]) == ("bfloat16", True, False)
    assert vars(torch.nn.Module)["_compiled_call_impl"] is None


def test_shapes_are_noted_where_torch_counts_operations_from_them(torch: Any, tmp_path: Path) -> None:
    trace, told = captured(torch, tmp_path, flops=True)
    assert (told["profiler"]["with_flops"], told["profiler"]["record_shapes"]) == (True, True)
    assert b"Input Dims" in gzip.decompress(trace.read_bytes())


def test_a_condition_that_holds_itself_is_told_as_far_as_it_goes(torch: Any, tmp_path: Path) -> None:
    shapes: list[Any] = [[8, 3]]
    shapes.append(shapes)
    _, told = captured(torch, tmp_path, conditions={"shapes": shapes})
    assert told["given"]["shapes"][0] == [8, 3]


def test_a_recording_that_keeps_nothing_leaves_nothing_in_torch(torch: Any, tmp_path: Path) -> None:
    with record("run", tmp_path, wait=0, warmup=1, active=9) as steps:
        steps.step()
        assert vars(torch.nn.Module)["_compiled_call_impl"] is not None
    assert vars(torch.nn.Module)["_compiled_call_impl"] is None


def test_the_model_of_another_thread_tells_nothing(torch: Any, tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 4)

    def served() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            model(torch.ones(2, 4))

    with record("run", tmp_path, wait=0, warmup=1, active=2) as steps:
        for _ in range(3):
            other = threading.Thread(target=served)
            other.start()
            other.join()
            model(torch.ones(2, 4))
            steps.step()
    told = json.loads(next(tmp_path.glob("*.capture.json")).read_text(encoding="utf-8"))["settings"]
    assert told["autocast"] is None


def test_a_model_that_runs_plainly_is_known_to(torch: Any, tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 4)
    with record("run", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        for _ in range(6):
            model(torch.ones(2, 4))
            steps.step()
    told = json.loads(next(tmp_path.glob("*.capture.json")).read_text(encoding="utf-8"))["settings"]
    assert (told["autocast"], told["inference_mode"], told["grad"]) == (None, False, True)


def test_where_something_was_compiled_only_what_was_is_listened_to(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made(torch.nn.Module): ...  # type: ignore[misc, name-defined]

    monkeypatch.setattr(conditions, "has_compiled", lambda: True)
    monkeypatch.setattr(conditions, "optimized_module", lambda: Made)
    with record("run", tmp_path, wait=0, warmup=1, active=2):
        assert vars(torch.nn.Module)["_compiled_call_impl"] is None
        assert "_compiled_call_impl" in vars(Made)
    assert "_compiled_call_impl" not in vars(Made)


def test_the_state_at_the_end_is_of_the_last_recorded_step(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock: list[int] = []
    monkeypatch.setattr(conditions, "device_state", lambda: {"sm_mhz": len(clock)})
    with record("run", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        for _ in range(6):
            clock.append(
                0
            )  # a window of iterations 2, 3 and 4: begun behind the second, the last behind the fourth
            torch.ones(4).add(1)
            steps.step()
    told = json.loads(next(tmp_path.glob("*.capture.json")).read_text(encoding="utf-8"))
    assert told["state"] == {"start": {"sm_mhz": 2}, "end": {"sm_mhz": 4}}


def test_the_driver_is_told_by_the_kernel_where_nvml_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = tmp_path / "version"
    version.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (x)\nGCC version:\n",
        encoding="ascii",
    )
    monkeypatch.setattr(conditions, "_nvml", lambda: None)
    monkeypatch.setattr(conditions, "_DRIVER", version)
    assert conditions._driver() == "570.86.15"
    monkeypatch.setattr(conditions, "_DRIVER", tmp_path / "none")
    assert conditions._driver() is None


def test_no_environment_no_host_and_no_user_is_noted(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TOKEN", "s3cret-t0ken")
    for where in (socket, platform, os):  # however somebody might ask
        for name, answer in (
            ("gethostname", "node17.cluster"),
            ("node", "node17.cluster"),
            ("getlogin", "someone"),
        ):
            if hasattr(where, name):
                monkeypatch.setattr(where, name, lambda answer=answer: answer)
    _, told = captured(torch, tmp_path)
    text = json.dumps(told)
    for private in ("s3cret-t0ken", "node17", str(tmp_path), f'"{getpass.getuser()}"'):
        assert private not in text


def test_the_report_and_the_summary_tell_the_conditions(torch: Any, tmp_path: Path) -> None:
    trace, _ = captured(torch, tmp_path, conditions={"batch": 8, "shapes": [[8, 3, 32, 32], [8]]})
    analysis = traceview.analyze(traceview.read_trace(trace))
    noted = analysis.trace.meta.conditions
    assert noted["batch"] == "8"
    assert noted["shapes"] == "8x3x32x32, 8"
    assert noted["recorded steps"] == "3"
    report = traceview.build_report(analysis)
    (method,) = [s for s in report.sections if s.id == "method"]
    (block,) = [b for b in method.blocks if getattr(b, "title", "") == "Conditions"]
    assert ("batch", "8") in block.items
    assert ("batch", "8") in [(c.label, c.text) for c in report.chips]


def test_a_sidecar_that_cannot_be_written_fails_neither_job_nor_trace(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conditions, "write_sidecar", failing(OSError(28, "No space left on device")))
    with record("run", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6)
    assert len(steps.files) == 1
    assert "No space left on device" in capsys.readouterr().err


class Nvml(SimpleNamespace):
    """Stand in for NVIDIA's library: a device that has become hot."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    class NVMLError(Exception):
        """What the library raises for everything."""

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetHandleByUUID(self, name: str) -> str:  # noqa: N802
        assert name == "GPU-12ab"
        return "handle"

    def nvmlDeviceGetClockInfo(self, _: str, kind: int) -> int:  # noqa: N802
        return {1: 1410, 2: 1593}[kind]

    def nvmlDeviceGetTemperature(self, *_: object) -> int:  # noqa: N802
        return 83

    def nvmlDeviceGetPowerUsage(self, _: str) -> int:  # noqa: N802
        raise self.NVMLError("Not Supported")

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _: str) -> int:  # noqa: N802
        return 0x20 | 0x4 | 0x1


def test_clocks_and_what_holds_them_down_are_read_from_nvml(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Nvml())  # type: ignore[arg-type]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(uuid="12ab"))
    assert conditions.device_state() == {
        "sm_mhz": 1410, "memory_mhz": 1593, "temperature_c": 83,
        "throttles": ["power cap", "software thermal"],
    }  # fmt: skip


def test_without_nvml_no_clock_is_guessed(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert conditions.device_state() == {}


@pytest.fixture
def switches(torch: Any) -> Iterator[Any]:
    """Give torch.backends, and put back what a test sets there: the properties cannot be patched."""
    backends = torch.backends
    names = ("allow_tf32", "benchmark", "deterministic")
    before = backends.cuda.matmul.allow_tf32, [getattr(backends.cudnn, n) for n in names]
    yield backends
    backends.cuda.matmul.allow_tf32 = before[0]
    for name, value in zip(names, before[1], strict=True):
        setattr(backends.cudnn, name, value)


@pytest.mark.parametrize("on", [True, False])
def test_each_switch_is_read_from_its_own_place(switches: Any, on: bool) -> None:
    switches.cuda.matmul.allow_tf32, switches.cudnn.allow_tf32 = on, not on
    switches.cudnn.benchmark, switches.cudnn.deterministic = on, not on
    found = conditions.settings()
    assert (found["tf32_matmul"], found["tf32_cudnn"]) == (on, not on)
    assert (found["cudnn_benchmark"], found["cudnn_deterministic"]) == (on, not on)


def test_the_device_at_work_is_noted_by_name_size_and_capability(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = {1: SimpleNamespace(name="NVIDIA H200", total_memory=141 * 10**9, major=9, minor=0)}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", of.__getitem__)
    assert conditions.device() == {
        "name": "NVIDIA H200", "count": 2, "memory_bytes": 141 * 10**9, "capability": "9.0",
    }  # fmt: skip


def test_nothing_is_in_a_sidecar_but_what_is_listed(torch: Any, tmp_path: Path) -> None:
    _, told = captured(torch, tmp_path)
    assert set(told) == {
        "schema", "run", "written", "ranks", "world_size", "device", "versions", "profiler", "given", "trace",
        "window", "settings", "state",
    }  # fmt: skip
    assert set(told["versions"]) <= {
        "Python",
        "PyTorch",
        "CUDA",
        "HIP",
        "driver",
        "cuDNN",
        "triton",
        "vllm",
        "sglang",
    }
    assert set(told["settings"]) <= {
        "cudnn_benchmark", "cudnn_deterministic", "tf32_matmul", "tf32_cudnn", "matmul_precision", "default_dtype",
        "autocast", "inference_mode", "grad", "deterministic", "threads", "seed",
    }  # fmt: skip


def test_runs_of_one_process_share_a_name_that_no_other_process_has(torch: Any, tmp_path: Path) -> None:
    names = [captured(torch, tmp_path)[1]["run"] for _ in range(2)]
    words = "from traceview.capture import naming; print(naming.run_name())"
    other = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert names[0] == names[1] != other.stdout.strip()


def test_a_model_may_take_an_argument_of_any_name(torch: Any, tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, module: str = "", self_: str = "") -> str:
            return f"{module} {self_}"

    with record("run", tmp_path, wait=0, warmup=1, active=2, quiet=True) as steps:
        for _ in range(3):
            assert Net()(1, module="a", self_="b") == "a b"
            steps.step()


@pytest.mark.parametrize(("wait", "warmup"), [(0, 0), (0, 1), (1, 1)])
def test_each_window_has_its_own_settings_and_states(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: int, warmup: int
) -> None:
    readings = iter(range(99))
    monkeypatch.setattr(conditions, "device_state", lambda: {"reading": next(readings)})
    model, second = (
        torch.nn.Linear(4, 4),
        wait + warmup + 4,
    )  # the iteration with which the second cycle begins
    with record("run", tmp_path, wait=wait, warmup=warmup, active=4, repeat=2, quiet=True) as steps:
        for i in range(2 * second):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=i >= second):
                model(torch.ones(2, 4))
            steps.step()
    found = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(tmp_path.glob("*.capture.json"))]
    assert [f["settings"]["autocast"] for f in found] == [None, "bfloat16"]
    states = [(f["state"]["start"]["reading"], f["state"]["end"]["reading"]) for f in found]
    assert states == [(0, 1), (2, 3)]
