"""The same kernels in the same order, over and over, each launched on its own."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.events import Flag, Kind
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.findings.said import KERNELS, Row
from traceview.units import count, share

SLUG = "repeated-sequences"
LENGTHS = (64, 32, 16, 8)
FEWEST = 8  # repetitions
LEAST_COVER = 0.5  # of the stream's kernels
LONGEST_GAP_NS = 100_000
ADVICE = "Capture the sequence once as a CUDA graph and replay it, or let torch.compile fuse it."
_FACTOR = np.uint64(1_099_511_628_211)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where a sequence fills half of the busiest stream and its inner gaps add up."""
    trace = analysis.trace
    s = trace.slices
    rows = trace.rows_of(Kind.KERNEL)
    rows = rows[(s.flags[rows] & (Flag.GRAPH | Flag.UNTIMED | Flag.DUPLICATE)) == 0]
    if len(rows) < FEWEST * LENGTHS[-1]:
        return None
    main = np.bincount(s.track[rows], s.dur[rows]).argmax()
    rows = rows[s.track[rows] == main]
    for length in LENGTHS:
        repeated, inside = _repeats(s.name[rows], length)
        if repeated >= FEWEST and inside.mean() >= LEAST_COVER:
            break
    else:
        return None
    # a gap lies inside where the kernels on both sides of it do
    at = np.searchsorted(s.start[rows], analysis.gaps.start, "right")
    within = (
        (at > 0) & (at < len(rows)) & inside[np.maximum(at - 1, 0)] & inside[np.minimum(at, len(rows) - 1)]
    )
    found = idle(analysis, "host_late", "inside_launch", "in_flight", longest=LONGEST_GAP_NS, among=within)
    cost = found.total
    if not worth_saying(analysis, cost):
        return None
    sentence = (
        f"A sequence of {length} kernels repeats {count(repeated)} times and makes up {share(float(inside.mean()))} of the "
        f"stream's kernels, each launched on its own; waiting for launches inside it adds up to {of_base(analysis, cost)}."
    )
    first = Row(KERNELS, trace.names[int(s.name[rows[np.argmax(inside)]])])
    evidence = (
        ("kernels in the sequence", str(length)),
        ("begins with", (first,)),
        ("repetitions", count(repeated)),
    )
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", cost, window=found.window)


def _repeats(names: np.ndarray, length: int) -> tuple[int, np.ndarray]:
    """Return how often the most frequent sequence occurs, and which kernels lie inside one of its occurrences."""
    inside = np.zeros(len(names), bool)
    if len(names) < 2 * length:
        return 0, inside
    codes = names.astype(np.uint64) + np.uint64(1)
    mark = np.zeros(len(names) - length + 1, np.uint64)
    for i in range(length):
        mark = mark * _FACTOR + codes[i : len(codes) - length + 1 + i]
    _, place, times = np.unique(mark, return_inverse=True, return_counts=True)
    at = np.flatnonzero(place == times.argmax())
    apart: list[int] = []
    for i in at.tolist():
        if not apart or i >= apart[-1] + length:
            apart.append(i)
            inside[i : i + length] = True
    return len(apart), inside


RULE = Rule(SLUG, "A sequence worth a graph", check)
