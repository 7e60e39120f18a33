"""What stands beside a trace is read by a white list, whatever it is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.events import Noted
from traceview.sources import read_trace
from traceview.sources.conditions import _SETTINGS, LARGEST, read_conditions

TOLD: dict[str, Any] = {
    "schema": "traceview.capture/1",
    "device": {"name": "NVIDIA H100", "count": 8, "memory_bytes": 80 << 30, "capability": "9.0"},
    "ranks": {"rank": 3, "tp": 1},
    "world_size": 8,
    "profiler": {"record_shapes": True, "with_stack": False, "unknown": True},
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
    return dict(read_conditions(folder / "run-w0.pt.trace.json.gz").texts)


def given(folder: Path, **noted: Any) -> dict[str, str]:
    """Return what is read of what a user noted himself."""
    return beside(folder, json.dumps({"schema": TOLD["schema"], "given": noted}))


def settings(folder: Path, **told: Any) -> dict[str, str]:
    """Return what is read of settings."""
    return beside(folder, json.dumps({"schema": TOLD["schema"], "settings": told}))


def test_known_conditions_become_short_texts(tmp_path: Path) -> None:
    assert beside(tmp_path, json.dumps(TOLD)) == {
        "device": "NVIDIA H100",
        "visible devices": "8",
        "device memory": "80.0 GiB",
        "compute capability": "9.0",
        "versions": "PyTorch 2.13.0, CUDA 13.0",
        "ranks": "rank 3, tp 1",
        "world size": "8",
        "profiler switches": "record_shapes",
        "recorded steps": "10",
        "batch": "8",
        "shapes": "8x3, 8",
        "autocast": "bfloat16",
        "TF32 matmul": "on",
        "seed": "7",
        "SM clock": "1,980 to 1,410 MHz",
        "temperature": "40 to 83 °C",
        "throttling": "power cap",
        "password": "s3cret",
    }


def test_what_a_profiler_may_record_as_well_is_kept_apart(tmp_path: Path) -> None:
    beside(tmp_path, json.dumps(TOLD))
    noted = read_conditions(tmp_path / "run-w0.json")
    assert (noted.device, noted.rank, noted.world_size, noted.sized) == ("NVIDIA H100", 3, 8, True)
    assert noted.versions == {"PyTorch": "2.13.0", "CUDA": "13.0"}
    assert noted.switches == {"record_shapes": True, "with_stack": False}


def test_a_run_without_a_cuda_device_is_not_one_that_does_not_say(tmp_path: Path) -> None:
    told = {"schema": TOLD["schema"], "device": {}, "ranks": {}, "world_size": None}
    texts = beside(tmp_path, json.dumps(told))
    noted = read_conditions(tmp_path / "run-w0.json")
    assert (noted.device, noted.world_size, noted.sized) == ("", None, True)
    assert texts == {"ranks": "none", "world size": "not told"}
    assert beside(tmp_path, json.dumps({"schema": TOLD["schema"]})) == {}
    assert read_conditions(tmp_path / "run-w0.json") == Noted()


def test_flops_bring_shapes_with_them_as_torch_records_them(tmp_path: Path) -> None:
    told = {"schema": TOLD["schema"], "profiler": {"record_shapes": False, "with_flops": True}}
    assert beside(tmp_path, json.dumps(told))["profiler switches"] == "record_shapes, with_flops"


def test_a_null_of_autocast_is_off_and_of_another_setting_not_told(tmp_path: Path) -> None:
    assert settings(tmp_path, autocast=None, tf32_matmul=None, grad=False) == {
        "autocast": "off", "TF32 matmul": "not told", "gradients": "off",
    }  # fmt: skip
    assert "autocast" not in settings(tmp_path, grad=False)


@pytest.mark.parametrize(
    ("seed", "text"),
    [(0, "0"), (2**32 - 1, "4294967295"), (2**32, "4294967296 (not set by hand)"), ("x", "x")],
    ids=str,
)
def test_a_seed_beyond_32_bits_is_one_that_torch_drew(seed: Any, text: str, tmp_path: Path) -> None:
    assert settings(tmp_path, seed=seed) == {"seed": text}


def test_all_that_capture_notes_of_settings_is_read() -> None:
    pytest.importorskip("torch")
    from traceview.capture.conditions import settings as noted

    assert set(noted()) == set(_SETTINGS)


def test_what_the_user_noted_himself_is_read_whatever_its_kind(tmp_path: Path) -> None:
    assert given(tmp_path, lr=0.1, workers=4, compiled=True, mode=None, note="", sizes=[], grid=[[1, 2], 3]) == {
        "lr": "0.1", "workers": "4", "compiled": "on", "mode": "none", "note": "(empty)", "sizes": "none",
        "grid": "1x2, 3",
    }  # fmt: skip


def test_a_name_of_ours_is_never_taken_by_one_of_the_user(tmp_path: Path) -> None:
    told = {**TOLD, "given": {"device": "mine", "SM clock": 1, "throttling": "none seen", "autocast": "off"}}
    texts = beside(tmp_path, json.dumps(told))
    assert (texts["device"], texts["device (given)"]) == ("NVIDIA H100", "mine")
    assert (texts["SM clock"], texts["SM clock (given)"]) == ("1,980 to 1,410 MHz", "1")
    assert (texts["throttling"], texts["autocast (given)"]) == ("power cap", "off")


def test_names_that_are_cleaned_alike_stay_two(tmp_path: Path) -> None:
    assert given(tmp_path, **{"a\u202e": 1, "a\\u202e": 2, " ": 3}) == {
        "a\\u202e": "1", "a\\u202e'": "2", "(no name)": "3",
    }  # fmt: skip


def test_hostile_names_and_texts_are_made_fit_to_show(tmp_path: Path) -> None:
    found = given(tmp_path, **{"/home/s3cret/k": "/home/s3cret/x\n\x1b[31m", "\ud800": "\ud800"})
    assert found == {"~/k": "~/x\\u000a\\u001b[31m", "\\ud800": "\\ud800"}


def test_long_texts_are_cut_and_stay_apart(tmp_path: Path) -> None:
    left, right = (given(tmp_path, note="x" * 5_000 + end)["note"] for end in "ab")
    assert (len(left), len(right), left[:106]) == (120, 120, "x" * 106)
    assert left != right
    (name,) = given(tmp_path, **{"n" * 5_000: 1})
    assert len(name) == 40
    left, right = (given(tmp_path, shapes=[[8, i] for i in range(100)] + [end])["shapes"] for end in (1, 2))
    assert left != right


def test_of_very_many_conditions_the_first_are_kept_and_the_rest_still_told_apart(tmp_path: Path) -> None:
    first, second = (given(tmp_path, **{f"k{i}": i for i in range(99)}, last=last) for last in (1, 2))
    assert list(first)[31:] == ["k31", "further conditions"]
    assert first["further conditions"].startswith("68 #")
    assert first["further conditions"] != second["further conditions"]


@pytest.mark.parametrize(
    ("metadata", "told", "what"),
    [
        ({"deviceProperties": [{"id": 0, "name": "GPU A"}]}, {"device": {"name": "GPU B"}}, "device GPU B, the trace GPU A"),
        ({"with_stack": 1}, {"profiler": {"with_stack": False}}, "with_stack off, the trace on"),
        ({"distributedInfo": {"rank": 1, "world_size": 8}}, {"ranks": {"rank": 0}}, "rank 0, the trace 1"),
        ({"distributedInfo": {"rank": 1, "world_size": 8}}, {"world_size": 4}, "world size 4, the trace 8"),
        ({"pytorch_version": "2.9.0"}, {"versions": {"PyTorch": "2.13.0+cu130"}}, "PyTorch 2.13.0, the trace 2.9.0"),
        ({"cuda_runtime_version": 12080}, {"versions": {"CUDA": "13.0"}}, "CUDA 13.0, the trace 12.8"),
    ],
    ids=["device", "switch", "rank", "world size", "PyTorch", "CUDA"],
)  # fmt: skip
def test_a_sidecar_that_contradicts_its_trace_is_warned_of(
    metadata: dict[str, Any], told: dict[str, Any], what: str, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_bytes(making.text(making.note("step", 0, 10), **metadata))
    (tmp_path / "run.capture.json").write_text(json.dumps({"schema": TOLD["schema"], **told}))
    (found,) = [n for n in read_trace(tmp_path / "run.json").notices if n.code == "conditions_contradict"]
    assert (found.level, found.count) == ("warning", 1)
    assert what in found.message


def test_a_sidecar_that_agrees_with_its_trace_brings_no_warning(tmp_path: Path) -> None:
    metadata = {
        "deviceProperties": [{"id": 0, "name": "GPU A"}, {"id": 1, "name": "GPU B"}], "record_shapes": 1,
        "cuda_runtime_version": 12080, "distributedInfo": {"rank": 1, "world_size": 8}, "pytorch_version": "2.9.0",
    }  # fmt: skip
    told = {
        "device": {"name": "GPU B"}, "versions": {"PyTorch": "2.9.0+cu128", "CUDA": "12.4", "driver": "550.1"},
        "profiler": {"record_shapes": True, "with_stack": False}, "ranks": {"rank": 1, "tp": 0}, "world_size": 8,
    }  # fmt: skip
    (tmp_path / "run.json").write_bytes(making.text(making.note("step", 0, 10), **metadata))
    (tmp_path / "run.capture.json").write_text(json.dumps({"schema": TOLD["schema"], **told}))
    codes = {n.code for n in read_trace(tmp_path / "run.json").notices}
    assert "conditions_contradict" not in codes


def test_a_seed_that_was_given_stands_for_the_one_of_torch(tmp_path: Path) -> None:
    told = {**TOLD, "given": {"seed": 3}, "settings": {"seed": 7}}
    found = beside(tmp_path, json.dumps(told))
    assert (found["seed"], found["torch seed"]) == ("3", "7")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": "other/1"}', b"\xff\xfe", "[" * 100_000, " " * LARGEST + "{}"],
    ids=["empty", "cut", "list", "null", "other", "bytes", "deep", "large"],
)
def test_a_sidecar_of_another_kind_says_nothing(text: str | bytes, tmp_path: Path) -> None:
    assert beside(tmp_path, text) == {}


@pytest.mark.parametrize(
    "key", ["device", "versions", "window", "given", "settings", "state", "profiler", "ranks"]
)
@pytest.mark.parametrize(
    "value", [None, 3, "text", [1, [2, [3]]], {"name": {"a": 1}, "end": [1], "start": "x"}]
)
def test_values_of_another_kind_say_nothing(key: str, value: Any, tmp_path: Path) -> None:
    found = beside(tmp_path, json.dumps({**TOLD, key: value}))
    assert all(len(text) <= 120 for text in found.values())


def test_a_folder_in_its_place_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.capture.json").mkdir()
    assert read_conditions(tmp_path / "run.json") == Noted()


def test_standard_input_has_nothing_beside_it() -> None:
    assert read_conditions("-") == Noted()


def test_a_trace_brings_the_conditions_beside_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps([making.note("step", 0, 10)]), encoding="utf-8")
    assert read_trace(tmp_path / "run.json").meta.conditions == {}
    (tmp_path / "run.capture.json").write_text(json.dumps(TOLD), encoding="utf-8")
    assert read_trace(tmp_path / "run.json").meta.conditions["batch"] == "8"


def test_a_pipe_in_place_of_a_sidecar_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.capture.json")
    assert read_conditions(tmp_path / "run.json") == Noted()
