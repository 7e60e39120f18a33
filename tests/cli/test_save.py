"""summary --save: what a later comparison needs, small, and nothing private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analyses.making import Event, analysed, copy, kernel, launch, note, op, text
from traceview.cli import run
from traceview.report.save import LARGEST, saved_document, saved_text


def steps(number: int, *names: str) -> list[Event]:
    """Return steps of 100 us, each launching these kernels of 10 us under an operator with shapes."""
    events: list[Event] = []
    for i in range(number):
        at, each = 100.0 * i, 80 / max(len(names), 1)
        events.append(note(f"ProfilerStep#{i}", at, 99))
        for j, name in enumerate(names):
            begin, link = at + 2 + j * each, 1 + i * len(names) + j
            dims = {"Input Dims": [[j, 2]]}
            events += [op("aten::mm", begin, each / 2, **dims), launch(begin + each / 8, each / 8, link)]
            events.append(kernel(name, begin + each / 2, each / 4, link))
    return events


def saved(*events: Event, **metadata: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(saved_text(saved_document(analysed(*events, **metadata))))
    return document


def test_rows_are_by_kernel_operator_and_shapes_with_one_sample_per_complete_step() -> None:
    document = saved(*steps(4, "a", "b"))
    assert document["schema"] == "traceview.saved/1"
    rows = document["rows"]
    assert rows["steps"] == [0, 1, 2]  # the last one has no period
    texts = rows["texts"]
    named = {(texts[r["kernel"]], texts[r["op"]], texts[r["shapes"]]): r for r in rows["listed"]}
    assert set(named) == {("a", "aten::mm", "[[0,2]]"), ("b", "aten::mm", "[[1,2]]")}
    row = named["a", "aten::mm", "[[0,2]]"]
    assert (row["calls"], row["sum_us"]) == (4, 40)
    assert (row["step_calls"], row["step_us"]) == (1, [10, 10, 10])
    assert rows["others_us"] == 0


def test_headlines_have_one_entry_per_step_and_unknown_is_null() -> None:
    headlines = saved(*steps(4, "a", "b"))["headlines"]
    assert headlines["step"] == [0, 1, 2]
    assert headlines["period_us"] == [100, 100, 100]
    assert headlines["idle_us"] == [80, 80, 80]
    marks = [note(f"ProfilerStep#{i}", 100 * i, 90) for i in range(3)]
    host_only = saved(*marks, op("x", 5, 5), op("x", 205, 5))["headlines"]
    assert host_only["idle_us"] == [None, None, None]
    assert host_only["wall_us"] == [90, 90, 90]


def test_conditions_tell_what_must_be_alike_for_a_comparison() -> None:
    properties = [{"id": 0, "name": "Some GPU", "totalGlobalMem": 4}]
    document = saved(*steps(3, "a"), deviceProperties=properties, record_shapes=1, cuda_runtime_version=12080)
    conditions = document["conditions"]
    assert conditions["devices"][0]["name"] == "Some GPU"
    assert conditions["switches"] == {"record_shapes": True}
    assert conditions["versions"]
    assert document["operators"][0]["shapes"] == [["[[0,2]]", 3]]
    assert document["totals"]["kernel_count"] == 3


def test_a_trace_without_steps_is_kept_as_totals() -> None:
    document = saved(launch(0, 5, 1), kernel("a", 10, 10, 1), copy(30, 5))
    assert document["headlines"]["step"] == []
    assert [r["step_us"] for r in document["rows"]["listed"]] == [[], []]


def test_nothing_private_is_kept() -> None:
    home = "/home/s3cret/model.py(3): f"
    document = saved(
        *steps(3, home),
        op(home, 1, 1),
        traceName="/home/s3cret/host-17_4711.json",
        distributedInfo={"hostname": "s3cret"},
    )
    assert "s3cret" not in json.dumps(document)
    assert "4711" not in json.dumps(document)


def test_no_path_address_account_or_text_beside_a_version_is_kept() -> None:
    properties = [{"id": 0, "name": "GPU of alice@s3cret-17", "path": "/s3cret/dev"}]
    events = [
        *steps(
            3, "_/home/s3cret/k.cu", "gemm s3cret@s3cret.lan", "C:\\s3cret\\dir\\k.cu", "\\\\s3cret\\a\\k.cu"
        ),
        op("/s3cret/of/mine/model.py(3): f", 1, 1, **{"Input Dims": [["/s3cret/x/y"]]}),
        op("s3cret-17:29500", 1.2, 0.1, **{"Input Dims": [[1]]}),
        op("https://s3cret.example/x", 1.4, 0.1, **{"Input Dims": [[1]]}),
    ]
    document = saved(*events, deviceProperties=properties, cuda_runtime_version="12.4 by s3cret@s3cret")
    assert "s3cret" not in json.dumps(document)
    assert "12.4" in document["conditions"]["versions"].values()
    assert "_k.cu" in document["rows"]["texts"]
    assert "model.py(3): f" in {o["op"] for o in document["operators"]}


def test_names_that_are_alike_without_their_folders_are_one_row() -> None:
    document = saved(*steps(4, "/run/1/k.cu", "/run/2/k.cu", "other"))
    # both launched under an operator of their own shapes, so they stay apart by these
    texts = document["rows"]["texts"]
    assert [texts[r["kernel"]] for r in document["rows"]["listed"]] == ["k.cu", "k.cu", "other"]
    events = [e for e in steps(4, "/run/1/k.cu", "/run/2/k.cu", "other") if e["name"] != "aten::mm"]
    rows = saved(*events)["rows"]
    named = {rows["texts"][r["kernel"]]: r for r in rows["listed"]}
    each = 80 / 3 / 4
    assert set(named) == {"k.cu", "other"}
    assert (named["k.cu"]["calls"], named["k.cu"]["step_calls"]) == (8, 2)
    assert named["k.cu"]["sum_us"] == pytest.approx(8 * each, abs=0.01)
    assert named["k.cu"]["step_us"] == pytest.approx([2 * each] * 3, abs=0.01)
    assert rows["others_us"] == 0


def test_the_same_work_from_two_checkouts_is_saved_alike() -> None:
    first, second = (
        saved(*steps(3, f"/{place}/k.cu"), op(f"/{place}/m.py(1): f", 1, 1)) for place in ("a/b", "c")
    )
    assert first["rows"]["texts"] == second["rows"]["texts"] != []


def test_the_document_stays_within_a_megabyte_and_says_what_it_left_out() -> None:
    names = [f"kernel_{i}_" + "x" * 2_000 for i in range(700)]
    document = saved_document(analysed(*steps(80, *names)))
    assert len(saved_text(document)) <= LARGEST
    assert document["rows"]["others_us"] > 0
    assert document["headlines"]["of"] == 79
    assert len({document["rows"]["texts"][r["kernel"]] for r in document["rows"]["listed"]}) == len(
        document["rows"]["listed"]
    )  # names that are cut stay apart


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "run.json"
    path.write_bytes(text(*steps(4, "a", "b")))
    return str(path)


def test_the_summary_is_printed_and_the_file_written(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = Path(trace).with_name("saved.json")
    assert run(["summary", trace, "--format", "json", "--save", str(target)]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["schema"] == "traceview.summary/1"
    assert "saved.json" in shown.err
    assert json.loads(target.read_text(encoding="ascii"))["schema"] == "traceview.saved/1"


def test_saving_twice_gives_the_same_bytes_and_needs_force(trace: str) -> None:
    target = Path(trace).with_name("saved.json")
    assert run(["summary", trace, "--quiet", "--save", str(target)]) == 0
    first = target.read_bytes()
    assert run(["summary", trace, "--quiet", "--save", str(target)]) == 2
    assert run(["summary", trace, "--quiet", "--save", str(target), "--force"]) == 0
    assert target.read_bytes() == first


@pytest.mark.parametrize(("target", "status"), [("-", 2), ("no/such/folder/x.json", 5)])
def test_a_place_that_takes_no_file_is_refused(trace: str, target: str, status: int) -> None:
    assert run(["summary", trace, "--save", target]) == status


def test_the_trace_itself_is_never_overwritten(trace: str) -> None:
    assert run(["summary", trace, "--save", trace, "--force"]) == 2


def test_chosen_steps_are_saved_alone(trace: str) -> None:
    target = Path(trace).with_name("saved.json")
    assert run(["summary", trace, "--quiet", "--steps", "1:2", "--save", str(target)]) == 0
    document = json.loads(target.read_text(encoding="ascii"))
    assert document["conditions"]["chosen"]
    assert document["headlines"]["step"] == [1, 2]
    assert [r["calls"] for r in document["rows"]["listed"]] == [2, 2]
    assert [r["step_us"] for r in document["rows"]["listed"]] == [[10, 10], [10, 10]]
