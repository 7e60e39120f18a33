"""Phases: annotations of the host projected to the device, calculated by hand."""

from __future__ import annotations

from tests.analyses.making import analysed, copy, kernel, launch, note, op
from traceview.analyses.phases import Phases


def row(table: Phases, name: str) -> dict[str, int]:
    at = table.name.tolist().index(name)
    return {c.name: int(getattr(table, c.name)[at]) for c in table.columns() if c.name != "name"}


def test_a_record_belongs_to_every_annotation_around_its_launch() -> None:
    table = analysed(
        note("train", 0, 100),
        note("forward", 10, 30),
        op("aten::mm", 12, 10),
        launch(15, 2, 1),
        launch(50, 2, 2),
        kernel("mm", 200, 10, 1),
        kernel("ncclKernel", 205, 20, 2, stream=20),
    ).phases
    assert row(table, "forward") == {
        "depth": 1,
        "calls": 1,
        "host": 30_000,
        "launches": 1,
        "span": 10_000,
        "compute": 10_000,
        "collective": 0,
        "copy": 0,
        "idle": 0,
    }
    assert row(table, "train") == {
        "depth": 0,
        "calls": 1,
        "host": 100_000,
        "launches": 2,
        "span": 25_000,
        "compute": 10_000,
        "collective": 15_000,
        "copy": 0,
        "idle": 0,
    }


def test_ranges_of_one_name_are_added_up_each_with_its_own_span() -> None:
    events = []
    for i in range(2):
        at = 100 * i
        events += [note("step", at, 50), launch(at + 1, 2, 10 + i), launch(at + 5, 2, 20 + i)]
        events += [kernel("a", at + 10, 5, 10 + i), copy(at + 20, 4, 20 + i)]
    table = analysed(*events).phases
    assert row(table, "step") == {
        "depth": 0,
        "calls": 2,
        "host": 100_000,
        "launches": 2 * 2,
        "span": 2 * 14_000,
        "compute": 10_000,
        "collective": 0,
        "copy": 8_000,
        "idle": 2 * 5_000,
    }


def test_numbered_steps_are_one_phase_and_a_phase_that_launched_nothing_is_empty() -> None:
    table = analysed(note("ProfilerStep#3", 0, 10), note("ProfilerStep#4", 10, 10), note("load", 2, 3)).phases
    assert table.name.tolist() == ["ProfilerStep*", "load"]
    assert row(table, "ProfilerStep*")["calls"] == 2
    assert row(table, "load")["span"] == 0


def test_the_parts_of_a_span_add_up() -> None:
    table = analysed(
        note("a", 0, 90),
        launch(1, 1, 1),
        launch(3, 1, 2),
        launch(5, 1, 3),
        kernel("x", 100, 30, 1),
        kernel("ncclK", 120, 30, 2, stream=9),
        copy(170, 10, 3),
    ).phases
    r = row(table, "a")
    assert r["compute"] + r["collective"] + r["copy"] + r["idle"] == r["span"] == 80_000
