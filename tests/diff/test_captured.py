"""Conditions that were noted at capture decide with the others whether runs may be compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analyses import making
from tests.diff.runs import run, side
from traceview.cli import run as command
from traceview.diff.captured import noted
from traceview.diff.comparability import CARE, FINE, REFUSED
from traceview.diff.compare import Diff, Options, compare

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


def test_what_one_side_alone_has_noted_decides_nothing() -> None:
    assert noted({"batch": "8", "throttling": "power cap"}, {"seed": "7"}) == []


def test_a_saved_run_keeps_what_was_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, batch in (("base", 8), ("new", 16)):
        (tmp_path / f"{name}.json").write_bytes(making.text(*run(STEPS)))
        told = {"schema": "traceview.capture/1", "given": {"batch": batch}}
        (tmp_path / f"{name}.capture.json").write_text(json.dumps(told), encoding="utf-8")
    saved = tmp_path / "saved.json"
    assert command(["summary", str(tmp_path / "base.json"), "--save", str(saved), "--quiet"]) == 0
    capsys.readouterr()
    command(["diff", str(saved), str(tmp_path / "new.json"), "--format", "json", "--quiet"])
    document = json.loads(capsys.readouterr().out)
    (found,) = [c for c in document["comparability"]["conditions"] if c["key"] == "batch (noted)"]
    assert (found["base"], found["new"], found["weight"]) == ("8", "16", REFUSED)
