"""Find the event list in a document, and read the metadata before and after it.

The object form is {"traceEvents": [...], ...} with metadata on both sides; the array form is the
bare list, whose closing bracket may legally be missing. A value such as "x]}" in the metadata must
not end anything, so metadata is parsed, never searched for brackets.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import orjson

from traceview.errors import InputError
from traceview.sources.repair import repair

HEAD_LIMIT = TAIL_LIMIT = 1 << 24  # metadata beyond 16 MiB is no metadata
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_SPACE = b" \t\r\n"


class Opening(NamedTuple):
    """Say where the list begins, and the metadata before it (None in the array form)."""

    start: int
    head: dict[str, Any] | None
    damaged: bool


def find_list(text: bytes) -> Opening | None:
    """Find the event list in the text so far; None when it has not begun."""
    stripped = text.lstrip(_SPACE)
    if stripped.startswith(b"["):
        return Opening(len(text) - len(stripped) + 1, None, False)
    found = list(_LIST.finditer(text))
    for match in found:
        head = _object(text[: match.start()].rstrip(_SPACE + b",") + b"}")
        if head is not None:
            return Opening(match.end(), head, False)
    if not found:
        return None
    mended, _ = repair(text[: found[0].start()].rstrip(_SPACE + b",") + b"}")
    return Opening(found[0].end(), _object(mended) or {}, True)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


class Closing(NamedTuple):
    """Return the metadata after the list, whether it is damaged or cut, and where foreign bytes begin (-1: none)."""

    tail: dict[str, Any]
    cut: bool
    damaged: bool
    trailing: int


def read_tail(text: bytes, array_form: bool) -> Closing:
    """Read what follows the closing bracket of the list."""
    if array_form:
        rest = text.lstrip(_SPACE + b"\0")
        return Closing({}, False, False, len(text) - len(rest) if rest else -1)
    stripped = text.lstrip(_SPACE + b",")
    shift = len(text) - len(stripped)
    for damaged, source in ((False, stripped), (True, repair(stripped)[0])):
        document = "{" + source.decode("utf-8", "replace")
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(document)
        except (ValueError, RecursionError):
            continue
        rest_text = document[end:].lstrip(" \t\r\n\0")
        trailing = -1
        if rest_text:
            trailing = shift + len(document[1 : len(document) - len(rest_text)].encode("utf-8"))
        return Closing(value if isinstance(value, dict) else {}, False, damaged, trailing)
    closed = stripped.rstrip(_SPACE + b"\0").endswith(b"}")
    return Closing({}, not closed, closed, -1)


def refuse(name: str, text: bytes) -> InputError:
    """Explain why a text without an event list is no Chrome trace."""
    stripped = text.lstrip(_SPACE)
    if not stripped:
        return InputError(f"{name}: holds nothing but white space", "capture again, or copy the whole file")
    if not stripped.startswith(b"{"):
        return InputError(
            f"{name}: is no Chrome trace: it begins with {_shown(stripped)} at byte {len(text) - len(stripped)}",
            "expected JSON that begins with { or [",
        )
    keys = re.findall(rb'"([\w$ -]{1,30})"\s*:', stripped[:2000])[:3]
    seen = ", ".join(k.decode() for k in keys) or "none"
    if _object(text) is None and b"traceEvents" in text:
        return InputError(
            f"{name}: is cut before its event list, at byte {len(text)}",
            "capture again, or copy the whole file",
        )
    return InputError(
        f'{name}: is JSON without a "traceEvents" list (first keys: {seen})',
        "traceview reads Chrome traces of PyTorch, JAX, TensorFlow, ONNX Runtime and others",
    )


def _shown(text: bytes) -> str:
    return repr(text[:12].decode("utf-8", "replace"))
