"""How much of the timeline is exact can be asked for on the command line, within bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyses import making
from traceview.cli import run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    path.write_bytes(making.text(*(making.kernel(f"k{i % 7}", 10 * i, 5 + i % 3) for i in range(3_000))))
    return path


def items(page: Path) -> int:
    data = page.read_text(encoding="utf-8").split('id="tv-data">')[1].split("</script>")[0]
    return int(json.loads(data)["timeline"]["layout"]["items"])


def test_a_smaller_budget_merges_slices_and_a_larger_one_says_what_it_may_cost(trace: Path) -> None:
    page = trace.with_suffix(".html")
    assert run(["report", str(trace), "-o", str(page), "--timeline-budget", "1000"]) == 0
    assert items(page) <= 1_000
    assert "A larger timeline budget" not in page.read_text(encoding="utf-8")
    assert run(["report", str(trace), "-o", str(page), "--force", "--timeline-budget", "200000"]) == 0
    assert items(page) == 3_000
    assert "A larger timeline budget was asked for" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("budget", ["999", "5000001", "all"])
def test_a_budget_beyond_bounds_is_wrong_usage(
    trace: Path, budget: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(trace), "--timeline-budget", budget]) == 2
    assert "--timeline-budget" in capsys.readouterr().err
    assert not list(trace.parent.glob("*.html"))
