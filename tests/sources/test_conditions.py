"""What stands beside a trace is read by a white list, whatever it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.sources import read_trace
from traceview.sources.conditions import LARGEST, read_conditions

TOLD: dict[str, Any] = {
    "schema": "traceview.capture/1",
    "device": {"name": "NVIDIA H100", "count": 8},
    "versions": {"PyTorch": "2.13.0", "CUDA": "13.0"},
    "window": {"recorded": 10},
    "given": {"batch": 8, "shapes": [[8, 3], [8]], "password": "s3cret"},
    "settings": {"autocast": "bfloat16", "tf32_matmul": True, "seed": 7, "unknown": 1},
    "state": {
        "start": {"sm_mhz": 1980, "temperature_c": 40, "throttles": []},
        "end": {"sm_mhz": 1410, "temperature_c": 83, "throttles": ["power cap"]},
    },
}


def beside(folder: Path, text: str | bytes) -> dict[str, str]:
    """Return what is read beside a trace."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "run-w0.capture.json").write_bytes(data)
    return read_conditions(folder / "run-w0.pt.trace.json.gz")


def test_known_conditions_become_short_texts(tmp_path: Path) -> None:
    assert beside(tmp_path, json.dumps(TOLD)) == {
        "device": "NVIDIA H100",
        "versions": "PyTorch 2.13.0, CUDA 13.0",
        "recorded steps": "10",
        "batch": "8",
        "shapes": "8x3, 8",
        "autocast": "bfloat16",
        "TF32 matmul": "on",
        "seed": "7",
        "SM clock": "1,980 to 1,410 MHz",
        "temperature": "40 to 83 °C",
        "throttling": "power cap",
    }


def test_a_seed_that_was_given_stands_for_the_one_of_torch(tmp_path: Path) -> None:
    told = {**TOLD, "given": {"seed": 3}, "settings": {"seed": 7}}
    assert beside(tmp_path, json.dumps(told))["seed"] == "3"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": "other/1"}', b"\xff\xfe", "[" * 100_000, " " * LARGEST + "{}"],
    ids=["empty", "cut", "list", "null", "other", "bytes", "deep", "large"],
)
def test_a_sidecar_of_another_kind_says_nothing(text: str | bytes, tmp_path: Path) -> None:
    assert beside(tmp_path, text) == {}


@pytest.mark.parametrize("key", ["device", "versions", "window", "given", "settings", "state"])
@pytest.mark.parametrize(
    "value", [None, 3, "text", [1, [2, [3]]], {"name": {"a": 1}, "end": [1], "start": "x"}]
)
def test_values_of_another_kind_say_nothing(key: str, value: Any, tmp_path: Path) -> None:
    found = beside(tmp_path, json.dumps({**TOLD, key: value}))
    assert all(isinstance(text, str) and len(text) <= 120 for text in found.values())


def test_a_folder_in_its_place_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.capture.json").mkdir()
    assert read_conditions(tmp_path / "run.json") == {}


def test_standard_input_has_nothing_beside_it() -> None:
    assert read_conditions("-") == {}


def test_a_trace_brings_the_conditions_beside_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps([making.note("step", 0, 10)]), encoding="utf-8")
    assert read_trace(tmp_path / "run.json").meta.conditions == {}
    (tmp_path / "run.capture.json").write_text(json.dumps(TOLD), encoding="utf-8")
    assert read_trace(tmp_path / "run.json").meta.conditions["batch"] == "8"
