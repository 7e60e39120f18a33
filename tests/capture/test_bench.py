"""Bench: ladders, targets, what is timed and what is said of the samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analyses import making
from traceview.capture.bench import collect, judge, target, timing
from traceview.capture.bench.collect import Wishes, bench, ladder, parse_shape, rows
from traceview.capture.bench.texts import bench_document, bench_text
from traceview.capture.bench.timing import Point
from traceview.capture.runs import Runs
from traceview.cli import run
from traceview.errors import InputError, UsageError

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


@pytest.mark.parametrize("text", ["", "1,,2", "0,3", "-1", "a"])
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


def test_few_samples_and_equal_samples_raise_no_doubt() -> None:
    assert judge.doubts([[1, 9, 1, 9, 1, 9, 1]]) == []
    assert judge.doubts([[5] * 50]) == []


def test_a_doubt_of_several_runs_is_said_once() -> None:
    samples = noise(50)
    samples[0] = 5000
    assert len(judge.doubts([samples.tolist(), samples.tolist()])) == 1


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


def test_inputs_may_be_arguments_or_keywords(torch: Any) -> None:
    def model(a: Any, b: Any) -> Any:
        return a + b

    a = torch.ones(2)
    assert target.call(model, (a, a)).tolist() == [2, 2]
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
    assert (found["copies_in"], found["top_op"]) == (6, "aten::mm")
    assert found["top_share"] == pytest.approx(20 / 32)
    (doubt,) = collect._made_inside(found)
    assert doubt.startswith("6 copies to the device in 6 iterations: inputs or masks are made anew")


def answer(shape: list[int], samples: list[int], **more: Any) -> dict[str, Any]:
    """Return what a process says of a shape."""
    return {
        "shape": shape, "first_ns": 9, "samples_ns": samples, "device_ns": None, "stretch_ns": 4_000_000,
        "peak_bytes": 1000, "state": {"start": {}, "end": {}}, **more,
    }  # fmt: skip


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let two processes answer: one shape that works, one that is too large."""
    settings = dict.fromkeys(
        ("tf32_matmul", "tf32_cudnn", "cudnn_benchmark", "matmul_precision", "threads"), False
    )
    profile = {"trace": "t.json.gz", "top_op": "aten::conv2d", "top_share": 0.5, "iterations": 6}
    answers = [
        {
            "used": "cuda", "device": {"name": "NVIDIA H100"}, "versions": {"PyTorch": "2.13"}, "settings": settings,
            "points": [
                answer([4, 8], [base] * 20, device_ns=[base - 10] * 20, stretch_ns=base * 40, peak_bytes=base, **more),
                {"shape": [4096, 8], "failed": "out of memory"},
            ],
        }
        for base, more in ((100_000, {}), (110_000, {"profile": profile, "state": {"start": {"throttles": ["power cap"]}, "end": {}}}))
    ]  # fmt: skip
    waiting = list(answers)
    monkeypatch.setattr(collect, "_process", lambda *_, **__: waiting.pop(0))
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
    (row,) = rows(found)
    assert (row.label, row.conditions["shape"], row.conditions["device"]) == ("heat", "4x8", "NVIDIA H100")
    assert row.trace == "t.json.gz"
    assert Runs(tmp_path / "r.sqlite").add([row]) == [1]


def test_a_bench_is_said_with_its_doubts_and_failures(played: list[Any]) -> None:
    found = bench(Wishes("m.py:heat", ((4, 8), (4096, 8)), iters=20), str)
    lines = bench_text(found).splitlines()
    assert lines[0] == "m.py:heat, fp32, NVIDIA H100: 20 iterations in each of 2 processes"
    assert lines[2].split()[:3] == ["4x8", "105", "µs"]
    assert lines[2].endswith("aten::conv2d 50.0 %")
    assert lines[3].split(maxsplit=1) == ["4096x8", "out of memory"]
    assert lines[-1] == "! 4x8: the device was throttled: power cap"
    document = json.loads(json.dumps(bench_document(found)))
    assert document["points"][0]["median_ns"] == 105_000
    assert document["points"][1]["failed"] == "out of memory"


def test_a_process_that_dies_is_one_line(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(9)\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"the process that times it failed \(exit status 9\)"):
        bench(Wishes(f"{tmp_path / 'dies.py'}:factory", ((1, 8),)), str)


def test_a_wrong_command_line_is_refused_before_a_process_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "m:f"]) == 2
    assert run(["bench", "m:f", "--shape", "1,8", "--batch", "0"]) == 2
    assert run(["bench", "m:f", "--shape", "x"]) == 2
    assert "is no shape" in capsys.readouterr().err


def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch, played: list[Any]) -> None:
    monkeypatch.setattr(collect, "os", SimpleNamespace(getloadavg=lambda: (9.0, 1, 1), cpu_count=lambda: 2))
    told: list[str] = []
    bench(Wishes("m.py:heat", ((4, 8), (4096, 8))), told.append)
    assert told[0] == "warning: 9.0 programs want 2 cores: times will be theirs too"
