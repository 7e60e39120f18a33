"""Say what a bench is to time: a target, a ladder of shapes, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traceview.capture.naming import safe_label
from traceview.errors import UsageError

Shape = tuple[int, ...]
_LONGEST = 2**63  # what torch can count to
_SEEDS = -(2**63), 2**64 - 1  # that torch takes; numpy gets the last 32 bits, Python's random takes any
_SHOWN = 40  # characters of what is refused


@dataclass(frozen=True)
class Wishes:
    """Say what is timed, and how."""

    target: str
    shapes: tuple[Shape, ...]
    precision: str = "fp32"
    device: str = "auto"
    warmup: int = 10
    iters: int = 50
    seed: int = 0
    repeat: int = 2
    profile: str | None = None  # a folder for traces

    def __post_init__(self) -> None:
        if not _SEEDS[0] <= self.seed <= _SEEDS[1]:
            raise UsageError(
                f"--seed {str(self.seed)[:_SHOWN]}: torch takes no such seed",
                "take one from -2**63 to 2**64 - 1",
            )

    @property
    def label(self) -> str:
        """Return how the bench is called: the factory's name."""
        return safe_label(self.target.rpartition(":")[2])


def parse_shape(text: str) -> Shape:
    """Return a shape: 1,3,128,128 or 1x3x128x128."""
    try:
        shape = tuple(int(p) for p in text.replace("x", ",").split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1 or max(shape) >= _LONGEST:
        raise UsageError(f"{text[:_SHOWN]!r} is no shape", "write it as 1,3,128,128")
    return shape


def ladder(shapes: Sequence[Shape], batches: Sequence[int], zipped: bool) -> tuple[Shape, ...]:
    """Return the shapes to time: each with each batch in place of its first dimension, or pair by pair."""
    if not shapes:
        raise UsageError("no shape was given", "give --shape 1,3,128,128, as often as you like")
    if not batches:
        return tuple(shapes)
    if zipped and len(batches) != len(shapes):
        raise UsageError(
            f"--zip pairs {len(shapes)} shapes with {len(batches)} batches", "give as many of both"
        )
    pairs = zip(shapes, batches, strict=True) if zipped else ((s, b) for s in shapes for b in batches)
    return tuple((b, *s[1:]) for s, b in pairs)
