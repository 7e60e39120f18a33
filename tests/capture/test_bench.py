"""Bench: ladders, targets, what is timed and what is said of the samples."""

from __future__ import annotations

import json
import random
import re
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.analyses import making
from traceview.capture import conditions
from traceview.capture.bench import collect, devices, judge, processes, target, timing, worker
from traceview.capture.bench.collect import bench, rows
from traceview.capture.bench.texts import bench_document, bench_text
from traceview.capture.bench.timing import Point
from traceview.capture.bench.wishes import Wishes, ladder, parse_shape
from traceview.capture.runs import Runs
from traceview.cli import run
from traceview.errors import InputError, OutputError, UsageError

SMALL = """
import torch
made = []
def factory():
    made.append("model")
    def make(shape):
        made.append(shape)
        return torch.rand(shape)
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5)), make
"""


@pytest.mark.parametrize("text", ["1,3,128,128", "1x3x128x128"])
def test_a_shape_is_read(text: str) -> None:
    assert parse_shape(text) == (1, 3, 128, 128)


@pytest.mark.parametrize("text", ["", "1,,2", "0,3", "-1", "a", "9" * 23, f"{2**63}", "1," * 500])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no shape"):
        parse_shape(text)


def test_a_ladder_is_each_shape_with_each_batch() -> None:
    assert ladder([(1, 8), (1, 16)], [2, 4], zipped=False) == ((2, 8), (4, 8), (2, 16), (4, 16))


def test_a_zipped_ladder_pairs_them() -> None:
    assert ladder([(1, 8), (1, 16)], [4, 2], zipped=True) == ((4, 8), (2, 16))
    with pytest.raises(UsageError, match="--zip pairs 2 shapes with 1 batches"):
        ladder([(1, 8), (1, 16)], [4], zipped=True)


def test_without_batches_the_shapes_stay_and_without_shapes_nothing_is_timed() -> None:
    assert ladder([(3, 8)], [], zipped=False) == ((3, 8),)
    with pytest.raises(UsageError, match="no shape"):
        ladder([], [1], zipped=False)


def test_spreads_are_of_each_run_and_between_them() -> None:
    # medians 100 and 110; quartiles of 90, 95, 100, 105, 110: 95 and 105
    found = judge.spread([[90, 95, 100, 105, 110], [100, 105, 110, 115, 120]])
    assert found.median == 105
    assert found.between == pytest.approx(10 / 105)
    assert found.within == pytest.approx(10 / 105)
    assert found.p95 == pytest.approx(114)  # 109 and 119, linear between neighbours
    assert judge.spread([[1, 2, 3]]).between is None


ROUNDS = 500


@pytest.mark.parametrize("count", [8, 10, 16, 30, 50])
@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_noise_of_ten_per_cent_raises_a_doubt_in_less_than_one_of_fifty_runs(kind: str, count: int) -> None:
    random = np.random.default_rng(20261130)
    draw = {"normal": random.normal, "exponential": lambda _, size, n: random.exponential(size, n)}[kind]
    raised = sum(bool(judge.doubts([1e6 * (1 + draw(0, 0.1, count))])) for _ in range(ROUNDS))
    assert raised <= 17  # 2 % are 10; where 2 % hold, more than 17 have a chance of 1 in 100


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.1])
def test_iterations_that_alternate_are_always_seen(spread: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        samples = np.where(np.arange(50) % 2, 2e6, 10e6) * (1 + random.normal(0, spread, 50))
        (doubt,) = judge.doubts([samples])
        assert doubt.startswith("two groups of samples, ")


@pytest.mark.parametrize("spread", [0.01, 0.05])
def test_a_drift_of_a_fifth_is_always_seen(spread: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        samples = 1e6 * (1 + 0.2 * np.arange(50) / 49) * (1 + random.normal(0, spread, 50))
        (doubt,) = judge.doubts([samples])
        assert doubt.startswith("the samples drift by +")


def noise(size: int, seed: int = 1) -> np.ndarray:
    return 1000 + np.random.default_rng(seed).normal(0, 10, size)


@pytest.mark.parametrize("seed", range(20))
def test_quiet_samples_raise_no_doubt(seed: int) -> None:
    assert judge.doubts([noise(50, seed).tolist()]) == []


@pytest.mark.parametrize("seed", range(10))
def test_flat_and_skewed_samples_have_one_group(seed: int) -> None:
    random = np.random.default_rng(seed)
    for samples in (random.uniform(900, 1300, 60), 1000 + random.exponential(100, 60)):
        assert not [d for d in judge.doubts([samples.tolist()]) if "two groups" in d]


def test_two_groups_of_samples_are_said() -> None:
    samples = noise(50)
    samples[10:30] += 400
    (doubt,) = judge.doubts([samples.tolist()])
    assert doubt.startswith("two groups of samples, ")
    samples = noise(50)
    samples[10:30] += 60  # apart, and too little to matter
    assert judge.doubts([samples.tolist()]) == []


@pytest.mark.parametrize("slope", [0.21, -0.21])
def test_a_drift_is_said_with_its_sign(slope: float) -> None:
    (doubt,) = judge.doubts([(noise(60) * (1 + slope * np.arange(60) / 60)).tolist()])
    assert doubt.startswith(f"the samples drift by {'+' if slope > 0 else '-'}1")


def test_a_first_iteration_that_leaked_in_is_said() -> None:
    samples = noise(50)
    samples[0] = 5000
    (doubt,) = judge.doubts([samples.tolist()])
    assert doubt.startswith("a first iteration leaked in: it took 5.0 times the median; raise --warmup")


@pytest.mark.parametrize("samples", [[90, 10], [90, 10, 11], [90, 10, 11, 10, 12, 10, 11]])
def test_a_first_iteration_that_leaked_in_is_said_of_few_samples_too(samples: list[int]) -> None:
    (doubt,) = judge.doubts([samples])
    assert doubt.startswith("a first iteration leaked in: it took ")


def test_few_samples_and_equal_samples_raise_no_doubt() -> None:
    assert judge.doubts([[1, 9, 1, 9, 1, 9, 1]]) == []
    assert judge.doubts([[5] * 50]) == []


def test_a_doubt_of_several_runs_is_said_once() -> None:
    little, much = noise(50, 1), noise(50, 2)
    little[0], much[0] = 3000, 5000
    (doubt,) = judge.doubts([little.tolist(), much.tolist()])
    assert "it took 5.0 times the median" in doubt


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("factory", "write it as module:factory"),
        ("nowhere.py:f", "no such file"),
        ("no_such_module_here:f", "No module named"),
        ("json:nothing", "has no attribute"),
        ("json:__name__", "is no function"),
    ],
)
def test_what_is_no_target_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        target.factory_of(name)


@pytest.fixture
def small(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the target of a small model in a file."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "small", raising=False)
    (tmp_path / "small.py").write_text(SMALL, encoding="utf-8")
    return f"{tmp_path / 'small.py'}:factory"


def point(**changes: Any) -> Point:
    return Point((2, 8), "cpu", "fp32", 3, 20, 7)._replace(**changes)


def test_inputs_are_made_once_from_the_seed_and_the_model_does_not_train(torch: Any, small: str) -> None:
    loaded = target.load(small, "cpu", "fp32", 7)
    seen: list[Any] = []
    loaded.model.register_forward_hook(  # type: ignore[attr-defined]
        lambda m, given, _: seen.append(
            (given[0].data_ptr(), given[0].clone(), m.training, torch.is_inference_mode_enabled())
        )
    )
    found = timing.time_point(loaded, point())
    assert len(seen) == 3 + 20 + 20  # warm-up, timed one by one, one stretch
    assert len({place for place, *_ in seen}) == 1
    assert {(training, inference) for *_, training, inference in seen} == {(False, True)}
    torch.manual_seed(7)
    assert torch.equal(seen[0][1], torch.rand(2, 8))
    assert sys.modules["small"].made == ["model", (2, 8)]
    assert len(found["samples_ns"]) == 20
    assert min(found["samples_ns"]) > 0
    assert found["device_ns"] is None
    assert found["stretch_ns"] > 0


def test_the_profiler_is_off_while_anything_is_timed(torch: Any, small: str) -> None:
    loaded = target.load(small, "cpu", "fp32", 7)
    profiled: list[bool] = []
    loaded.model.register_forward_hook(lambda *_: profiled.append(torch.autograd._profiler_enabled()))  # type: ignore[attr-defined]
    timing.time_point(loaded, point())
    assert profiled == [False] * 43


@pytest.mark.parametrize(
    ("precision", "kind"), [("fp32", "float32"), ("bf16", "bfloat16"), ("fp16", "float16")]
)
def test_a_precision_is_that_of_model_and_inputs(torch: Any, small: str, precision: str, kind: str) -> None:
    loaded = target.load(small, "cpu", precision, 7)
    given = target.inputs(loaded, (2, 8), "cpu", precision, 7)
    assert given.dtype == next(loaded.model.parameters()).dtype == getattr(torch, kind)  # type: ignore[attr-defined]


def test_amp_leaves_the_model_and_casts_inside(torch: Any, small: str) -> None:
    loaded = target.load(small, "cpu", "amp", 7)
    kinds: list[Any] = []
    loaded.model.register_forward_hook(lambda *a: kinds.append(a[2].dtype))  # type: ignore[attr-defined]
    timing.time_point(loaded, point(precision="amp"))
    assert set(kinds) == {torch.bfloat16}
    assert next(loaded.model.parameters()).dtype == torch.float32  # type: ignore[attr-defined]


class Pair(NamedTuple):
    a: Any
    b: Any


def test_inputs_may_be_arguments_or_keywords(torch: Any) -> None:
    def model(a: Any, b: Any) -> Any:
        return a + b

    a = torch.ones(2)
    assert target.call(model, (a, a)).tolist() == [2, 2]
    assert target.call(model, [a, a]).tolist() == [2, 2]
    assert target.call(model, target._moved(Pair(a, a), "cpu", None)).tolist() == [2, 2]
    assert target.call(model, {"a": a, "b": a}).tolist() == [2, 2]
    moved = target._moved({"x": [a, 3], "n": torch.ones(1, dtype=torch.int64)}, "cpu", torch.bfloat16)
    assert (moved["x"][0].dtype, moved["x"][1], moved["n"].dtype) == (torch.bfloat16, 3, torch.int64)


def test_a_second_pass_tells_the_top_operator(torch: Any, small: str, tmp_path: Path) -> None:
    loaded = target.load(small, "cpu", "fp32", 7)
    found = timing.profile_point(loaded, point(), tmp_path / "traces", "small")
    assert found["top_op"].startswith("aten::")
    assert 0 < found["top_share"] <= 1
    assert found["copies_in"] == 0
    assert found["made_inside"] == []
    assert [p.name for p in (tmp_path / "traces").glob("*.gz")] == [found["trace"]]


def test_a_mask_that_is_made_anew_is_seen_in_the_second_pass(torch: Any, tmp_path: Path) -> None:
    loaded = target.Loaded(lambda x: x * torch.rand(x.shape), torch.rand)
    found = timing.profile_point(loaded, point(), tmp_path, "masks")
    assert "aten::rand" in found["made_inside"]


def test_copies_to_the_device_are_counted_in_the_second_pass(tmp_path: Path) -> None:
    events = [
        making.note("ProfilerStep#0", 0, 100),
        making.op("aten::to", 1, 50),
        making.op("aten::mm", 60, 30),
    ]
    for i in range(6):
        at = 2.0 + 5 * i
        events += [making.call("cudaMemcpyAsync", at, 2, i + 1), making.copy(at + 1, 2, i + 1)]
    events += [making.launch(61, 2, 9), making.kernel("gemm", 64, 20, 9)]
    (tmp_path / "t.json").write_bytes(making.text(*events))
    found = timing.told(tmp_path / "t.json")
    assert (found["copies_in"], found["top_op"], found["top_op_time"]) == (6, "aten::mm", "device time")
    assert found["top_share"] == pytest.approx(20 / 32)
    (doubt,) = collect._made_inside(found)
    assert doubt.startswith("6 copies to the device in 6 iterations: inputs or masks are made anew")


def answer(shape: list[int], samples: list[int], **more: Any) -> dict[str, Any]:
    """Return what a process says of a shape."""
    return {
        "shape": shape, "samples_ns": samples, "device_ns": None, "stretch_ns": 4_000_000,
        "peak_bytes": 1000, "state": {"start": {}, "middle": {}, "end": {}}, **more,
    }  # fmt: skip


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let two processes answer: one shape that works, one that is too large."""
    settings = {
        "tf32_matmul": True,
        "tf32_cudnn": None,
        "cudnn_benchmark": False,
        "matmul_precision": "high",
        "threads": 8,
        "seed": 0,
    }
    profile = {
        "trace": "t.json.gz",
        "top_op": "aten::conv2d",
        "top_op_time": "device time",
        "top_share": 0.5,
        "iterations": 6,
    }
    answers = [
        {
            "used": "cuda", "device": {"name": "NVIDIA H100"}, "versions": {"PyTorch": "2.13"}, "settings": settings,
            "points": [
                answer([4, 8], [base] * 20, device_ns=[base - 10] * 20, stretch_ns=base * 40, peak_bytes=base, **more),
                {"shape": [4096, 8], "failed": "out of memory"},
            ],
        }
        for base, more in ((100_000, {}), (110_000, {"profile": profile, "state": {"start": {}, "middle": {"throttles": ["power cap"]}, "end": {}}}))
    ]  # fmt: skip
    waiting = list(answers)
    monkeypatch.setattr(processes, "timed_afresh", lambda *_, **__: waiting.pop(0))
    return answers


def test_the_answers_of_fresh_processes_become_one_table(played: list[Any], tmp_path: Path) -> None:
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20, profile="traces"), str)
    works, fails = found.timed
    assert works.samples == ((100_000,) * 20, (110_000,) * 20)
    assert works.spread is not None
    assert works.spread.between == pytest.approx(10_000 / 105_000)
    assert works.device_ns == 104_990
    assert works.per_second == pytest.approx(4 * 20 / 0.0042)  # stretches of 4.0 and 4.4 ms
    assert works.peak_bytes == 110_000
    assert works.doubts == ("the device was throttled: power cap",)
    assert fails.failed == "out of memory"
    row, failed = rows(found)
    assert (failed.label, failed.conditions) == ("heat", {**row.conditions, "shape": "4096x8"})
    assert (failed.samples, failed.figures, failed.notes) == ([], {}, {"failed": "out of memory"})
    assert row.label == "heat"
    assert row.conditions == {
        "target": "m.py:heat", "device": "NVIDIA H100", "precision": "fp32", "versions": "PyTorch 2.13", "seed": "0",
        "warm-up": "10", "iterations": "20", "TF32 matmul": "on", "cuDNN benchmark": "off", "float32 matmul": "high",
        "threads": "8", "shape": "4x8",
    }  # fmt: skip
    assert row.notes == {"top_op": "aten::conv2d", "top_op_time": "device time"}
    assert row.trace == "t.json.gz"
    assert Runs(tmp_path / "r.sqlite").add([row, failed]) == [1, 2]


def test_a_bench_is_said_with_its_doubts_and_failures(played: list[Any]) -> None:
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20), str)
    text = bench_text(found)
    lines = text.splitlines()
    assert "device: time of an iteration between events on the device\n" in text
    assert "peak: most memory that torch's allocator gave out on the device" in text
    assert (
        "the one with most device time of its own in the profiled pass, and its share of that of all operators\n"
        in text
    )
    assert lines[0] == "m.py:heat, fp32, NVIDIA H100: 20 iterations in each of 2 processes"
    assert lines[2].split()[:3] == ["4x8", "105", "µs"]
    assert lines[2].endswith("aten::conv2d 50.0 %")
    assert lines[3].split(maxsplit=1) == ["4096x8", "out of memory"]
    assert lines[-1] == "! 4x8: the device was throttled: power cap"
    document = json.loads(json.dumps(bench_document(found)))
    assert document["points"][0]["median_ns"] == 105_000
    assert document["points"][0]["doubts"] == ["the device was throttled: power cap"]
    assert (document["points"][0]["top_op"], document["points"][0]["top_op_time"]) == (
        "aten::conv2d",
        "device time",
    )
    assert document["points"][1]["failed"] == "out of memory"
    assert (document["warmup"], document["iterations"], document["conditions"]["warm-up"]) == (10, 20, "10")


def test_a_process_that_dies_is_one_line(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(9)\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"the process that times it failed \(exit status 9\)"):
        bench(Wishes(f"{tmp_path / 'dies.py'}:factory", ((1, 8),)), str)


def test_a_wrong_command_line_is_refused_before_a_process_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "m:f"]) == 2
    assert run(["bench", "m:f", "--shape", "1,8", "--batch", "1", "--batch", "0"]) == 2
    assert run(["bench", "m:f", "--shape", "x"]) == 2
    assert "is no shape" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, 99999999999999999999])
def test_a_seed_that_torch_does_not_take_is_refused_before_anything_runs(
    seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.cli.benching.need_torch", lambda: pytest.fail("looked for torch"))
    assert run(["bench", "m:f", "--shape", "1,8", "--seed", str(seed)]) == 2
    assert f"--seed {seed}: torch takes no such seed" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [2**64 - 1, -(2**63), -1])
def test_a_seed_that_torch_takes_seeds_all(torch: Any, seed: int) -> None:
    drawn = []
    for _ in range(2):
        target.sow(Wishes("m:f", ((1, 8),), seed=seed).seed)
        drawn.append((float(torch.rand(())), float(np.random.rand()), random.random()))  # noqa: NPY002 - what programs use
    assert drawn[0] == drawn[1]


def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch, played: list[Any]) -> None:
    monkeypatch.setattr(collect, "os", SimpleNamespace(getloadavg=lambda: (9.0, 1, 1), cpu_count=lambda: 2))
    told: list[str] = []
    bench(Wishes("m.py:heat", ((4, 8), (4096, 8))), told.append)
    assert told[0] == "warning: 9.0 programs want 2 cores: times will be theirs too"


class Cuda:
    """Play torch.cuda: note what is asked of it, and in which order."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def set_device(self, name: str) -> None:
        self.log.append(f"set {name}")

    def synchronize(self) -> None:
        self.log.append("wait")

    def reset_peak_memory_stats(self) -> None:
        self.log.append("forget peak")

    def max_memory_allocated(self) -> int:
        return 12345

    def Event(self, enable_timing: bool) -> Any:  # noqa: N802 - torch's name
        assert enable_timing
        return SimpleNamespace(record=lambda: self.log.append("mark"), elapsed_time=lambda end: 1.2345678)


@pytest.fixture
def cuda(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Cuda:
    """Return a played torch.cuda; the state of the device is read from it too."""
    played = Cuda()
    for name in ("set_device", "synchronize", "reset_peak_memory_stats", "max_memory_allocated", "Event"):
        monkeypatch.setattr(torch.cuda, name, getattr(played, name))

    def state() -> dict[str, Any]:
        played.log.append("state")
        return {"throttles": ["power cap"]} if played.log[-2:-1] == ["step"] else {}

    monkeypatch.setattr(conditions, "device_state", state)
    return played


def test_each_iteration_on_a_device_is_waited_for_and_marked(cuda: Cuda) -> None:
    loaded = target.Loaded(
        lambda _: cuda.log.append("step"), lambda shape: cuda.log.append("make") or "inputs"
    )
    found = timing.time_point(loaded, point(device="cuda:1", warmup=1, iters=3))
    log = cuda.log
    assert log[:6] == ["forget peak", "make", "wait", "step", "wait", "state"]  # the warm-up
    iteration = ["wait", "mark", "step", "mark", "wait"]
    assert log[6:11] == iteration
    busy = log.index("state", 11)  # read while the device works, after iterations that nobody times
    assert set(log[11:busy]) == {"step"}
    assert log[busy + 1 :] == ["wait", *iteration * 2, "wait", "step", "step", "step", "wait", "state"]
    assert len(found["samples_ns"]) == 3
    assert found["device_ns"] == [1_234_568] * 3  # 1.2345678 ms
    assert found["peak_bytes"] == 12345
    assert found["state"] == {"start": {}, "middle": {"throttles": ["power cap"]}, "end": {}}


def test_the_device_is_current_before_the_model_is_made(
    cuda: Cuda, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "empty", lambda _, device: SimpleNamespace(device=device))
    model = (lambda _: cuda.log.append("step"), lambda shape: None)
    monkeypatch.setattr(worker, "load", lambda *_: cuda.log.append("load") or target.Loaded(*model))
    spec = {
        "target": "m:f",
        "device": "cuda:1",
        "precision": "fp32",
        "warmup": 0,
        "iters": 2,
        "seed": 0,
        "profile": None,
    }
    kept: list[dict[str, Any]] = []
    worker.timed({**spec, "shapes": [[1, 8]]}, lambda result: kept.append(json.loads(json.dumps(result))))
    assert cuda.log[:2] == ["set cuda:1", "load"]
    assert kept[-1]["used"] == "cuda:1"
    assert len(kept[-1]["points"][0]["samples_ns"]) == 2


def test_a_device_that_computes_nothing_is_refused(torch: Any) -> None:
    with pytest.raises(UsageError, match="--device meta: cannot be waited for, so not timed"):
        devices.choose("meta")
    with pytest.raises(UsageError, match="--device nonsense: "):
        devices.choose("nonsense")
    assert devices.choose("cpu") == "cpu"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux begins its mark anew")
def test_the_peak_of_a_small_shape_is_not_that_of_a_large_one_before(torch: Any) -> None:
    loaded = target.Loaded(lambda x: x + 1, torch.rand)
    peaks = [
        timing.time_point(loaded, point(shape=(n, 1024, 1024), warmup=0, iters=2))["peak_bytes"]
        for n in (64, 1)
    ]
    # inputs and outputs of the large one take 2 x 256 MiB, of the small one 2 x 4
    assert 450 < (peaks[0] - peaks[1]) / 2**20 < 550


def test_a_system_that_cannot_begin_its_mark_anew_tells_no_peak(
    torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "_CLEAR", tmp_path / "nowhere" / "clear_refs")
    loaded = target.Loaded(lambda x: x + 1, torch.rand)
    assert timing.time_point(loaded, point(iters=2))["peak_bytes"] is None


def test_all_that_numbers_are_drawn_from_is_seeded(torch: Any, tmp_path: Path) -> None:
    seen: list[tuple[str, Any]] = []

    def drawn(_: object) -> tuple[float, ...]:
        return float(torch.rand(())), float(np.random.rand()), random.random()  # noqa: NPY002 - what programs use

    def make(shape: tuple[int, ...]) -> Any:
        seen.append(("inputs", drawn(shape)))
        return torch.ones(shape)

    loaded = target.Loaded(lambda x: x, make)
    np.random.seed(5)  # noqa: NPY002 - what another program has done
    timing.time_point(loaded, point())
    random.seed(5)
    timing.profile_point(loaded, point(), tmp_path, "seeds")
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002 - the truth
    random.seed(7)
    assert seen == [("inputs", drawn(None))] * 2


def test_a_model_is_made_from_the_seed_whatever_it_draws_from(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "drawing.py").write_text(
        "import random, numpy, torch\n"
        "def factory():\n"
        "    drawn = (float(torch.rand(())), float(numpy.random.rand()), random.random())\n"
        "    return (lambda x: drawn), torch.rand\n",
        encoding="utf-8",
    )
    values = [target.load(f"{tmp_path / 'drawing.py'}:factory", "cpu", "fp32", s).model(0) for s in (7, 7, 8)]
    assert values[0] == values[1]
    assert not set(values[0]) & set(values[2])


def test_the_profiled_pass_runs_as_the_timed_one(torch: Any, tmp_path: Path) -> None:
    modes: list[tuple[Any, ...]] = []
    loaded = target.Loaded(
        lambda x: modes.append(
            (
                torch.is_inference_mode_enabled(),
                torch.is_autocast_enabled("cpu"),
                torch.get_autocast_dtype("cpu"),
            )
        ),
        torch.rand,
    )
    timing.time_point(loaded, point(precision="amp"))
    timing.profile_point(loaded, point(precision="amp"), tmp_path, "modes")
    assert set(modes) == {(True, True, torch.bfloat16)}


@pytest.mark.parametrize(
    ("name", "copies"),
    [("Memcpy HtoD (Pageable -> Device)", 1), ("CopyHostToDevice", 1), ("CopyDeviceToHost", 0)],
)
def test_copies_to_the_device_are_told_by_any_vendors_name(tmp_path: Path, name: str, copies: int) -> None:
    copy = {**making.copy(3, 2, 1), "name": name}
    (tmp_path / "t.json").write_bytes(
        making.text(making.op("aten::to", 0, 50), making.call("cudaMemcpyAsync", 1, 2, 1), copy)
    )
    assert timing.told(tmp_path / "t.json")["copies_in"] == copies


def test_every_kind_of_doubt_reaches_text_and_json(played: list[Any]) -> None:
    slow_first = [5_000_000, *[100_000] * 19]
    works = played[1]["points"][0]
    works["samples_ns"] = slow_first
    works["profile"] |= {"copies_in": 6, "made_inside": ["aten::rand"]}
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20), str)
    said = [line for line in bench_text(found).splitlines() if line.startswith("!")]
    assert said == [
        "! 4x8: a first iteration leaked in: it took 50.0 times the median; raise --warmup",
        "! 4x8: the device was throttled: power cap",
        "! 4x8: 6 copies to the device in 6 iterations: inputs or masks are made anew in the timed region",
        "! 4x8: aten::rand in the timed region: inputs or masks are made anew",
    ]
    assert [f"! 4x8: {d}" for d in bench_document(found)["points"][0]["doubts"]] == said


def test_columns_that_are_empty_are_not_explained(played: list[Any]) -> None:
    for result in played:
        result["used"] = "cpu"
        result["points"][0] |= {"device_ns": None, "peak_bytes": None}
    text = bench_text(bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20), str))
    assert "device: time" not in text
    assert "peak:" not in text
    for result in played:
        result["points"][0]["peak_bytes"] = 1000


def target_file(folder: Path, body: str) -> str:
    """Write a module of a model and return its factory as a target."""
    (folder / "given.py").write_text("import os, sys, torch\n" + textwrap.dedent(body), encoding="utf-8")
    return f"{folder / 'given.py'}:factory"


def benched(folder: Path, body: str, *words: str) -> int:
    """Run a quick bench of a model over the shapes 1x8, 2x8 and 4x8; rows go to runs.sqlite."""
    table = ["--runs", str(folder / "runs.sqlite")]
    quick = [
        "--shape",
        "1,8",
        "--batch",
        "1,2",
        "--batch",
        "4",
        "--warmup",
        "1",
        "--iters",
        "4",
        "--repeat",
        "1",
    ]
    return run(["bench", target_file(folder, body), *quick, *table, *words])


FAILS_AT_TWO = """
    def inner(x):
        if x.shape[0] == 2:
            raise RuntimeError("wrong shape in /home/somebody/secret/model.py\\nand more")
        return x + 1
    def factory():
        return inner, torch.rand
"""


def test_a_shape_that_fails_is_a_row_that_says_why_and_the_others_stay(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benched(tmp_path, FAILS_AT_TWO) == 0
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if line.split()[0] in ("1x8", "2x8", "4x8")]
    assert [r.split()[0] for r in rows] == ["1x8", "2x8", "4x8"]
    assert rows[1] == "2x8    RuntimeError: wrong shape in model.py and more"
    assert re.search(
        r'model\.py and more, at\n  File ".*given\.py", line 5, in inner\n    raise RuntimeError', err
    )
    assert "bench/timing.py" not in err
    kept = Runs(tmp_path / "runs.sqlite").rows()
    assert [(r.conditions["shape"], len(r.samples)) for r in kept] == [("4x8", 1), ("2x8", 0), ("1x8", 1)]
    assert kept[1].notes == {"failed": "RuntimeError: wrong shape in model.py and more"}
    assert {r.conditions["target"] for r in kept} == {"given.py:factory"}
    assert str(tmp_path) not in out


@pytest.mark.parametrize(
    "body",
    [
        "def factory():\n    return torch.nn.Linear(7, 7), torch.rand",
        "def factory():\n    raise RuntimeError('no weights')",
        "def factory():\n    return torch.nn.Identity(), lambda shape: int('no number')",
    ],
)
def test_a_target_of_which_no_shape_works_is_an_error_with_the_reason(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    assert benched(tmp_path, body) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert any(reason in err for reason in ("mat1 and mat2", "no weights", "invalid literal"))
    assert not (tmp_path / "runs.sqlite").exists()


def test_memory_that_a_shape_lacks_is_told_from_other_failures(torch: Any, tmp_path: Path) -> None:
    body = "def factory():\n    return (lambda x: torch.empty(1 << 60) if x.shape[0] == 4 else x), torch.rand"
    wishes = Wishes(target_file(tmp_path, body), ((1, 8), (4, 8)), warmup=0, iters=2, repeat=1)
    found = bench(wishes, str)
    assert [t.failed for t in found.timed] == ["", "out of memory"]


def test_a_process_that_ends_within_the_ladder_has_told_of_the_shapes_before(
    torch: Any, tmp_path: Path
) -> None:
    body = "def factory():\n    return (lambda x: os.abort() if x.shape[0] == 2 else x), torch.rand"
    wishes = Wishes(target_file(tmp_path, body), ((1, 8), (2, 8), (3, 8)), warmup=0, iters=2, repeat=1)
    found = bench(wishes, str)
    assert [t.failed for t in found.timed] == [
        "",
        "the process that timed it failed (ended by SIGABRT)",
        "not reached: an earlier shape ended the process",
    ]


def test_a_profiled_pass_that_fails_loses_no_timings(torch: Any, tmp_path: Path) -> None:
    body = (
        "def model(x):\n    if torch.autograd._profiler_enabled():\n        raise RuntimeError('not while profiled')\n    return x\n"
        "def factory():\n    return model, torch.rand"
    )
    told: list[str] = []
    wishes = Wishes(target_file(tmp_path, body), ((1, 8),), warmup=0, iters=4, repeat=1)
    (timed,) = bench(wishes, told.append).timed
    assert timed.spread is not None
    assert timed.doubts[-1] == "the profiled pass failed: RuntimeError: not while profiled"
    assert any("given.py" in t for t in told)


ENDS_PROFILED = """
    def model(x):
        if torch.autograd._profiler_enabled() and x.shape[0] == 2:
            os.kill(os.getpid(), 9) if os.environ.get("KILLED") else os._exit(3)
        return x + 1
    def factory():
        return model, torch.rand
"""


@pytest.mark.parametrize(("killed", "how"), [("1", "ended by SIGKILL"), ("", "exit status 3")])
def test_a_process_that_ends_in_the_profiled_pass_is_said_of_each_shape_without_a_trace(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], killed: str, how: str
) -> None:  # fmt: skip
    monkeypatch.setenv("KILLED", killed)
    assert benched(tmp_path, ENDS_PROFILED, "--profile", str(tmp_path / "traces")) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "profiled pass failed" in line]
    assert said == [
        f"! 2x8: the profiled pass failed: no trace was kept and read by process 1 of 1 ({how})",
        f"! 4x8: the profiled pass failed: not reached by process 1 of 1 ({how})",
    ]
    kept = {r.conditions["shape"]: r for r in Runs(tmp_path / "runs.sqlite").rows()}
    assert [(bool(kept[s].trace), len(kept[s].samples[0])) for s in ("1x8", "2x8", "4x8")] == [
        (True, 4), (False, 4), (False, 4),
    ]  # fmt: skip


def test_shapes_whose_profiled_pass_an_end_while_timing_took_away_say_so(torch: Any, tmp_path: Path) -> None:
    body = "def factory():\n    return (lambda x: os.abort() if x.shape[0] == 2 else x), torch.rand"
    wishes = Wishes(target_file(tmp_path, body), ((1, 8), (2, 8)), warmup=0, iters=2, repeat=1)
    timed, _ = bench(wishes, str).timed
    assert timed.doubts[-1] == "the profiled pass failed: not reached by process 1 of 1 (ended by SIGABRT)"


def test_a_process_that_ends_badly_after_all_is_said_and_no_figure_is_in_doubt(
    torch: Any, tmp_path: Path
) -> None:
    body = """
        import atexit
        def factory():
            atexit.register(os._exit, 7)
            return (lambda x: x + 1), torch.rand
    """
    told: list[str] = []
    wishes = Wishes(target_file(tmp_path, body), ((1, 8),), warmup=1, iters=4, repeat=2)
    (timed,) = bench(wishes, told.append).timed
    assert [t for t in told if "ended" in t] == [
        f"warning: process {n} ended badly (exit status 7), after all that it had to do" for n in (1, 2)
    ]
    assert not [d for d in timed.doubts if "process" in d or "profiled" in d]


def test_traces_that_cannot_be_kept_lose_no_timings(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    body = "def factory():\n    return torch.nn.Identity(), torch.rand"
    where = str(tmp_path / "file" / "traces")
    wishes = Wishes(target_file(tmp_path, body), ((1, 8),), warmup=0, iters=4, repeat=1, profile=where)
    (timed,) = bench(wishes, str).timed
    assert len(timed.samples[0]) == 4
    assert timed.doubts[-1].startswith("the profiled pass failed: ")


def test_what_a_model_writes_need_not_be_text(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = """
        def factory():
            sys.stderr.buffer.write(b"caf\\xe9\\n")
            sys.stderr.flush()
            os._exit(3) if os.environ.get("MODEL_DIES") else None
            return torch.nn.Identity(), torch.rand
    """
    assert benched(tmp_path, body, "--no-record") == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODEL_DIES", "1")
        assert benched(tmp_path, body, "--no-record") == 3
    assert "caf\N{REPLACEMENT CHARACTER}" in capsys.readouterr().err


def test_a_table_that_takes_no_row_is_refused_before_anything_is_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("traceview.cli.benching.need_torch", lambda: None)
    monkeypatch.setattr("traceview.cli.benching.bench", lambda *_: pytest.fail("timed"))
    (tmp_path / "file").write_text("no table", encoding="utf-8")
    shape = ["bench", "m:f", "--shape", "1,8", "--runs"]
    assert run([*shape, str(tmp_path / "file")]) == 3
    assert run([*shape, str(tmp_path / "file" / "runs.sqlite")]) == 5
    assert run([*shape, str(tmp_path)]) == 3
    assert capsys.readouterr().err.count("name another file with --runs") == 3


def test_a_later_process_that_fails_loses_nothing_of_those_before(
    played: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = {
        **played[1],
        "points": [{"shape": p["shape"], "failed": "no luck"} for p in played[1]["points"]],
    }
    outcomes: list[Any] = [
        played[0], InputError("m.py:heat: the process that times it failed (ended by SIGKILL)"), failing, {"broken": {"failed": "E"}},
    ]  # fmt: skip

    def next_one(*_: object, **__: object) -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(processes, "timed_afresh", next_one)
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20, repeat=4), str)
    assert outcomes == []
    works, fails = found.timed
    assert works.samples == ((100_000,) * 20,)
    assert works.doubts[0] == "timed by 1 process of 4; the process that times it failed (ended by SIGKILL)"
    assert fails.failed == "out of memory"


def test_a_shape_that_one_process_could_not_time_has_the_timings_of_the_other(played: list[Any]) -> None:
    played[1]["points"][0] = {"shape": [4, 8], "failed": "out of memory"}
    played[1]["points"][1] = answer([4096, 8], [7] * 20)
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20), str)
    assert [t.samples for t in found.timed] == [((100_000,) * 20,), ((7,) * 20,)]
    assert [t.doubts[0] for t in found.timed] == ["timed by 1 process of 2; out of memory"] * 2
    assert [t.spread and t.spread.between for t in found.timed] == [None, None]


def test_a_first_process_that_can_time_nothing_ends_the_bench(
    played: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[None] = []
    broken = {"broken": {"failed": "no weights"}}
    monkeypatch.setattr(processes, "timed_afresh", lambda *_, **__: calls.append(None) or broken)
    with pytest.raises(InputError, match=r"m\.py:heat: no weights"):
        bench(Wishes("m.py:heat", ((4, 8),)), str)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os.write(2, b'USDT noise\\n'); os.kill(os.getpid(), 11)", "failed (ended by SIGSEGV)"),
        ("os.write(2, b'no disk\\n'); os._exit(3)", "failed (exit status 3: no disk)"),
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise type('Boom', (BaseException,), {})('x')", "Boom: x"),
    ],
)
def test_how_a_process_ended_is_said(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    assert benched(tmp_path, f"def factory():\n    {body}", "--no-record") == 3
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_a_shape_at_which_a_model_ends_the_program_loses_no_other(torch: Any, tmp_path: Path) -> None:
    body = "def factory():\n    return (lambda x: sys.exit(5) if x.shape[0] == 2 else x), torch.rand"
    wishes = Wishes(target_file(tmp_path, body), ((1, 8), (2, 8), (3, 8)), warmup=0, iters=2, repeat=1)
    assert [t.failed for t in bench(wishes, str).timed] == ["", "SystemExit: 5", ""]


def test_frames_of_torchs_own_code_are_no_part_of_a_reason(torch: Any) -> None:
    error = RuntimeError(
        "too large\nException raised from unpack at /__w/x.h:79 (most recent call first):\nframe #0: c10"
    )
    assert worker._reason(error) == "RuntimeError: too large"


def test_a_process_that_a_target_leaves_behind_is_not_waited_for(torch: Any, tmp_path: Path) -> None:
    body = """
        import time
        def factory():
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            return (lambda x: x), torch.rand
    """
    wishes = Wishes(target_file(tmp_path, body), ((1, 8),), warmup=0, iters=2, repeat=1)
    begun = time.monotonic()
    assert bench(wishes, str).timed[0].spread is not None
    assert time.monotonic() - begun < 40


def test_a_target_that_reads_its_input_finds_none(torch: Any, tmp_path: Path) -> None:
    body = "def factory():\n    assert sys.stdin.read() == ''\n    return (lambda x: x), torch.rand"
    wishes = Wishes(target_file(tmp_path, body), ((1, 8),), warmup=0, iters=2, repeat=1)
    assert bench(wishes, str).timed[0].spread is not None


@pytest.fixture
def replayed(played: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the words of a bench that two played processes answer."""
    monkeypatch.setattr("traceview.cli.benching.need_torch", lambda: None)
    table = ["--runs", str(tmp_path / "r.sqlite")]
    return ["bench", "/home/jane/m.py:heat", "--shape", "4,8", "--shape", "4096,8", "--iters", "20", *table]


@pytest.mark.parametrize("form", ["text", "json"])
def test_rows_are_kept_before_anything_is_printed(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("traceview.cli.benching._print", gone)
    assert run([*replayed, "--format", form]) != 0
    assert len(Runs(tmp_path / "r.sqlite").rows()) == 2


def test_what_was_measured_is_printed_where_no_row_can_be_kept(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OutputError("r.sqlite: cannot be written (database or disk is full)")

    monkeypatch.setattr(Runs, "add", full)
    assert run(replayed) == 5
    out, err = capsys.readouterr()
    assert "4x8" in out
    assert err.splitlines()[-1].startswith(
        "traceview: r.sqlite: cannot be written (database or disk is full)"
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_folder_of_a_target_is_printed_or_kept(
    replayed: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    assert run([*replayed, "--format", form]) == 0
    out = capsys.readouterr().out
    assert "m.py:heat" in out
    assert run(["runs", "--runs", str(tmp_path / "r.sqlite"), "export", "--format", "json"]) == 0
    assert "jane" not in out + capsys.readouterr().out
    assert b"jane" not in (tmp_path / "r.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("option", "status"),
    [
        (["--runs", ""], 2), (["--profile", ""], 2), (["--profile", "file"], 5), (["--profile", "file/traces"], 5),
        (["--profile", "a" * 300], 5), (["--runs", "a" * 300], 5),
    ],
)  # fmt: skip
def test_where_nothing_can_be_kept_is_said_before_timing(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: list[str], status: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr("traceview.cli.benching.bench", lambda *_: pytest.fail("timed"))
    assert run([*replayed, *option]) == status


def test_a_folder_for_traces_that_may_not_be_written_is_said_before_timing(
    replayed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.cli.benching.bench", lambda *_: pytest.fail("timed"))
    monkeypatch.setattr("traceview.cli.benching.os.access", lambda *_: False)
    assert run([*replayed, "--profile", str(tmp_path / "new")]) == 5
    assert "traces cannot be written there (not writable)" in capsys.readouterr().err
