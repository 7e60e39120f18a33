"""Rows of kernel, operator and shapes, as a saved run keeps them."""

from __future__ import annotations

import numpy as np

from tests.analyses.making import kernel, launch, op, read
from traceview.analyses.kernel_rows import step_rows
from traceview.analyses.rules import load_rules
from traceview.analyses.workspace import Workspace
from traceview.events import Trace


def rows(trace: Trace) -> list[tuple[str, str, int]]:
    found = step_rows(Workspace(trace, load_rules()), np.empty(0, np.int64), 10).rows
    return list(zip(found.kernel.tolist(), found.op.tolist(), found.sum.tolist(), strict=True))


def test_a_trace_without_host_slices_has_rows_without_operator() -> None:
    assert rows(read(kernel("k", 10, 5))) == [("k", "", 5_000)]


def test_a_kernel_is_kept_apart_by_the_operator_that_launched_it() -> None:
    events = [op("a", 0, 10), launch(2, 2, 1), kernel("k", 20, 3, 1), launch(40, 2, 2), kernel("k", 50, 4, 2)]
    assert rows(read(*events)) == [("k", "", 4_000), ("k", "a", 3_000)]
