"""What may be compared: conditions by hand-made runs, one difference at a time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analyses import making
from tests.diff.runs import run
from traceview.analyses import analyze
from traceview.diff.build import side_of
from traceview.diff.comparability import CARE, FINE, REFUSED, Condition
from traceview.diff.compare import Options, compare
from traceview.diff.side import Side

WORK = [[("aten::mm", "gemm_bf16", 200.0), ("aten::add", "add", 30.0)]] * 6
SAME: dict[str, Any] = {
    "deviceProperties": [{"id": 0, "name": "GPU A", "computeMajor": 9}],
    "record_shapes": 1, "with_stack": 0, "profile_memory": 0, "cuda_runtime_version": 12040,
}  # fmt: skip


def made(events: list[dict[str, Any]] | None = None, **metadata: Any) -> Side:
    events = run(WORK) if events is None else events
    return side_of(analyze(making.read(*events, **{**SAME, **metadata})), "run")


def condition(key: str, base: Side, new: Side, *expected: str) -> Condition:
    found = compare([base], [new], Options(expected=expected)).comparability
    (one,) = [c for c in found.conditions if c.key == key]
    return one


def test_two_runs_recorded_alike_are_comparable() -> None:
    assert compare([made()], [made()]).comparability.verdict == FINE


@pytest.mark.parametrize(
    ("key", "metadata", "weight", "expect"),
    [
        ("device model", {"deviceProperties": [{"id": 0, "name": "GPU B"}]}, CARE, "device"),
        ("driver and framework", {"cuda_runtime_version": 12060}, CARE, "versions"),
        ("profiler: with_stack", {"with_stack": 1}, REFUSED, "profiler"),
        ("ranks", {"distributedInfo": {"rank": 0, "world_size": 8, "backend": "nccl"}}, REFUSED, "ranks"),
    ],
)
def test_a_difference_in_what_was_recorded_weighs_what_it_must(
    key: str, metadata: dict[str, Any], weight: str, expect: str
) -> None:
    base, new = made(), made(**metadata)
    one = condition(key, base, new)
    assert (one.alike, one.weight) == (False, weight)
    assert one.sentence
    forgiven = condition(key, base, new, expect)
    assert (forgiven.alike, forgiven.weight, forgiven.expected) == (False, FINE, True)


def test_operators_in_another_order_are_compared_with_care() -> None:
    turned = made(run([list(reversed(step)) for step in WORK]))
    assert condition("order", made(), turned).weight == CARE


def test_another_data_loader_is_compared_with_care() -> None:
    names = ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter")
    sides = [
        made([*run(WORK), making.note(f"enumerate(DataLoader)#{name}.__next__", 5990, 5)]) for name in names
    ]
    assert condition("loader", *sides).weight == CARE
    assert condition("loader", sides[0], made()).alike  # not recorded is no difference


def test_another_precision_is_refused_unless_expected() -> None:
    other = made(run([[(op, k.replace("bf16", "e4m3"), us) for op, k, us in step] for step in WORK]))
    assert condition("precision", made(), other).weight == REFUSED
    assert condition("precision", made(), other, "precision").weight == FINE


def test_stacks_in_the_file_tell_that_the_switch_was_on() -> None:
    bare = {k: v for k, v in SAME.items() if k not in ("record_shapes", "with_stack", "profile_memory")}
    events = run(WORK)
    stacks = [*events, making.frame("train.py(1): main", 0, 5000, **{"Python id": 1})]
    sides = [side_of(analyze(making.read(*e, **bare)), "run") for e in (events, stacks)]
    one = condition("profiler: with_stack", *sides)
    assert (one.base, one.new, one.weight) == ("not recorded", "on", CARE)


def test_missing_device_records_are_refused_from_a_hundred_launches_on() -> None:
    many = [[("aten::mm", "gemm", 20.0)] * 8] * 20
    lost = [e for e in run(many) if not (e["cat"] == "kernel" and e["ts"] > 15_000)]
    assert condition("device records", made(run(many)), made(lost)).weight == REFUSED


def test_a_further_run_of_other_work_is_no_run_of_the_same_program() -> None:
    other = made(run([[("aten::bmm", "bmm", 100.0)]] * 6, "[[64, 64]]"))
    assert compare([made(), made()], [made()]).comparability.verdict == FINE
    found = compare([made(), other], [made()]).comparability
    assert found.verdict == REFUSED
    assert any(reason.startswith("another run of base") for reason in found.reasons)


def test_how_rows_are_matched_does_not_decide_what_may_be_compared() -> None:
    renamed = made(run([[(op, f"{k}_x", us) for op, k, us in step] for step in WORK]))
    assert compare([made()], [renamed], Options(match="exact")).comparability.verdict == FINE
