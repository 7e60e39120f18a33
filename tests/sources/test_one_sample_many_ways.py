"""A sample reads the same however it is packed, named, cut into blocks, or shared among processes."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path

import pytest

from tests.sources.trace_text import QUIRKS, SHARED, chunks, contents
from traceview.errors import InputError
from traceview.sources import read_blocks, read_trace

PLAIN = sorted(p for p in QUIRKS.glob("*.json") if p.name != "utf16-bom.json")
CASES = sorted(p for p in (SHARED / "cases").glob("[0-9]*.json") if "expect" not in p.name)
SAMPLE = QUIRKS / "two-kernels-one-correlation.json"


@pytest.mark.parametrize("path", [*PLAIN, *CASES], ids=lambda p: p.name)
@pytest.mark.parametrize("size", [1, 7, 65_536])
def test_blocks_of_any_size_give_equal_traces(path: Path, size: int) -> None:
    data = path.read_bytes()
    whole = contents(read_blocks([data], path.name))
    assert contents(read_blocks(chunks(data, size), path.name)) == whole


@pytest.mark.parametrize(
    "name", ["array-form-no-closing-bracket", "cut-in-mid-event", "trailing-bytes-after-document"]
)
def test_several_processes_give_the_trace_of_one(name: str) -> None:
    path = QUIRKS / f"{name}.json"
    assert contents(read_trace(path, parts=2)) == contents(read_trace(path, parts=1))


def test_several_processes_join_texts_ids_and_side_tables_of_a_long_file(tmp_path: Path) -> None:
    # many distinct texts, ids beyond int64, begin/end pairs, marks, flows and counters on both sides of the split
    chance = random.Random(5)
    events = []
    for i in range(4000):
        ts, pid = i * 10, 1 + i % 3
        odd = chance.choice([i, 2**70 + i, f'"id {i}"'])
        op = f'"args":{{"External id":{i},"Input Dims":[[{i % 90},4]]}}'
        call, work = (
            f'"args":{{"correlation":{odd}}}',
            f'"args":{{"device":0,"stream":{i % 4},"correlation":{odd}}}',
        )
        events += [
            f'{{"ph":"X","cat":"cpu_op","name":"op {i % 700}","pid":{pid},"tid":{i % 5},"ts":{ts},"dur":3,{op}}}',
            f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{pid},"tid":1,"ts":{ts + 1},"dur":1,{call}}}',
            f'{{"ph":"X","cat":"kernel","name":"k{i % 300}","pid":0,"tid":7,"ts":{ts + 4},"dur":2,{work}}}',
            f'{{"ph":"B","name":"range","pid":{pid},"tid":"t","ts":{ts}}}',
            f'{{"ph":"s","id":"f{i}","cat":"ac2g","name":"a","pid":{pid},"tid":{i % 5},"ts":{ts + 1}}}',
            f'{{"ph":"f","id":"f{i}","cat":"ac2g","name":"a","pid":0,"tid":7,"ts":{ts + 4}}}',
            f'{{"ph":"i","name":"mark {i}","pid":{pid},"tid":1,"ts":{ts}}}',
            f'{{"ph":"C","name":"counter","pid":{pid},"ts":{ts},"args":{{"a":{i}}}}}',
            f'{{"ph":"E","pid":{pid},"tid":"t","ts":{ts + 9}}}',
        ]
    path = tmp_path / "long.json"
    path.write_text('{"traceEvents": [\n' + ",\n".join(events) + '\n], "traceName": "x]}, {"}')
    for parts in (2, 3, 4):
        assert contents(read_trace(path, parts=parts)) == contents(read_trace(path, parts=1))
    packed = tmp_path / "long.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert contents(read_trace(packed, parts=2)) == contents(read_trace(packed, parts=1))


def test_a_damaged_event_at_the_meeting_point_costs_nothing_more(tmp_path: Path) -> None:
    # every event is damaged or holds what looks like a boundary inside a text, so the split cannot avoid one
    events = [
        f'{{"ph":"X","cat":"cpu_op","name":"C:\\work{i} }}, {{ x","pid":1,"tid":1,"ts":{i},"dur":1}}'
        for i in range(3000)
    ]
    path = tmp_path / "damaged.json"
    path.write_text('{"traceEvents": [' + ", ".join(events) + "]}")
    alone = read_trace(path, parts=1)
    assert len(alone) == 3000
    assert contents(read_trace(path, parts=2)) == contents(alone)


def packings(data: bytes) -> dict[str, bytes]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("inner.json", data)
    half = len(data) // 2
    return {
        "plain": data,
        "gzip": gzip.compress(data),
        "gzip of gzip members": gzip.compress(data[:half]) + gzip.compress(data[half:]),
        "gzip members of one byte": b"".join(gzip.compress(data[i : i + 1]) for i in range(len(data))),
        "gzip padded with zeros": gzip.compress(data) + bytes(512),
        "zip": archive.getvalue(),
        "utf-8 with a mark": b"\xef\xbb\xbf" + data,
        "utf-16": data.decode().encode("utf-16"),
        "utf-16 little end first, no mark": data.decode().encode("utf-16-le"),
        "utf-16 big end first, no mark": data.decode().encode("utf-16-be"),
    }


@pytest.mark.parametrize("name", ["t.json", "t.json.gz", "t.zip", "t"])
@pytest.mark.parametrize("packing", packings(b""))
def test_the_content_decides_never_the_name(tmp_path: Path, packing: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packings(SAMPLE.read_bytes())[packing])
    found, plain = contents(read_trace(path)), contents(read_blocks([SAMPLE.read_bytes()], name))
    assert found == plain


def test_trailing_bytes_after_gzip_are_not_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(SAMPLE.read_bytes()) + b"foreign bytes")
    trace = read_trace(path)
    assert [n.code for n in trace.notices] == ["trailing_data"]
    assert len(trace) == len(read_trace(SAMPLE))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_every_byte_prefix_is_read_or_refused_in_one_line(tmp_path: Path, pack: type[bytes]) -> None:
    data = SAMPLE.read_bytes()
    whole = read_blocks([data])
    packed = pack(data)
    path = tmp_path / "prefix.json"
    counts, refusals = [], []
    for size in range(len(packed)):
        path.write_bytes(packed[:size])
        try:
            trace = read_trace(path)
        except InputError as refused:
            refusals.append(str(refused))
            continue
        assert trace.account.events_read == trace.account.used + sum(trace.account.ignored.values())
        if len(trace) < len(whole):
            assert trace.cut
        counts.append(len(trace))
    assert all("prefix.json" in r and "\n" not in r for r in refusals)
    assert counts == sorted(counts), "a longer prefix never holds less"
    assert counts[-1] == len(whole)
