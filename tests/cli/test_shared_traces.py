"""The shared cases and real traces, where they are at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from traceview.cli import run

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared input is not here")


def runner(tool: str, *arguments: str) -> str:
    words = [sys.executable, str(SHARED / "tools" / tool), *arguments]
    env = {**os.environ, "TRACEVIEW": f"{sys.executable} -m traceview", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    return done.stdout


def test_every_case_of_one_trace_holds() -> None:
    failed = [line for line in runner("run_cases.py").splitlines() if line.startswith("FAIL")]
    assert [line for line in failed if "diff" not in line] == []


@pytest.mark.slow
def test_every_real_trace_has_the_facts_of_its_reference() -> None:
    assert runner("run_reference.py").splitlines()[-1] == "21 passed, 0 failed"


def odd_files() -> list[Path]:
    return [p for p in sorted((SHARED / "traces_broken").rglob("*")) if p.is_file()]


@pytest.mark.parametrize("path", odd_files(), ids=lambda p: p.name)
def test_an_odd_file_is_answered_or_refused_in_one_line(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["summary", str(path), "--format", "json"])
    shown = capsys.readouterr()
    assert status in (0, 3)
    assert shown.err.count("\n") == (status == 3)
    assert bool(shown.out) == (status == 0)
