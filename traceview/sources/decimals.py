"""Turn decimal microsecond texts into exact int64 nanoseconds.

Doubles are not enough: an epoch stamp such as 1712195495521715.604 keeps only 0.25 us of its
fraction in a double. So the digits of the text are read as integers; digits below 1 ns are cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import msgspec
import numpy as np

MISSING = np.iinfo(np.int64).min  # no number there: absent, null, not a number, beyond int64

_PLAIN = re.compile(rb"\s*(-?)(\d+)(?:\.(\d*))?\s*\Z")
_POWERS = 10 ** np.arange(20, dtype=np.uint64).astype(np.int64)[:19]
_NOT_PLAIN = np.ones(256, dtype=bool)
_NOT_PLAIN[list(b"0123456789.\n")] = False
_LIMIT = 1 << 61  # ns, 73 years: beyond it a start plus a duration would not fit an int64
_MAX_DIGITS = 400  # an exponent beyond any clock must not build a giant integer


def nanoseconds(texts: Sequence[bytes | msgspec.Raw]) -> np.ndarray:
    """Read texts of microseconds, bare or quoted, as int64 ns; MISSING where there is no number."""
    if not texts:
        return np.empty(0, np.int64)
    joined = b"\n".join(texts)
    if b'"' in joined:
        joined = joined.replace(b'"', b"")
    raw = np.frombuffer(joined + b"\n", np.uint8)
    line_ends = np.flatnonzero(raw == 10)
    if len(line_ends) != len(texts):  # a text with a line break in it: only a damaged file has one
        return np.array([exact(bytes(t)) for t in texts], np.int64)
    starts = np.empty_like(line_ends)
    starts[0] = 0
    starts[1:] = line_ends[:-1] + 1
    decimals, odd = _decimals(raw, line_ends, starts)
    if joined.translate(None, b"0123456789.\n"):
        odd[np.searchsorted(line_ends, np.flatnonzero(_NOT_PLAIN[raw]))] = True
    slow = np.flatnonzero(odd)
    if len(slow):
        lines = joined.split(b"\n")
        replaced = [b"0" if o else line for o, line in zip(odd.tolist(), lines, strict=True)]
        joined = b"\n".join(replaced)
        decimals[slow] = 0
    digits = np.fromstring(joined.replace(b".", b""), dtype=np.int64, sep="\n")
    values = _scale(digits, decimals)
    if len(slow):
        values[slow] = [exact(lines[i]) for i in slow.tolist()]
    return values


def _decimals(raw: np.ndarray, ends: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count the decimals of each line, and mark the lines that need the slow path."""
    dots = np.flatnonzero(raw == 46)
    decimals = np.zeros(len(ends), np.int64)
    if len(dots) == len(ends) and bool(np.all((dots < ends) & (dots >= starts))):
        decimals = ends - dots - 1
        whole = dots - starts
        odd = whole == 0
    else:
        lines = np.searchsorted(ends, dots)
        decimals[lines] = ends[lines] - dots - 1
        whole = ends - starts
        whole[lines] -= decimals[lines] + 1
        odd = (whole <= 0) | (np.bincount(lines, minlength=len(ends)) > 1)
    # 16 digits stay below the limit when they begin with a 1, and so do all of 15 digits
    odd |= (whole > 16) | ((whole == 16) & (raw[starts] != 49)) | (decimals + whole > 18) & (decimals > 3)
    return decimals, odd


def _scale(digits: np.ndarray, decimals: np.ndarray) -> np.ndarray:
    low, high = int(decimals.min()), int(decimals.max())
    if low == high:
        if low <= 3:
            digits *= int(_POWERS[3 - low])
        else:
            digits //= int(_POWERS[low - 3])
        return digits
    if high <= 3:
        digits *= _POWERS[3 - decimals]
        return digits
    up = digits * _POWERS[np.maximum(3 - decimals, 0)]
    scaled: np.ndarray = np.where(decimals <= 3, up, digits // _POWERS[np.maximum(decimals - 3, 0)])
    return scaled


def exact(text: bytes) -> int:
    """Read one text of microseconds as ns, cut toward zero; MISSING when it is no usable number."""
    text = text.strip().strip(b'"')
    plain = _PLAIN.match(text)
    if plain:
        sign, whole, fraction = plain[1], plain[2], plain[3] or b""
        if len(whole) > _MAX_DIGITS:
            return MISSING
        value = int(whole) * 1000 + int((fraction + b"000")[:3])
        value = -value if sign else value
    else:
        try:
            number = Decimal(text.decode("ascii", "replace"))
        except InvalidOperation:
            return MISSING
        if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
            return 0 if number.is_finite() and number.adjusted() < 0 else MISSING
        value = int(number * 1000)
    return value if -_LIMIT < value < _LIMIT else MISSING
