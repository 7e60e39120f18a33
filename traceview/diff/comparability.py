"""May these two runs be compared at all: everything that differs, and what follows from it.

Not comparable means that no statement about speed would be one about speed. With care means that the
named difference may be the cause; gates are allowed. An expected difference (--expect) is only named.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from traceview.diff.captured import KINDS as NOTED_KINDS
from traceview.diff.captured import NOTED, names, noted
from traceview.diff.conditions import (
    CARE,
    FEWEST_LAUNCHES,
    FINE,
    LEAST_MATCHED,
    REFUSED,
    Condition,
    Matched,
    compared,
    text_of,
)
from traceview.diff.recorded import SWITCHES, recorded
from traceview.diff.same_work import linked, same_work, shaped_work, share_of
from traceview.diff.side import Side
from traceview.errors import UsageError
from traceview.units import count

__all__ = [
    "CARE",
    "FINE",
    "LEAST_MATCHED",
    "REFUSED",
    "Comparability",
    "Condition",
    "Matched",
    "comparability",
]

EXPECTABLE = (
    "device", "versions", "steps", "shapes", "precision", "ranks", "profiler", "graphs", "order", "workers",
)  # fmt: skip


@dataclass(frozen=True)
class Comparability:
    """Hold the verdict, and everything that was looked at."""

    verdict: str
    conditions: tuple[Condition, ...]
    matched: Fraction | None  # of the device time that has a launch
    matched_shaped: Fraction | None  # of that of operators with recorded shapes
    with_shapes: Fraction | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why it is not comparable, or what to care about."""
        return tuple(c.sentence for c in self.conditions if c.weight == self.verdict != FINE)


def check_expected(sides: Collection[Side], expected: Collection[str]) -> None:
    """Refuse what is no condition: neither one of EXPECTABLE nor a name of something that a run noted."""
    found = dict.fromkeys(k for side in sides for k in names(side.conditions.get("captured") or {}))
    for name in expected:
        if name not in EXPECTABLE and name not in found:
            known = ", ".join(dict.fromkeys((*EXPECTABLE, *found)))
            raise UsageError(f"--expect {name!r} is no condition", f"use one of {known}")


def comparability(base: Side, new: Side, work: Matched, expected: Collection[str] = ()) -> Comparability:
    """Return whether two runs may be compared; what `expected` names differs on purpose."""
    matched, shaped, with_shapes = (share_of(work, f) for f in (linked, shaped_work, None))
    captured = noted(*(side.conditions.get("captured") or {} for side in (base, new)))
    found = [*recorded(base, new), *captured, *_measured(base, new)]
    found += same_work(work, matched, shaped, with_shapes)
    conditions = tuple(_forgiven(c, expected) for c in found)
    weights = {c.weight for c in conditions}
    verdict = REFUSED if REFUSED in weights else CARE if CARE in weights else FINE
    return Comparability(verdict, conditions, matched, shaped, with_shapes)


def _forgiven(condition: Condition, expected: Collection[str]) -> Condition:
    key = condition.key.removesuffix(NOTED)
    if condition.alike or not {key, _KIND.get(key, key)} & set(expected):
        return condition
    return Condition(
        condition.key, condition.base, condition.new, False, FINE, condition.sentence, expected=True
    )


# what --expect calls the conditions
_KIND = {
    "device model": "device", "device count": "device", "driver and framework": "versions",
    "compared steps": "steps", "ranks": "ranks", "graph launches": "graphs", "loader": "workers",
    "matched work": "shapes", "work with shapes": "shapes", "shapes": "shapes",
    **{f"profiler: {s}": "profiler" for s in SWITCHES}, "profiler switches": "profiler", **NOTED_KINDS,
}  # fmt: skip


def _measured(base: Side, new: Side) -> list[Condition]:
    """Compare what was measured: device work, coverage, steps, graphs, kinds of numbers."""
    found: list[Condition] = []
    kernels = base.conditions["kernels"], new.conditions["kernels"]
    empty = not kernels[0] or not kernels[1]
    found.append(
        Condition("device work", _kernels(kernels[0]), _kernels(kernels[1]), not empty, REFUSED if empty else FINE,
                  f"{'one side has' if any(kernels) else 'both sides have'} no kernels" if empty else "")
    )  # fmt: skip
    records = [_records(side) for side in (base, new)]
    lost = records != [_COMPLETE, _COMPLETE]
    found.append(
        Condition("device records", records[0], records[1],
                  not lost, REFUSED if lost else FINE,
                  "device records are missing for more than 1 % of the launches of a side" if lost else "")
    )  # fmt: skip
    steps = (base.samples, new.samples)
    if any(steps):
        found.append(
            compared("compared steps", steps, CARE, "the number of complete steps differs")
        )  # fmt: skip
    graphs = tuple((side.conditions["graph share"] or 0) > 0.5 for side in (base, new))
    found.append(
        compared("graph launches", (graphs[0], graphs[1]), CARE, "one side replays graphs: the host does other work")
    )  # fmt: skip
    linked = tuple(bool(side.conditions["linked"]) for side in (base, new))
    if not all(linked) and not empty:
        found.append(
            Condition("launches linked", text_of(linked[0]), text_of(linked[1]), linked[0] == linked[1], CARE,
                      "kernels are not linked to launches: they are matched by name")
        )  # fmt: skip
    return found


def _kernels(number: int) -> str:
    return f"{count(number)} kernels"


_COMPLETE = "complete"


def _records(side: Side) -> str:
    few = (side.conditions["launches"] or 0) < FEWEST_LAUNCHES
    return _COMPLETE if side.conditions["reliable"] or few else "missing for some launches"
