"""The public verbs, as a notebook uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

import traceview

SAMPLE = Path(__file__).resolve().parents[1] / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"


def test_the_verbs_follow_each_other_from_a_file_to_a_page() -> None:
    trace = traceview.read_trace(SAMPLE)
    analysis = traceview.analyze(trace)
    page = traceview.render_html(traceview.build_report(analysis))
    assert page.startswith("<!doctype html>")
    assert "<table" in trace._repr_html_()
    assert "<table" in analysis.kernels._repr_html_()


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(traceview, name) is not None for name in traceview.__all__)
    assert set(traceview.__all__) <= set(dir(traceview))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = traceview.nothing
