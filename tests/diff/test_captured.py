"""Conditions that were noted at capture decide with the others whether runs may be compared."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from tests.diff.runs import run, side
from traceview.cli import run as command
from traceview.diff.captured import _AS_RECORDED, _CLOCKS, _GRAVE, _LIGHT, _MEASURED, noted
from traceview.diff.comparability import CARE, FINE, REFUSED
from traceview.diff.compare import Diff, Options, compare
from traceview.errors import UsageError
from traceview.sources.conditions import TITLES

STEPS = [[("aten::mm", "gemm", 100.0)]] * 10
COOL = {
    "batch": "8",
    "autocast": "bfloat16",
    "seed": "7",
    "SM clock": "1,980 to 1,950 MHz",
    "throttling": "none seen",
}


def diff(base: dict[str, str], new: dict[str, str], *expected: str) -> Diff:
    """Compare equal work done under noted conditions."""
    one = side(run(STEPS))
    sides = [replace(one, conditions={**one.conditions, "captured": noted}) for noted in (base, new)]
    return compare([sides[0]], [sides[1]], Options(expected=list(expected)))


def verdict(new: dict[str, str], *expected: str) -> str:
    """Return the verdict on a run that differs in what is given; without notes it is FINE."""
    found = diff(COOL, {**COOL, **new}, *expected).comparability
    assert any(c.key == f"{k} (noted)" for k in new for c in found.conditions)
    return found.verdict


def without_notes() -> str:
    return diff({}, {}).comparability.verdict


def test_equal_conditions_change_no_verdict() -> None:
    assert diff(COOL, COOL).comparability.verdict == without_notes()


@pytest.mark.parametrize("new", [{"batch": "16"}, {"autocast": "float16"}], ids=str)
def test_other_work_is_not_comparable(new: dict[str, str]) -> None:
    assert verdict(new) == REFUSED


@pytest.mark.parametrize(
    "new", [{"seed": "8"}, {"SM clock": "1,980 to 1,400 MHz"}, {"throttling": "power cap"}], ids=str
)
def test_what_may_change_the_speed_asks_for_care(new: dict[str, str]) -> None:
    assert verdict(new) == CARE


def test_clocks_within_a_twentieth_are_alike() -> None:
    (clock,) = noted({"SM clock": "1,980 to 1,950 MHz"}, {"SM clock": "1,400 to 1,900 MHz"})
    assert (clock.key, clock.alike, clock.weight, clock.sentence) == ("SM clock (noted)", True, FINE, "")


def test_an_expected_precision_is_only_named() -> None:
    found = diff(COOL, {**COOL, "autocast": "float16"}, "precision").comparability
    (condition,) = [c for c in found.conditions if c.key == "autocast (noted)"]
    assert (condition.weight, condition.expected) == (FINE, True)
    assert found.verdict == without_notes()


def test_what_one_side_alone_has_noted_is_named_and_decides_nothing() -> None:
    found = noted({"batch": "8", "throttling": "power cap"}, {"seed": "7"})
    assert {(c.key, c.base, c.new, c.weight, c.sentence) for c in found} == {
        ("batch (noted)", "8", "not noted", FINE, "noted on one side only"),
        ("throttling (noted)", "power cap", "not noted", FINE, "noted on one side only"),
        ("seed (noted)", "not noted", "7", FINE, "noted on one side only"),
    }


def test_a_sidecar_that_one_side_lacks_is_named_once() -> None:
    (found,) = noted(COOL, {})
    assert (found.key, found.base, found.new, found.weight) == (
        "conditions (noted)", "noted", "not noted", FINE,
    )  # fmt: skip
    assert noted({}, {}) == []


@pytest.mark.parametrize(("base", "new"), [("off", "bfloat16"), ("bfloat16", "off")])
def test_autocast_on_against_off_is_other_work(base: str, new: str) -> None:
    (found,) = noted({"autocast": base}, {"autocast": new})
    assert (found.base, found.new, found.weight) == (base, new, REFUSED)
    assert found.sentence == "autocast differs: the runs computed in other kinds of numbers"


@pytest.mark.parametrize(
    ("base", "new", "weight"),
    [
        ("7", "8", CARE),
        ("7", "9999999999 (not set by hand)", CARE),
        ("8888888888 (not set by hand)", "9999999999 (not set by hand)", FINE),
    ],
)
@pytest.mark.parametrize("key", ["seed", "torch seed"])
def test_seeds_weigh_where_a_side_set_one(key: str, base: str, new: str, weight: str) -> None:
    (found,) = noted({key: base}, {key: new})
    assert (found.alike, found.weight, bool(found.sentence)) == (False, weight, True)


@pytest.mark.parametrize("key", ["temperature", "power", "recorded steps"])
def test_a_measurement_is_named_and_decides_nothing(key: str) -> None:
    (found,) = noted({key: "1"}, {key: "2"})
    assert (found.alike, found.weight) == (False, FINE)


def test_throttling_that_nobody_told_is_no_throttling() -> None:
    (found,) = noted({"throttling": "none seen"}, {"throttling": "not told"})
    assert (found.alike, found.weight) == (False, FINE)
    (found,) = noted({"throttling": "power cap"}, {"throttling": "power cap"})
    assert found.weight == CARE


def test_a_condition_of_the_users_own_asks_for_care_unless_it_is_expected() -> None:
    base, new = {**COOL, "lr": "0.1", "a, b": "1"}, {**COOL, "lr": "0.2", "a, b": "1"}
    found = diff(base, new).comparability
    assert found.verdict == CARE
    assert "lr differs, as noted at capture" in found.reasons
    expected = diff(base, new, "lr").comparability
    assert expected.verdict == without_notes()
    (condition,) = [c for c in expected.conditions if c.key == "lr (noted)"]
    assert (condition.base, condition.new, condition.expected) == ("0.1", "0.2", True)


@pytest.mark.parametrize("name", ["batch", "shapes", "seed"])
def test_what_was_noted_may_be_expected_by_its_own_name(name: str) -> None:
    base, new = {**COOL, "batch": "8", "seed": "1"}, {**COOL, "batch": "16", "seed": "1"}
    if name == "seed":
        base, new = {**COOL, "seed": "1"}, {**COOL, "seed": "2"}
    key = f"{'batch' if name == 'shapes' else name} (noted)"
    (before,) = [c for c in diff(base, new).comparability.conditions if c.key == key]
    (after,) = [c for c in diff(base, new, name).comparability.conditions if c.key == key]
    assert (before.expected, after.expected) == (False, True)
    assert after.weight == FINE


def test_only_what_a_run_noted_may_be_expected_besides_the_fixed_names() -> None:
    with pytest.raises(UsageError, match="'workers2' is no condition") as told:
        diff({**COOL, "lr": "1"}, COOL, "workers2")
    assert told.value.hint is not None
    # the user's own first, then what else was noted, as it was
    assert told.value.hint.endswith(", ".join(["workers", "lr", *COOL]))
    assert diff(COOL, {**COOL, "lr": "1"}, "lr").comparability.verdict == without_notes()


def test_every_condition_that_is_read_has_a_rule() -> None:
    ruled = {*_GRAVE, *_LIGHT, *_CLOCKS, *_MEASURED, *_AS_RECORDED, "throttling"}
    assert ruled == TITLES


class Runs:
    """Write two equal runs with what stands beside each, and compare them on the command line."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def beside(self, name: str, told: dict[str, Any] | None, **metadata: Any) -> Path:
        path = self.folder / f"{name}.json"
        path.write_bytes(making.text(*run(STEPS), **metadata))
        if told is not None:
            text = json.dumps({"schema": "traceview.capture/1", **told})
            (self.folder / f"{name}.capture.json").write_text(text, encoding="utf-8")
        return path

    def diff(self, base: Path, new: Path, *options: str) -> dict[str, Any]:
        assert command(["diff", str(base), str(new), "--format", "json", "--quiet", *options]) == 0
        found: dict[str, Any] = json.loads(self.capsys.readouterr().out)["comparability"]
        return found

    def save(self, path: Path) -> Path:
        saved = path.with_name(f"saved-{path.name}")
        assert command(["summary", str(path), "--save", str(saved), "--quiet"]) == 0
        self.capsys.readouterr()
        return saved


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Runs:
    return Runs(tmp_path, capsys)


def row(found: dict[str, Any], key: str) -> tuple[str, str, str, str]:
    """Return values, weight and sentence of a condition."""
    (one,) = [c for c in found["conditions"] if c["key"] == key]
    return one["base"], one["new"], one["weight"], one["sentence"]


SWITCHES = {"record_shapes": True, "with_stack": False, "profile_memory": False, "with_flops": False}


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(
    ("told", "other", "key", "weight", "sentence"),
    [
        ({"versions": {"PyTorch": "2.13"}}, {"versions": {"PyTorch": "2.9"}}, "driver and framework", CARE, "versions differ: PyTorch"),
        ({"versions": {"driver": "550.1", "cuDNN": "90100"}}, {"versions": {"driver": "570.1", "cuDNN": "90900"}},
         "driver and framework", CARE, "versions differ: driver, cuDNN"),
        ({"versions": {"Python": "3.11"}}, {"versions": {"Python": "3.11", "triton": "3.1"}},
         "driver and framework", FINE, "noted on one side only: triton"),
        ({"device": {"name": "NVIDIA H200"}}, {"device": {"name": "NVIDIA H100"}}, "device model", CARE, "the devices differ"),
        ({"device": {}}, {"device": {"name": "NVIDIA H100"}}, "device model", CARE, "the devices differ"),
        ({}, {"device": {"name": "NVIDIA H100"}}, "device model", FINE, "noted on one side only"),
        ({"device": {"count": 8}}, {"device": {"count": 4}}, "visible devices (noted)", CARE, "the number of visible devices differs"),
        ({"profiler": SWITCHES}, {"profiler": SWITCHES | {"with_stack": True}}, "profiler: with_stack", REFUSED, "the profiler's with_stack differs"),
        ({"profiler": SWITCHES}, {"profiler": SWITCHES | {"with_flops": True}}, "profiler: with_flops", REFUSED, "the profiler's with_flops differs"),
        ({"world_size": 8}, {"world_size": 4}, "ranks", REFUSED, "the number of ranks differs"),
        ({"world_size": 8}, {"world_size": None}, "ranks", REFUSED, "the number of ranks differs"),
        ({"world_size": 1}, {"world_size": None}, "ranks", FINE, ""),
        ({"world_size": 8}, {}, "ranks", FINE, "noted on one side only"),
        ({"ranks": {"rank": 0}}, {"ranks": {"rank": 3}}, "ranks (noted)", CARE, "the runs are of other ranks"),
        ({"settings": {"autocast": None}}, {"settings": {"autocast": "bfloat16"}}, "autocast (noted)", REFUSED, "autocast differs"),
        ({"settings": {"autocast": "bfloat16"}}, {"settings": {"autocast": None}}, "autocast (noted)", REFUSED, "autocast differs"),
        ({"settings": {}}, {"settings": {"autocast": "bfloat16"}}, "conditions (noted)", FINE, "noted on one side only"),
        ({"settings": {"tf32_matmul": None}}, {"settings": {"tf32_matmul": True}}, "TF32 matmul (noted)", CARE, "TF32 of products differs"),
        ({"settings": {"cudnn_deterministic": False}}, {"settings": {"cudnn_deterministic": True}},
         "cuDNN deterministic (noted)", CARE, "deterministic algorithms of cuDNN differ"),
        ({"settings": {"seed": 2**40}}, {"settings": {"seed": 2**50}}, "seed (noted)", FINE, "neither side set a seed"),
        ({"settings": {"seed": 2**40}}, {"settings": {"seed": 7}}, "seed (noted)", CARE, "the seeds differ"),
        ({"given": {"lr": 0.1}}, {"given": {"lr": 0.2}}, "lr (noted)", CARE, "lr differs"),
        ({"given": {"data": "/data/a/set1"}}, {"given": {"data": "/data/a/set2"}}, "data (noted)", CARE, "data differs"),
    ],
)  # fmt: skip
def test_a_difference_beside_the_traces_weighs_as_a_recorded_one(
    told: dict[str, Any], other: dict[str, Any], key: str, weight: str, sentence: str, saved: bool, runs: Runs
) -> None:
    base, new = runs.beside("base", told), runs.beside("new", other)
    base = runs.save(base) if saved else base
    found = runs.diff(base, new)
    assert row(found, key)[2] == weight
    assert row(found, key)[3].startswith(sentence)
    turned = runs.diff(new, base)
    assert row(turned, key)[2:] == row(found, key)[2:]


@pytest.mark.parametrize("saved", [False, True])
def test_equal_sidecars_differ_in_nothing(saved: bool, runs: Runs) -> None:
    told = {
        "device": {}, "versions": {"Python": "3.11.7", "PyTorch": "2.13.0+cpu"}, "profiler": SWITCHES, "ranks": {},
        "world_size": None, "settings": {"autocast": None, "seed": 2**50}, "window": {"recorded": 6},
        "given": {"data": "/data/of/mine/set", "at": "node17:29500", "note": "x" * 999, "batch": 8},
    }  # fmt: skip
    base, new = runs.beside("base", told), runs.beside("new", told)
    found = runs.diff(runs.save(base) if saved else base, new)
    assert [c["key"] for c in found["conditions"] if not c["alike"]] == []
    assert row(found, "driver and framework")[0] == "Python 3.11.7, PyTorch 2.13.0+cpu"
    assert row(found, "device model")[0] == "no CUDA device"
    assert row(found, "profiler: with_stack")[0] == "off"


def test_what_the_trace_records_counts_and_a_sidecar_of_another_is_named(runs: Runs) -> None:
    metadata = {"deviceProperties": [{"id": 0, "name": "GPU A"}], "with_stack": 1}
    told = {"device": {"name": "GPU A"}, "profiler": {"with_stack": True}}
    other = {"device": {"name": "GPU B"}, "profiler": {"with_stack": False}}
    base, new = runs.beside("base", told, **metadata), runs.beside("new", other, **metadata)
    for one in (new, runs.save(new)):
        found = runs.diff(base, one)
        assert row(found, "device model")[:3] == ("GPU A", "GPU A", FINE)
        assert row(found, "profiler: with_stack")[:3] == ("on", "on", FINE)
        assert row(found, "NAME.capture.json") == (
            "as the trace", "device GPU B, the trace GPU A; with_stack off, the trace on", CARE,
            "the sidecar of new contradicts the trace, which counts: it may belong to another",
        )  # fmt: skip
    assert "NAME.capture.json" not in {c["key"] for c in runs.diff(base, base)["conditions"]}


def test_a_switch_that_was_on_is_not_made_fine_by_a_side_that_does_not_tell(runs: Runs) -> None:
    new = runs.beside("new", {"profiler": {"with_stack": True, "profile_memory": False}})
    found = runs.diff(runs.beside("base", None), new)
    assert row(found, "profiler: with_stack")[:3] == ("not recorded", "on", CARE)
    assert row(found, "profiler: profile_memory")[:3] == ("not recorded", "off", FINE)


def test_a_saved_run_keeps_what_was_noted(runs: Runs) -> None:
    saved = runs.save(runs.beside("base", {"given": {"batch": 8, "lr": 0.1}}))
    found = runs.diff(saved, runs.beside("new", {"given": {"batch": 16, "lr": 0.1}}))
    assert row(found, "batch (noted)")[:3] == ("8", "16", REFUSED)
    assert row(found, "lr (noted)")[:3] == ("0.1", "0.1", FINE)


def test_a_run_saved_before_conditions_were_kept_apart_is_still_read(runs: Runs) -> None:
    saved = runs.save(runs.beside("base", {"given": {"batch": 8}, "device": {"name": "GPU A"}}))
    document = json.loads(saved.read_text(encoding="ascii"))
    del document["conditions"]["noted"]
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in document.items()]
    saved.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
    found = runs.diff(saved, runs.beside("new", {"given": {"batch": 8}}))
    assert row(found, "batch (noted)")[:3] == ("8", "8", FINE)


def test_nothing_private_of_what_was_noted_is_saved(runs: Runs) -> None:
    told = {
        "device": {"name": "GPU of alice@s3cret-17"},
        "versions": {"/data/s3cret/x": "/data/s3cret/y", "vllm": "0.6 by s3cret@s3cret.lan"},
        "given": {
            "/data/s3cret/key": "/home/s3cret/value", "host": "s3cret-17:29500", "url": "https://s3cret.example/x",
            "who": "me@s3cret.lan", "paths": [["/data/s3cret/a"]], "x" * 50 + "/home/s3cret/k": 1,
        },
    }  # fmt: skip
    saved = runs.save(runs.beside("base", told)).read_text(encoding="ascii")
    assert "s3cret" not in saved
    assert '"key":"value"' in saved


def test_hostile_notes_harm_no_output(runs: Runs) -> None:
    bad = "<script>alert(1)</script>|`[x](http://e.vil)\x1b[31m\u202e"
    base, new = (runs.beside(n, {"given": {bad: bad + n, "=1+1": n}}) for n in ("base", "new"))
    outputs = [runs.folder / f"out.{form}" for form in ("html", "md", "txt", "json")]
    wanted = [part for path in outputs for part in ("-o", str(path))]
    assert command(["diff", str(base), str(new), "--quiet", *wanted]) == 0
    table = runs.folder / "conditions.csv"
    assert command(["diff", str(base), str(new), "--quiet", "--table", "conditions", "-o", str(table)]) == 0
    html, markdown, text, _, cells = (p.read_text(encoding="utf-8") for p in (*outputs, table))
    for told in (html, markdown, text, cells):
        assert "\x1b" not in told
        assert "\u202e" not in told
    assert "<script>alert(1)" not in html
    assert "<script>" not in re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", markdown)  # as code only
    assert "\n=1+1" not in cells
