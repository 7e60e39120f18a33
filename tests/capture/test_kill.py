"""A job that is killed while it records leaves whole files under their names, and hidden parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT
from traceview.cli import run
from traceview.sources.choose import choose_trace, is_whole_trace

KILLS = 10
# imports torch once, then forks jobs that write window after window, and kills each at another moment
JOBS = """
import os, random, signal, sys, time
import torch, torch._inductor
from traceview.capture import record

torch.set_num_threads(1)
moments = random.Random(7)
for job in range(int(sys.argv[2])):
    folder = os.path.join(sys.argv[1], str(job))
    os.mkdir(folder)
    child = os.fork()
    if not child:
        with record("job", folder, wait=0, warmup=1, active=2, repeat=0, quiet=True) as steps:
            signal.alarm(120)  # it ends in any case
            while True:
                for _ in range(3000):
                    torch.ones(4).add(1)
                steps.step()
    end = time.monotonic() + 60
    while not any(n.startswith(".") for n in os.listdir(folder)) and time.monotonic() < end:
        time.sleep(0.001)  # until the first part is being written
    time.sleep(moments.uniform(0, 0.6))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killing_a_job_at_ten_random_moments_leaves_nothing_half_written_under_a_name(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-W", "ignore", "-c", JOBS, str(tmp_path), str(KILLS)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == KILLS
    named, parts = [], []
    for folder in folders:
        for path in folder.iterdir():
            (parts if path.name.startswith(".") else named).append(path)
    assert parts  # some kill came in the middle of writing, or this shows nothing
    for path in named:
        if path.name.endswith(".capture.json"):
            assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "traceview.capture/1"
        else:
            assert is_whole_trace(path), path
    for path in (*parts, *named):
        read_or_refused(path, tmp_path / "page.html", capsys)
    for folder in folders:
        if any(p.name.endswith(".gz") for p in folder.iterdir()):
            assert not choose_trace(folder).path.name.startswith(".")


def read_or_refused(path: Path, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Let `report` have a file: it writes a page, or says in one line why not."""
    status = run(["report", str(path), "-o", str(page), "--force", "--quiet"])
    said = capsys.readouterr()
    assert status in (0, 3)
    if status == 3:
        assert said.err.count("\n") == 1
        assert "[unreadable-input]" in said.err
        assert path.name.startswith(".") or path.name.endswith(".capture.json")
