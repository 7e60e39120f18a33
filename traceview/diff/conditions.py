"""One thing that two runs are compared by before they are compared: its values, and what a difference means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traceview.diff.matching import Group
from traceview.diff.side import Measured
from traceview.units import count

REFUSED, CARE, FINE = "not comparable", "with care", "comparable"
ONE_SIDED = "noted on one side only"
LEAST_MATCHED = 0.80
LEAST_SHAPED = 0.50
FEWEST_LAUNCHES = 100  # below it a coverage says little


@dataclass(frozen=True)
class Condition:
    """Hold one thing that was compared: its values, whether they are alike, and what that means.

    `weight` is REFUSED, CARE or FINE; `sentence` says why, "" where they are alike.
    """

    key: str
    base: str
    new: str
    alike: bool
    weight: str
    sentence: str = ""
    expected: bool = False


@dataclass(frozen=True)
class Matched:
    """Hold what was matched, and the side it was matched on."""

    groups: Sequence[Group]
    base: Measured
    new: Measured


def compared(key: str, values: tuple[Any, Any], weight: str, sentence: str) -> Condition:
    """Return a condition; the sentence holds where the values differ."""
    left, right = (text_of(v) for v in values)
    alike = values[0] == values[1]
    return Condition(key, left, right, alike, FINE if alike else weight, "" if alike else sentence)


def text_of(value: Any) -> str:
    """Show a value of a condition."""
    if value is None:
        return "not recorded"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {v}" for k, v in value.items()) or "not recorded"
    return str(value)
