"""Steps that a user chose among any slices of the host."""

from __future__ import annotations

import pytest

from tests.analyses.making import frame, kernel, launch, note, op, read
from traceview.analyses import analyze
from traceview.analyses.selection import Choice


@pytest.mark.parametrize("pattern", ["train", "aten::mm", "note", ".*"])
def test_any_slice_may_mark_a_step_and_keeps_its_name(pattern: str) -> None:
    events = []
    for i in range(3):
        at = 100 * i
        events += [frame("train.py(3): step", at, 90), note("note", at + 1, 80), op("aten::mm", at + 5, 20)]
        events += [launch(at + 10, 2, i), kernel("mm", at + 30, 20, i)]
    analysis = analyze(read(*events), None, Choice(name=pattern))
    assert analysis.selected is not None
    assert "ProfilerStep*" not in analysis.selected.operators.name.tolist()
    assert "ProfilerStep*" not in analysis.operators.name.tolist()
