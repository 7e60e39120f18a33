from __future__ import annotations

from pathlib import Path

import traceview
from tests.perf import recipe


def test_the_recipe_has_the_totals_it_claims(tmp_path: Path) -> None:
    trace = tmp_path / "recipe.json.gz"
    recipe.write(3, trace)
    facts = traceview.analyze(traceview.read_trace(trace)).facts
    assert facts["kernel_count"] == 300
    assert facts["kernels"] == {"mill_large": [240, 12_000.0], "sift_small": [60, 600.0]}
    assert facts["gpu_busy_us_by_device"] == {"0": 12_000.0}
    assert facts["launch_calls"] == facts["kernels_linked"] == 300
    assert facts["launch_cpu_us"] == 900.0
    assert facts["step_count"] == 3
