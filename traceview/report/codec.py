"""Compact data for the page: numbers as deflated byte planes, texts as deflated JSON, both in base64.

Planes hold the lowest bytes of all numbers first, then the next ones: for small differences this
halves what deflate makes of them. `templates/js/codec.js` is the other side.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

_LEVEL = 7


def pack(columns: Mapping[str, npt.NDArray[Any]]) -> tuple[list[dict[str, int | str]], str]:
    """Return the layout (key, length, planes, first and last byte of each column) and the base64 text.

    Numbers must be whole, not negative and below 2^53, which JavaScript holds exactly.
    """
    layout: list[dict[str, int | str]] = []
    parts: list[bytes] = []
    at = 0
    for key, values in columns.items():
        planes, data = _planes(values)
        layout.append({"key": key, "length": len(values), "planes": planes, "from": at, "to": at + len(data)})
        parts.append(data)
        at += len(data)
    return layout, base64.b64encode(b"".join(parts)).decode("ascii")


def _planes(values: npt.NDArray[Any]) -> tuple[int, bytes]:
    numbers = np.ascontiguousarray(values, "<i8")
    if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= 2**53):
        raise ValueError("a packed number is negative or over 2^53")
    width = max((int(numbers.max()).bit_length() + 7) // 8, 1) if len(numbers) else 1
    planes = numbers.view(np.uint8).reshape(-1, 8)[:, :width].T
    return width, zlib.compress(np.ascontiguousarray(planes).tobytes(), _LEVEL)


def pack_texts(texts: Any) -> str:
    """Return JSON-able data as base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(orjson.dumps(texts), _LEVEL)).decode("ascii")


def script_json(data: Any) -> str:
    """Return JSON for a data block of the page: no text in it can end the block or begin a comment."""
    text = orjson.dumps(data).decode("utf-8")
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
