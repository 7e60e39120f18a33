"""How much of the work of two runs is known to be the same: operators, shapes, order, loaders, precision."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from traceview.diff.chains import Node
from traceview.diff.conditions import (
    CARE,
    FINE,
    LEAST_MATCHED,
    LEAST_SHAPED,
    REFUSED,
    Condition,
    Matched,
    compared,
)
from traceview.diff.matching import BY_WORK, FAMILY, NAME, Group
from traceview.diff.side import Measured, Rows
from traceview.units import share, shown


def same_work(
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
    found.append(compared("precision", _precision(work), REFUSED, "the most used kinds of numbers differ"))
    if not (work.base.abridged or work.new.abridged):
        found.append(_order(work))
    found.append(
        compared(
            "loader",
            _both(_loaders(work.base), _loaders(work.new)),
            CARE,
            "the data loaders differ, and so does the waiting for them",
        )
    )
    return found


def _order(work: Matched) -> Condition:
    """Compare the order in which operators first launch work, of those that both sides have."""
    left, right = (_first_nodes(side) for side in (work.base, work.new))
    shared = set(left) & set(right)
    alike = [n for n in left if n in shared] == [n for n in right if n in shared]
    texts = [f"{len(nodes)} operators by first launch" for nodes in (left, right)]
    return Condition("order", texts[0], texts[1], alike, FINE if alike else CARE,
                     "" if alike else "operators launch their first work in another order")  # fmt: skip


def _first_nodes(side: Measured) -> list[Node]:
    places = sorted(range(len(side.rows.rows)), key=lambda i: int(side.rows.first[i]))
    return list(dict.fromkeys(side.rows.rows[i].chain[0] for i in places if side.rows.rows[i].chain))


def _both(base: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Return both values, none where a side has none: what is not recorded differs from nothing."""
    return (base, new) if base and new else (None, None)


_LOADER = re.compile(r"_?(?:SingleProcess|MultiProcessing)DataLoaderIter|DataLoader\w*")


def _loaders(side: Measured) -> str | None:
    """Return the data loaders by the names of their ranges, None where there is none."""
    found = {m.group() for name in side.ranges for m in _LOADER.finditer(name)}
    return ", ".join(sorted(shown(f, 60) for f in found)) or None


def _matched(key: str, value: Fraction | None, what: str) -> Condition:
    if value is None:
        return Condition(key, "not recorded", "not recorded", True, FINE)
    text = share(float(value))
    low = value < Fraction(LEAST_MATCHED)
    return Condition(key, text, text, not low, REFUSED if low else FINE, f"only {text} {what}" if low else "")


Counts = Callable[[Rows, int], bool]


def linked(rows: Rows, place: int) -> bool:
    """Tell whether a row's launch is recorded."""
    return rows.rows[place].launched


def shaped_work(rows: Rows, place: int) -> bool:
    """Tell whether an operator around a row's launch has recorded sizes."""
    return any(node.shaped for node in rows.rows[place].chain)


def share_of(work: Matched, counts: Counts | None) -> Fraction | None:
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
                    if linked(side.rows, place):
                        whole += time
                        held += time if shaped_work(side.rows, place) else 0
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
    return _both(found[0], found[1])
