"""What capture and bench must show on a GPU: `python tests/perf/gpu.py [--device cuda] [--keep DIR]`.

Records a training step with copies and a decode loop that replays a CUDA graph, and asks of both traces whether 99 % of
the launches have device records; times three models with the bench's own code and with torch.utils.benchmark, which must
agree within 3 %. The exit status is 1 when one is missed. With --device cpu only the timings are compared, within 10 %:
nothing here has been run on a GPU yet. --keep keeps the traces, in pairs that `traceview diff` can compare.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

AGREE = {"cuda": 0.03, "cpu": 0.10}  # share by which the two timings may differ
LEAST_COVERAGE = 0.99
ROUNDS = 9  # each of both by turns
SEED = 0


def models() -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Return three models with the shapes of their inputs."""
    from torch import nn

    heat = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.GELU(),
        nn.Conv2d(16, 16, 3, padding=1),
        nn.GELU(),
        nn.Conv2d(16, 1, 1),
    )
    dense = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024))
    layer = nn.TransformerEncoderLayer(256, 8, batch_first=True)
    return {
        "heat": (heat, (4, 1, 256, 256)),
        "dense": (dense, (64, 1024)),
        "transformer": (layer, (8, 128, 256)),
    }


def timings(device: str) -> list[str]:
    """Compare amortised times of the bench with those of torch.utils.benchmark; return what is missed.

    Both take turns, and what counts is the median over rounds of how far they are apart within one: what else the
    machine does hits both.
    """
    import torch
    from torch.utils.benchmark import Timer

    from traceview.capture.bench.target import Loaded, inputs
    from traceview.capture.bench.timing import Point, time_point

    missed = []
    for name, (model, shape) in models().items():
        torch.manual_seed(SEED)
        loaded = Loaded(model.to(device).eval(), torch.rand)
        point = Point(shape, device, "fp32", 5, 200 if device.startswith("cuda") else 20, SEED)
        known = {"model": loaded.model, "given": inputs(loaded, shape, device, "fp32", SEED)}
        timer = Timer("model(given)", globals=known, num_threads=torch.get_num_threads())
        ours, theirs = [], []
        with torch.inference_mode():
            for _ in range(ROUNDS):
                ours.append(time_point(loaded, point)["stretch_ns"] / point.iters)
                theirs.append(timer.timeit(point.iters).median * 1e9)
        own, other = median(ours), median(theirs)
        apart = abs(median(a / b for a, b in zip(ours, theirs, strict=True)) - 1)
        print(
            f"{name}: bench {own / 1e3:.1f} us, torch.utils.benchmark {other / 1e3:.1f} us, {apart:.1%} apart"
        )
        if apart > AGREE[device.partition(":")[0]]:
            missed.append(f"{name}: {apart:.1%} apart")
    return missed


def training(device: str, folder: Path) -> list[Path]:
    """Record a training step whose batch is copied from pinned memory."""
    import torch

    from traceview.capture import record

    torch.manual_seed(SEED)
    model, shape = models()["heat"]
    model = model.to(device)
    best = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.rand(shape).pin_memory()
    with record("training", folder, active=8, shapes=True, conditions={"batch": shape[0]}) as steps:
        for _ in range(15):
            moved = batch.to(device, non_blocking=True)
            best.zero_grad()
            (model(moved) - moved).square().mean().backward()
            best.step()
            steps.step()
    return steps.files


def decoding(device: str, folder: Path) -> list[Path]:
    """Record a decode loop that replays a CUDA graph."""
    import torch

    from traceview.capture import record

    torch.manual_seed(SEED)
    model, shape = models()["dense"]
    model = model.to(device).eval()
    state = torch.rand(shape, device=device)
    with torch.inference_mode():
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                model(state)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = model(state)
            state.copy_(out)
        with record("decode", folder, active=8, conditions={"batch": shape[0]}) as steps:
            for _ in range(15):
                graph.replay()
                torch.cuda.synchronize()
                steps.step()
    return steps.files


def coverage(record_one: Callable[[str, Path], list[Path]], device: str, folder: Path) -> list[str]:
    """Record twice, for a pair to compare, and say how many launches have device records."""
    from traceview.capture.verification import check, summary

    missed = []
    for _ in range(2):
        for path in record_one(device, folder):
            checked = check(path)
            print(f"{path.name}: {summary(checked)}")
            if not checked.kernels or checked.covered < LEAST_COVERAGE * checked.launches or checked.lacking:
                missed.append(f"{path.name}: {summary(checked)}")
    return missed


def main() -> int:
    """Run what the device allows; 1 where something is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    from traceview.capture.bench import devices

    devices.use(asked.device)
    missed = timings(asked.device)
    if asked.device.startswith("cuda"):
        with tempfile.TemporaryDirectory() as scratch:
            folder = asked.keep or Path(scratch)
            missed += coverage(training, asked.device, folder) + coverage(decoding, asked.device, folder)
    print("\n".join(f"MISSED {m}" for m in missed) or "all held")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
