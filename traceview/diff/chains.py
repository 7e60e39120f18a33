"""Under which operators device work was launched: chains of operators, innermost first.

A node is an operator's name and its input shapes as recorded. Marks of steps are no nodes: their
names count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traceview.analyses.grouping import alike
from traceview.analyses.windows import marked_steps
from traceview.analyses.workspace import Workspace


class Node(NamedTuple):
    """Name an operator and its input shapes, "" where they were not recorded."""

    op: str
    shapes: str

    @property
    def shaped(self) -> bool:
        """Tell whether sizes were recorded: lists without a number say nothing about the work."""
        return any(c.isdigit() for c in self.shapes)


Chain = tuple[Node, ...]


class Chains(NamedTuple):
    """Hold each distinct chain once, and which one each timed device record has (-1: no operator)."""

    chains: list[Chain]
    of_work: np.ndarray


def chains(workspace: Workspace) -> Chains:
    """Return the operators around the launch of each timed device record."""
    at = _without_steps(workspace, workspace.op_of_work)
    parent = _parents(workspace, at)
    levels = _levels(parent, at)
    code = np.full(len(workspace.nesting.rows) + 1, -1, np.int64)  # the last place stands for "none"
    node_of, nodes = _nodes(workspace, np.concatenate(levels) if levels else np.empty(0, np.int64))
    found: list[Chain] = []
    for positions in reversed(levels):  # the outermost first: a chain is a node in front of its parent's
        above = code[parent[positions]]
        own = node_of[positions]
        first, group = alike(own, above)
        code[positions] = group + len(found)
        found += [
            (nodes[n], *(found[a] if a >= 0 else ()))
            for n, a in zip(own[first].tolist(), above[first].tolist(), strict=True)
        ]
    return Chains(found, code[at])


def _without_steps(workspace: Workspace, at: np.ndarray) -> np.ndarray:
    """Return operators (positions of the nesting, -1 for none), those that mark steps replaced by what is above."""
    steps = marked_steps(workspace.trace).row
    marks = np.zeros(len(workspace.nesting.rows) + 1, bool)
    places = workspace.nesting.at(steps)
    marks[places[places >= 0]] = True
    marks[-1] = False
    at = at.astype(np.int64)
    while (inside := np.flatnonzero(marks[at])).size:
        at[inside] = workspace.innermost_op(workspace.nesting.parent[at[inside]])
    return at


def _parents(workspace: Workspace, at: np.ndarray) -> np.ndarray:
    """Return for each position of the nesting the next operator above that marks no step, -1 for none."""
    parent = np.full(len(workspace.nesting.rows) + 1, -1, np.int64)
    asked = np.unique(at[at >= 0])
    while len(asked):
        above = workspace.innermost_op(workspace.nesting.parent[asked])
        parent[asked] = _without_steps(workspace, above)
        asked = np.unique(parent[asked])
        asked = asked[asked >= 0]
    return parent


def _levels(parent: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
    """Return the operators asked for and all above them, so that each list only has parents in later ones."""
    seen = np.unique(at[at >= 0])
    every = [seen]
    while len(seen):
        seen = np.unique(parent[seen])
        seen = seen[seen >= 0]
        every.append(seen)
    # an operator may be asked for itself and be above others: it counts at its highest place
    last = np.full(len(parent), -1, np.int64)
    for height, positions in enumerate(every):
        last[positions] = height
    return [p[last[p] == height] for height, p in enumerate(every) if len(p)]


def _nodes(workspace: Workspace, positions: np.ndarray) -> tuple[np.ndarray, list[Node]]:
    """Return a code per position of the nesting (where asked for), and the nodes by code."""
    trace = workspace.trace
    rows = workspace.nesting.rows[positions].astype(np.int64)
    dims = trace.arg("input_dims")
    keys = (trace.slices.name[rows].astype(np.int64), dims.lookup(rows, -1).astype(np.int64))
    first, group = alike(*keys)
    codes = np.full(len(workspace.nesting.rows) + 1, -1, np.int64)
    codes[positions] = group
    texts = dims.texts or []
    nodes = [
        Node(trace.names[n], texts[d] if d >= 0 else "")
        for n, d in zip(*(key[first].tolist() for key in keys), strict=True)
    ]
    return codes, nodes
