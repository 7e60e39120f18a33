"""Repair the JSON text of one event: what real writers get wrong, in a fixed order.

Bytes that are no UTF-8, bare nan and inf, single backslashes (Windows paths), raw control
characters, half a surrogate pair, trailing commas, bare words. A repair looks at one event only,
so it does not depend on how the file was cut into blocks.
"""

from __future__ import annotations

import re
from collections import Counter

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^"]++', re.DOTALL)
_BAD_ESCAPE = re.compile(rb'\\(?!["\\/bfnrtu])|\\u(?![0-9a-fA-F]{4})')
_SURROGATE = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_NONFINITE = re.compile(rb"(?<![\w.])[-+]?(?:nan(?:\(\w*\))?|inf(?:inity)?)(?!\w)", re.IGNORECASE)
_TRAILING_COMMA = re.compile(rb",(?=\s*(?:,|[}\]]))")
_BARE_WORD = re.compile(
    rb"(?<=[:,\[])(\s*)(?!(?:true|false|null)\b)(?:0[xX][0-9a-fA-F]+|[A-Za-z_][\w.]*)(?=\s*[,}\]])"
)
_ODD = re.compile(rb"[A-Za-z_]|[,:]\s*[,}\]]")  # else there is nothing to mend between texts
_NO_VALUE = re.compile(rb":(?=\s*[,}])")

NONFINITE, JSON, ENCODING = "nonfinite_number", "json_repaired", "encoding_repaired"


def repair(text: bytes) -> tuple[bytes, Counter[str]]:
    """Return the text with known damage mended, and how many places of each kind were mended."""
    counts: Counter[str] = Counter()
    text = repair_encoding(text, counts)
    parts = [
        _repair_string(token, counts) if token.startswith(b'"') else _repair_between(token, counts)
        for token in _TOKEN.findall(text)
    ]
    joined = b"".join(parts)
    mended, commas = (
        _TRAILING_COMMA.subn(b"", joined)
        if b",]" in joined or b",}" in joined or b",," in joined
        else (joined, 0)
    )
    counts[JSON] += commas
    return mended, +counts


def repair_encoding(text: bytes, counts: Counter[str]) -> bytes:
    """Replace bytes that are no UTF-8 by U+FFFD, counting the replaced runs."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        decoded = text.decode("utf-8", "replace")
        counts[ENCODING] += max(1, decoded.count("\ufffd") - text.count("\ufffd".encode()))
        return decoded.encode("utf-8")
    return text


def _repair_string(token: bytes, counts: Counter[str]) -> bytes:
    if b"\\" in token:
        if _BAD_ESCAPE.search(token):
            # a path written raw: its \b and \n are directories too, so double every backslash
            token = re.sub(rb'\\(?!")', rb"\\\\", token)
            counts[JSON] += 1
        else:
            token, halves = _SURROGATE.subn(lambda m: m[1] or b"\\ufffd", token)
            counts[ENCODING] += sum(1 for _ in re.finditer(rb"\\ufffd", token)) if halves else 0
    if _CONTROL.search(token):
        token, controls = _CONTROL.subn(lambda m: b"\\u%04x" % m[0][0], token)
        counts[JSON] += controls
    return token


def _repair_between(token: bytes, counts: Counter[str]) -> bytes:
    if not _ODD.search(token):
        return token
    token, found = _NONFINITE.subn(b"null", token)
    token, words = _BARE_WORD.subn(rb"\1null", token)
    token, holes = _NO_VALUE.subn(b":null", token)
    token, commas = _TRAILING_COMMA.subn(b"", token)
    counts[NONFINITE] += found
    counts[JSON] += words + holes + commas
    return token
