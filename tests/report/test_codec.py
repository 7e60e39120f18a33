"""Compact data: what is packed comes out again, and no data ends its block of the page."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.report.codec import pack, pack_texts, script_json


def unpack(column: dict[str, int | str], payload: str) -> list[int]:
    """Do what js/codec.js does."""
    data = base64.b64decode(payload)[int(column["from"]) : int(column["to"])]
    planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(
        int(column["planes"]), int(column["length"])
    )
    return [sum(int(v) << (8 * k) for k, v in enumerate(plane)) for plane in planes.T]


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 2**53 - 1))))
def test_numbers_survive_packing(columns: dict[str, list[int]]) -> None:
    layout, payload = pack({k: np.array(v, np.int64) for k, v in columns.items()})
    assert {str(c["key"]): unpack(c, payload) for c in layout} == columns


def test_small_numbers_take_one_plane() -> None:
    layout, _ = pack({"a": np.array([0, 255])})
    assert layout[0]["planes"] == 1


@pytest.mark.parametrize("number", [-1, 2**53])
def test_a_number_that_javascript_cannot_hold_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="packed number"):
        pack({"a": np.array([number])})


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_survive_packing(texts: list[str]) -> None:
    assert json.loads(zlib.decompress(base64.b64decode(pack_texts(texts)))) == texts


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_in_the_page_cannot_end_its_block(text: str) -> None:
    written = script_json({"name": f"</script><!--{text}\u2028"})
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written)["name"] == f"</script><!--{text}\u2028"
