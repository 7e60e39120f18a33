"""Which device work of one run corresponds to which of the other: layers, strongest evidence first.

Each row of work is in one group, so every difference is attributed once. A group that only one side
has is new or gone. A layer looks only at what the layers before it left over:

  op        same innermost operator and input shapes
  op family the same, with operators that a compiler numbers taken for one (names.rules)
  ancestor  the innermost operator around both that has the same, recorded input shapes
  name      same kernel name
  family    same name without numbers, hashes, tiles and architecture (names.rules)
  op name   same innermost operator, whatever its shapes
  place     the innermost operator name that is around both: their lowest common ancestor
  category  same category of work
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from traceview.diff.chains import Node
from traceview.diff.names import normalised
from traceview.diff.side import Rows, WorkRow
from traceview.errors import UsageError

OP, OP_FAMILY, ANCESTOR, NAME, FAMILY, OP_NAME, PLACE, CATEGORY, ONE_SIDED = (
    "op", "op family", "ancestor", "name", "family", "op name", "place", "category", "one side",
)  # fmt: skip
BY_WORK = (OP, OP_FAMILY, ANCESTOR)  # the same operator with the same shapes: the same work
LAYERS = {
    "auto": (OP, OP_FAMILY, ANCESTOR, NAME, FAMILY, OP_NAME, PLACE, CATEGORY),
    "exact": (NAME,),
    "name": (NAME, FAMILY),
    "op": (OP, OP_FAMILY, ANCESTOR, OP_NAME),
}
_COARSE = (PLACE, CATEGORY)

Keys = Callable[[WorkRow], Iterable[Hashable]]


@dataclass(frozen=True)
class Group:
    """Hold work that corresponds: places in the rows of both sides, how it was found, and what it is called."""

    layer: str
    label: str
    node: Node | None
    base: tuple[int, ...]
    new: tuple[int, ...]


class KernelPair(NamedTuple):
    """Pair kernels within a group; the empty text stands for none: new or gone."""

    base: str
    new: str
    how: str  # "same name", "same family", "same operator", "new" or "gone"


def match(base: Rows, new: Rows, mode: str = "auto") -> tuple[Group, ...]:
    """Return the groups of all work of both sides; `mode` is one of LAYERS."""
    if mode not in LAYERS:
        raise UsageError(f"unknown matching {mode!r}", f"use one of {', '.join(LAYERS)}")
    left = [list(range(len(base.rows))), list(range(len(new.rows)))]
    found: list[Group] = []
    for layer in LAYERS[mode]:
        while made := _layer(
            layer, (base, new), left
        ):  # what one round leaves may fit at the next operator up
            found += made
    found += [_group(ONE_SIDED, (base, new), ([i], []), None) for i in left[0]]
    found += [_group(ONE_SIDED, (base, new), ([], [i]), None) for i in left[1]]
    return tuple(found)


def _layer(layer: str, sides: tuple[Rows, Rows], left: list[list[int]]) -> list[Group]:
    """Return the groups of one layer, taking their rows out of what is left."""
    keys = _KEYS[layer]
    offered = [[(i, tuple(keys(rows.rows[i]))) for i in own] for rows, own in zip(sides, left, strict=True)]
    chosen = [
        _chosen(offered[side], {key for _, found in offered[1 - side] for key in found}) for side in (0, 1)
    ]
    groups = []
    for key, own in chosen[0].items():
        if other := chosen[1].get(key):
            node = key if isinstance(key, Node) else None
            groups.append(_group(layer, sides, (own, other), node))
    for side in (0, 1):
        taken = {i for g in groups for i in (g.base, g.new)[side]}
        left[side] = [i for i in left[side] if i not in taken]
    return groups


def _chosen(
    offered: list[tuple[int, tuple[Hashable, ...]]], known: set[Hashable]
) -> dict[Hashable, list[int]]:
    """Return rows by the first of their keys that the other side has."""
    found: dict[Hashable, list[int]] = {}
    for i, keys in offered:
        key = next((k for k in keys if k in known), None)
        if key is not None:
            found.setdefault(key, []).append(i)
    return found


def _group(
    layer: str, sides: tuple[Rows, Rows], places: tuple[list[int], list[int]], node: Node | None
) -> Group:
    rows, side = (sides[0], places[0]) if places[0] else (sides[1], places[1])
    one = rows.rows[side[0]]
    if layer in (NAME, ONE_SIDED):
        label = one.kernel
    elif layer == FAMILY:
        label = normalised(one.kernel)
    elif layer == CATEGORY:
        label = one.category
    elif node is not None:
        label = node.op
    else:
        label = one.chain[0].op if one.chain else one.kernel
    return Group(layer, label, node, tuple(places[0]), tuple(places[1]))


def _own_node(row: WorkRow) -> Iterable[Hashable]:
    return row.chain[:1]


def _shaped(row: WorkRow) -> Iterable[Hashable]:
    return (node for node in row.chain if node.shaped)


_KEYS: dict[str, Keys] = {
    OP: _own_node,
    OP_FAMILY: lambda row: (Node(normalised(node.op), node.shapes) for node in row.chain[:1]),
    ANCESTOR: _shaped,
    NAME: lambda row: (row.kernel,),
    FAMILY: lambda row: (normalised(row.kernel),),
    OP_NAME: lambda row: (Node(row.chain[0].op, "") for _ in row.chain[:1]),
    PLACE: lambda row: (Node(node.op, "") for node in row.chain),
    CATEGORY: lambda row: (row.category,),
}


def pairs(group: Group, base: Rows, new: Rows) -> tuple[KernelPair, ...]:
    """Pair the kernels of a group: by name, by family, then in the order in which they first ran.

    Under a common place or category kernels of other names are not the same work: they are new and gone.
    """
    old, fresh = _kernels(group.base, base), _kernels(group.new, new)
    found = [KernelPair(k, k, "same name") for k in old if k in fresh]
    old, fresh = [k for k in old if k not in fresh], [k for k in fresh if k not in old]
    for kernel in list(old):
        twin = next((k for k in fresh if normalised(k) == normalised(kernel)), None)
        if twin is not None:
            found.append(KernelPair(kernel, twin, "same family"))
            old.remove(kernel)
            fresh.remove(twin)
    if group.layer not in _COARSE:
        found += [KernelPair(a, b, "same operator") for a, b in zip(old, fresh, strict=False)]
        shared = min(len(old), len(fresh))
        old, fresh = old[shared:], fresh[shared:]
    found += [KernelPair(k, "", "gone") for k in old]
    found += [KernelPair("", k, "new") for k in fresh]
    return tuple(found)


def _kernels(places: tuple[int, ...], rows: Rows) -> list[str]:
    """Return the kernels of some rows, in the order in which they first ran."""
    return list(dict.fromkeys(rows.rows[i].kernel for i in sorted(places, key=lambda i: int(rows.first[i]))))
