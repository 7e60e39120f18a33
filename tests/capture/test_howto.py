"""README's way from a model to a comparison, typed as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import ROOT
from traceview.capture.runs import Runs
from traceview.sources import read_trace

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are for a shell")
def test_the_way_from_bench_to_comparison_works_as_it_is_written(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "heat.py").write_text(block("python heat"), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHON": sys.executable}
    typed = 'set -e\ntraceview() { echo "$ traceview $*"; "$PYTHON" -m traceview "$@"; }\n' + block("console")
    done = subprocess.run(
        ["bash", "-c", typed], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    said = dict(
        re.findall(
            r"^\$ traceview (\w+(?: compare)?).*?\n(.*?)(?=^\$ |\Z)", done.stdout, re.MULTILINE | re.DOTALL
        )
    )
    grids = [f"1x1x{n}x{n}" for n in (128, 256, 512)]
    assert [line.split()[0] for line in said["bench"].splitlines()[2:5]] == grids
    assert (tmp_path / "heat.html").stat().st_size > 100_000
    assert "Not comparable: both sides have no kernels" in said["diff"]
    assert "precision: fp32 | bf16" in said["runs compare"]
    assert "95 % interval" in said["runs compare"]
    kept = Runs(tmp_path / ".traceview" / "runs.sqlite").rows()
    assert [(r.conditions["shape"], r.conditions["precision"]) for r in reversed(kept)] == [
        (grid, precision) for precision in ("fp32", "bf16") for grid in grids
    ]
    assert [[len(s) for s in r.samples] for r in kept] == [[50, 50]] * 6
    for run in kept:
        noted = read_trace(tmp_path / "traces" / run.trace).meta.conditions
        assert noted["shapes"] == run.conditions["shape"]
        assert noted["precision"] == run.conditions["precision"]
