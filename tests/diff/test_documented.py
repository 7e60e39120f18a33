"""Every key of the JSON of comparisons stands in the README, and no other."""

from __future__ import annotations

import re
from typing import Any

from tests.diff.runs import run, side
from tests.test_docs import section
from traceview.diff.compare import compare
from traceview.diff.document import diff_document
from traceview.diff.gates import judge, parse
from traceview.diff.overview import overview
from traceview.report.overview_view import overview_document


def documented(text: str) -> set[str]:
    rows = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def document() -> dict[str, Any]:
    base = [[("aten::mm", "gemm", 200.0 + i % 3)] for i in range(8)]
    new = [[("aten::mm", "gemm", 260.0 + i % 3), ("aten::add", "add", 20.0)] for i in range(8)]
    diff = compare([side(run(base))], [side(run(new))])
    return diff_document(diff, judge([parse("gpu_busy>5%")], diff))


def test_each_key_of_a_comparison_is_documented() -> None:
    text, found = section("Comparisons"), document()
    diff, facts, several = re.split(r"^\| key of `facts`.*$|^`traceview compare.*$", text, flags=re.MULTILINE)
    assert documented(diff) == found.keys()
    assert documented(facts) == found["facts"].keys()
    words = set(re.findall(r"`([^`]+)`", diff))
    nested: list[dict[str, Any]] = [
        found["base"], found["comparability"], found["comparability"]["conditions"][0], found["statements"][0], found["gates"][0],
        found["parts"][0], found["calls"][0], found["rows"][0], found["rows"][0]["judgement"], found["rows"][0]["kernels"][0],
    ]  # fmt: skip
    assert {key for part in nested for key in part} <= words
    assert found["headlines"].keys() - words <= {
        "step_time",
        "gpu_busy",
        "gpu_idle",
        "kernel_time",
        "exposed_comm",
        "exposed_copy",
        "launches",
        "syncs",
        "launch_cpu",
    }
    runs = overview_document(overview([side(run([[("aten::mm", "gemm", us)]] * 6)) for us in (10.0, 20.0)]))
    assert documented(several) == runs.keys()
    words = set(re.findall(r"`([^`]+)`", several))
    assert {key for part in (runs["runs"][0], runs["operators"][0]) for key in part} <= words


def test_the_metrics_of_gates_and_the_tables_are_told() -> None:
    from traceview.diff.gates import METRICS
    from traceview.report.diff_csv import TABLES

    text = re.sub(r"```.*?```", "", section("Compare two runs"), flags=re.DOTALL)
    words = set(re.findall(r"`([^`]+)`", text))
    assert set(METRICS) <= words
    assert set(TABLES) - {"work"} <= words
