"""Every real, damaged or foreign file of the shared input is read or refused in one line.

The files stay outside the repository; where they are not at hand, these tests are skipped.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
FILES = sorted(
    p for folder in ("traces", "traces_broken") for p in (SHARED / folder).rglob("*") if p.is_file()
)
RUNS = [("report", p) for p in FILES]
# tests/cli/test_shared_traces.py summarises those of traces_broken/
RUNS += [("summary", p) for p in FILES if p.is_relative_to(SHARED / "traces")]
SECONDS = 20


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="no shared input beside the checkout")
@pytest.mark.parametrize(
    ("command", "path"), RUNS, ids=[f"{c} {p.relative_to(SHARED).as_posix()}" for c, p in RUNS]
)
def test_a_file_is_read_or_refused_in_one_line(command: str, path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = [sys.executable, "-m", "traceview", command, str(path)]
    begun = time.monotonic()
    done = subprocess.run(
        [*words, "-o", str(page)] if command == "report" else words,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS * 2,
        check=False,
    )
    assert time.monotonic() - begun < SECONDS
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 3:
        assert len(done.stderr.splitlines()) == 1
        assert path.name in done.stderr
        assert not done.stdout
        assert not page.exists()
    elif command == "report":
        assert page.stat().st_size <= 2_500_000
        assert len(done.stderr.splitlines()) <= 1
