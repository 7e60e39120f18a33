"""Kernel names without what differs between builds of one program; rules in names.rules."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_RULES = Path(__file__).with_name("names.rules")
_ROUNDS = 8


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = []
    for line in _RULES.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, replacement = line.partition(" =>")
            found.append((re.compile(pattern), replacement.strip()))
    return tuple(found)


@cache
def normalised(name: str) -> str:
    """Return a kernel's name without numbers, hashes, tiles and architecture; never an empty text."""
    plain = name
    for pattern, replacement in _rules():
        for _ in range(_ROUNDS):
            shorter = pattern.sub(replacement, plain)
            if shorter == plain or not shorter:
                break
            plain = shorter
    return plain or name
