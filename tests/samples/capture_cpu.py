"""Capture the CPU sample with real torch: a small convolutional net, trained for four steps on random images.

    python -m venv /tmp/torch && /tmp/torch/bin/pip install "torch>=2.4" numpy
    /tmp/torch/bin/python tests/samples/capture_cpu.py sample_traces/demo/cpu-training-torch.json.gz

The trace is what torch.profiler wrote, less what names a machine or a person: the host's name, the path of the
temporary file, and the folders in front of Python files. Each is replaced, no event is left out or changed in time.
"""

from __future__ import annotations

import getpass
import gzip
import json
import re
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

SEED, BATCH, SIZE, STEPS = 7, 16, 32, 4


def net() -> nn.Module:
    """Return three convolutions and a linear layer."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def capture(path: Path) -> None:
    """Train and profile: two steps wait, one warms up, four are recorded."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    images = torch.randn(BATCH * 8, 3, SIZE, SIZE)
    labels = torch.randint(0, 10, (BATCH * 8,))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=BATCH)
    plan = schedule(wait=2, warmup=1, active=STEPS)
    with profile(
        activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=True, profile_memory=True
    ) as p:
        for image, label in loader:
            with record_function("forward"):
                loss = nn.functional.cross_entropy(model(image), label)
            with record_function("backward"):
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            p.step()
            if p.step_num == 2 + 1 + STEPS:
                break
    p.export_chrome_trace(str(path))


def anonymous(text: str) -> str:
    """Return the trace without the names of host, user and folders."""
    document: dict[str, Any] = json.loads(text)
    document.pop("host_name", None)
    document["traceName"] = "cpu-training-torch.json"
    text = json.dumps(document, separators=(",", ":"))
    text = re.sub(r'(?<=")(?:/[^/"\s]+)+/(?=[^/"\s]+\.py)', "", text)
    for private in {socket.gethostname(), getpass.getuser(), str(Path.home()), tempfile.gettempdir()}:
        if re.search(rf"(?<![\w.]){re.escape(private)}(?![\w.])", text):
            raise SystemExit(f"the trace still names {private!r}")
    return text.replace('},{"ph"', '},\n{"ph"')


def main() -> None:
    """Write the sample."""
    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "trace.json"
        capture(raw)
        text = anonymous(raw.read_text(encoding="utf-8"))
    with out.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())
    print(f"wrote {out} ({out.stat().st_size / 1000:.0f} kB), torch {torch.__version__}")


if __name__ == "__main__":
    main()
