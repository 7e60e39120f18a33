"""What is no trace is refused with one message: what, where, what to do next."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from traceview.errors import InputError
from traceview.sources import read_trace


def two_files() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", "1")
        archive.writestr("b", "2")
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "0 bytes"),
        (b"  \n ", "nothing but white space"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-LFS"),
        (b"SQLite format 3\x00" + bytes(100), "SQLite"),
        (b"{}", "traceEvents"),
        (b'{"spans": []}', "spans"),
        (b'{"traceEvents": []}', "event list is empty"),
        (b"[]", "event list is empty"),
        (b'{"traceEvents"', "is cut before its event list"),
        (b'[{"children": []}]', "no event in it can be used"),
        (b"<html>", "begins with"),
        (b"\x1f\x8b\x08garbage", "gzip"),
        (gzip.compress(b""), "white space"),
        (two_files(), "zip archive of 2 files"),
        (b"PK\x03\x04broken", "zip archive that cannot be read"),
    ],
    ids=[
        *(
            "empty",
            "blank",
            "lfs",
            "sqlite",
            "object",
            "spans",
            "no events",
            "empty list",
            "cut head",
            "proton",
            "html",
        ),
        *("broken gzip", "gzip of nothing", "zip of two", "broken zip"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_trace(path)
    assert said in str(refused.value)
    assert "input.json" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.json"):
        read_trace(tmp_path / "missing.json")
    with pytest.raises(InputError, match="is a directory"):
        read_trace(tmp_path)


def test_an_event_that_never_ends_is_given_up_and_its_text_does_not_pile_up(tmp_path: Path) -> None:
    path = tmp_path / "giant.json"
    good = '{"ph": "X", "name": "good", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'
    path.write_text('{"traceEvents": [' + good + ', {"ph": "X", "name": "' + "x" * (40 << 20))
    tracemalloc.start()
    trace = read_trace(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trace) == 1
    assert trace.cut
    assert peak < 36 << 20
