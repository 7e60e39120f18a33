"""May these two runs be compared at all: everything that differs, and what follows from it.

Not comparable means that no statement about speed would be one about speed. With care means that the
named difference may be the cause; gates are allowed. An expected difference (--expect) is only named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from traceview.diff.figures import Change
from traceview.diff.matching import BY_WORK, FAMILY, NAME, Group
from traceview.diff.side import Measured, Rows, Side
from traceview.errors import UsageError
from traceview.units import count, share

REFUSED, CARE, FINE = "not comparable", "with care", "comparable"
LEAST_MATCHED = 0.80
LEAST_SHAPED = 0.50
FEWEST_LAUNCHES = 100  # below it a coverage says little
EXPECTABLE = (
    "device", "versions", "steps", "shapes", "precision", "ranks", "profiler", "graphs", "order", "workers",
)  # fmt: skip
_SWITCHES = ("record_shapes", "with_stack", "profile_memory")


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


@dataclass(frozen=True)
class Matched:
    """Hold what was matched, and the side it was matched on."""

    groups: Sequence[Group]
    changes: Sequence[Change]
    base: Measured
    new: Measured


def comparability(base: Side, new: Side, work: Matched, expected: Collection[str] = ()) -> Comparability:
    """Return whether two runs may be compared; `expected` names of EXPECTABLE differ on purpose."""
    for name in expected:
        if name not in EXPECTABLE:
            raise UsageError(f"--expect {name!r} is no condition", f"use one of {', '.join(EXPECTABLE)}")
    matched, shaped, with_shapes = (_share(work, f) for f in (_linked, _shaped, None))
    found = [*_recorded(base, new), *_measured(base, new), *_work(work, matched, shaped, with_shapes)]
    conditions = tuple(_forgiven(c, expected) for c in found)
    weights = {c.weight for c in conditions}
    verdict = REFUSED if REFUSED in weights else CARE if CARE in weights else FINE
    return Comparability(verdict, conditions, matched, shaped, with_shapes)


def _forgiven(condition: Condition, expected: Collection[str]) -> Condition:
    kind = _KIND.get(condition.key, condition.key)
    if condition.alike or kind not in expected:
        return condition
    return Condition(
        condition.key, condition.base, condition.new, False, FINE, condition.sentence, expected=True
    )


# what --expect calls the conditions
_KIND = {
    "device model": "device", "device count": "device", "driver and framework": "versions",
    "compared steps": "steps", "ranks": "ranks", "graph launches": "graphs", "loader": "workers",
    "matched work": "shapes", "work with shapes": "shapes", "shapes": "shapes",
    **{f"profiler: {s}": "profiler" for s in _SWITCHES}, "profiler switches": "profiler",
}  # fmt: skip


def _compared(key: str, values: tuple[Any, Any], weight: str, sentence: str) -> Condition:
    """Return a condition; the sentence holds where the values differ."""
    left, right = (_text(v) for v in values)
    alike = values[0] == values[1]
    return Condition(key, left, right, alike, FINE if alike else weight, "" if alike else sentence)


def _text(value: Any) -> str:
    if value is None:
        return "not recorded"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {v}" for k, v in value.items()) or "not recorded"
    return str(value)


def _recorded(base: Side, new: Side) -> list[Condition]:
    """Compare what the profilers recorded about the runs."""
    left, right = base.conditions, new.conditions
    found = [
        _compared(
            "device model", (left["device"], right["device"]), CARE,
            "the devices differ: times compare, occupancy and bandwidth shares are clues only",
        ),
        _compared(
            "device count", (left["device count"], right["device count"]), CARE, "the number of devices differs"
        ),
        _compared(
            "ranks", (left["world size"], right["world size"]), REFUSED, "the number of ranks differs"
        ),
        _compared(
            "driver and framework", (left["versions"], right["versions"]), CARE, "versions differ"
        ),
    ]  # fmt: skip
    switches = left["switches"], right["switches"]
    if not any(switches):
        found.append(
            Condition("profiler switches", "not recorded", "not recorded", True, CARE,
                      "the profiler's switches are not recorded: they may differ")
        )  # fmt: skip
        return found
    for name in _SWITCHES:
        pair = tuple(_switch(s.get(name)) for s in switches)
        weight = REFUSED if None not in pair else CARE
        found.append(
            _compared(f"profiler: {name}", (pair[0], pair[1]), weight,
                      f"the profiler's {name} differs, and so does its overhead")
        )  # fmt: skip
    return found


def _switch(value: Any) -> bool | None:
    return None if value is None else bool(value)


def _measured(base: Side, new: Side) -> list[Condition]:
    """Compare what was measured: device work, coverage, steps, graphs, kinds of numbers."""
    found: list[Condition] = []
    kernels = base.conditions["kernels"], new.conditions["kernels"]
    empty = not kernels[0] or not kernels[1]
    found.append(
        Condition("device work", _kernels(kernels[0]), _kernels(kernels[1]), not empty, REFUSED if empty else FINE,
                  "one side has no kernels" if empty else "")
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
            _compared("compared steps", steps, CARE, "the number of complete steps differs")
        )  # fmt: skip
    graphs = tuple((side.conditions["graph share"] or 0) > 0.5 for side in (base, new))
    found.append(
        _compared("graph launches", (graphs[0], graphs[1]), CARE, "one side replays graphs: the host does other work")
    )  # fmt: skip
    linked = tuple(bool(side.conditions["linked"]) for side in (base, new))
    if not all(linked) and not empty:
        found.append(
            Condition("launches linked", _text(linked[0]), _text(linked[1]), linked[0] == linked[1], CARE,
                      "kernels are not linked to launches: they are matched by name")
        )  # fmt: skip
    return found


def _kernels(number: int) -> str:
    return f"{count(number)} kernels"


_COMPLETE = "complete"


def _records(side: Side) -> str:
    few = (side.conditions["launches"] or 0) < FEWEST_LAUNCHES
    return _COMPLETE if side.conditions["reliable"] or few else "missing for some launches"


def _work(
    work: Matched, matched: Fraction | None, shaped: Fraction | None, with_shapes: Fraction | None
) -> list[Condition]:
    """Say how much of the work is known to be the same."""
    found = [
        _matched("matched work", matched, "of the linked device time was launched by the same operators"),
        _matched(
            "shapes", shaped, "of the device time with recorded shapes was launched by the same operators and shapes"
        ),
    ]  # fmt: skip
    low = with_shapes is not None and with_shapes < Fraction(LEAST_SHAPED)
    if with_shapes is not None:
        text = share(float(with_shapes))
        found.append(
            Condition("work with shapes", text, text, not low, CARE if low else FINE,
                      "shapes are recorded for less than half of the device time, so the work is not verified: "
                      "inputs of another size would look the same" if low else "")
        )  # fmt: skip
    precision = _precision(work)
    found.append(_compared("precision", precision, REFUSED, "the most used kinds of numbers differ"))
    return found


def _matched(key: str, value: Fraction | None, what: str) -> Condition:
    if value is None:
        return Condition(key, "not recorded", "not recorded", True, FINE)
    text = share(float(value))
    low = value < Fraction(LEAST_MATCHED)
    return Condition(key, text, text, not low, REFUSED if low else FINE, f"only {text} {what}" if low else "")


Counts = Callable[[Rows, int], bool]


def _linked(rows: Rows, place: int) -> bool:
    return rows.rows[place].launched


def _shaped(rows: Rows, place: int) -> bool:
    return any(node.shaped for node in rows.rows[place].chain)


def _share(work: Matched, counts: Counts | None) -> Fraction | None:
    """Return the share of the device time of both sides that is matched as the same work.

    Of the time for which `counts` holds; None where there is none. Without `counts`: the share of the
    linked time that has shapes.
    """
    held, whole = Fraction(0), Fraction(0)
    for group in work.groups:
        for side, places in ((work.base, group.base), (work.new, group.new)):
            for place in places:
                time = Fraction(int(side.rows.sum[place]), side.units)
                if counts is None:
                    if _linked(side.rows, place):
                        whole += time
                        held += time if _shaped(side.rows, place) else 0
                elif counts(side.rows, place):
                    whole += time
                    held += time if _same(group, work) else 0
    return held / whole if whole else None


def _same(group: Group, work: Matched) -> bool:
    """Tell whether a group is the same work: by operator and shapes, or by name where a side has no operators."""
    if group.layer in BY_WORK:
        return True
    sides = ((work.base, group.base), (work.new, group.new))
    without = any(all(not side.rows.rows[p].chain for p in places) for side, places in sides)
    return group.layer in (NAME, FAMILY) and without


_PRECISIONS = (
    ("fp8", ("e4m3", "e5m2", "fp8", "float8")), ("bf16", ("bf16", "bfloat16", "BFloat16")),
    ("fp16", ("fp16", "half", "Half", "f16", "h16816", "HHS", "hgemm")),
    ("fp64", ("double", "f64", "dgemm", "fp64")),
)  # fmt: skip


def _precision(work: Matched) -> tuple[str | None, str | None]:
    """Return the kind of numbers that most GEMM, convolution and attention time of each side is of; None: not told.

    A clue from names of kernels of one matched operator only counts where both sides tell one.
    """
    found = []
    for side in (work.base, work.new):
        times: dict[str, int] = {}
        for row, ns in zip(side.rows.rows, side.rows.sum.tolist(), strict=True):
            if row.category in ("GEMM / conv", "attention"):
                kind = next((k for k, words in _PRECISIONS if any(w in row.kernel for w in words)), "")
                times[kind] = times.get(kind, 0) + ns
        best = max(times, key=lambda k: times[k], default="")
        found.append(best or None)
    return (found[0], found[1]) if None not in found else (None, None)
