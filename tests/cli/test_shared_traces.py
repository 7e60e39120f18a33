"""The shared odd traces, where they are at hand. The cases and references are run by .ci/run with their own tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview.cli import run

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared input is not here")


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
