"""Several streams have work and take turns, although the work had been launched."""

from __future__ import annotations

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.events import Flag, Kind
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import of_base, worth_saying
from traceview.findings.said import PAIRS, Row, named
from traceview.intervals import amount_before, union
from traceview.units import duration, share

SLUG = "serial-streams"
LEAST_SHARE = 0.05  # of the device's busy time, that the compute kernels of each stream must have
MOST_OVERLAP = 0.05  # of the smaller stream's busy time
COMPARED = 8  # pairs
ADVICE = (
    "Look for what orders them: the default stream, events waited for too early, kernels that fill the device. Work that "
    "needs the other stream's results cannot run beside it."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where launched kernels of one stream waited while the other worked, and the reverse."""
    pairs = analysis.streams.pairs
    compute = _compute_rows(analysis)
    whole = dict(zip(analysis.gpu_time.device, analysis.gpu_time.busy.tolist(), strict=True))
    found: list[tuple[int, int]] = []
    for i in np.flatnonzero(pairs.share < MOST_OVERLAP).tolist():
        left, right = (
            compute.get((str(pairs.device[i]), str(side[i]))) for side in (pairs.left, pairs.right)
        )
        least = LEAST_SHARE * whole.get(pairs.device[i], 0)
        if left is None or right is None or min(_sum(analysis, left), _sum(analysis, right)) < least:
            continue
        found.append((_could_overlap(analysis, left, right) + _could_overlap(analysis, right, left), i))
        if len(found) == COMPARED:
            break
    if not found:
        return None
    stake, i = max(found)
    left, right = (compute[(str(pairs.device[i]), str(side[i]))] for side in (pairs.left, pairs.right))
    stake = min(stake, _sum(analysis, left), _sum(analysis, right))
    if not worth_saying(analysis, stake):
        return None
    overlap = share(float(pairs.share[i]))
    sentence = (
        f"Streams {named(str(pairs.left[i]))} and {named(str(pairs.right[i]))} of {device_word(analysis.trace)} {named(str(pairs.device[i]))} take turns "
        f"(overlap {overlap} of the smaller): launched kernels waited while the other worked, and could have run beside "
        f"it for up to {of_base(analysis, stake)}."
    )
    evidence = (
        ("kernels of the first", duration(_sum(analysis, left))),
        ("kernels of the second", duration(_sum(analysis, right))),
        ("overlap", (Row(PAIRS, text=overlap, place=i),)),
    )
    return Finding(SLUG, sentence, evidence, ADVICE, "low", stake)


def _compute_rows(analysis: Analysis) -> dict[tuple[str, str], np.ndarray]:
    """Return the timed kernels that are no collectives, by device and stream."""
    trace, s = analysis.trace, analysis.trace.slices
    rows = trace.rows_of(Kind.KERNEL)
    rows = rows[(s.flags[rows] & (Flag.UNTIMED | Flag.DUPLICATE)) == 0]
    communicating = set(analysis.collectives.name.tolist())
    collective = np.array([n in communicating for n in trace.names], bool)
    rows = rows[~collective[s.name[rows]]]
    rows = rows[np.argsort(s.track[rows], kind="stable")]
    tracks, first = np.unique(s.track[rows], return_index=True)
    where = {}
    for track, own in zip(tracks.tolist(), np.split(rows, first[1:]), strict=False):
        at = trace.tracks[track]
        where[(at.device or "", at.stream or "")] = own
    return where


def _sum(analysis: Analysis, rows: np.ndarray) -> int:
    return int(analysis.trace.slices.dur[rows].sum())


def _could_overlap(analysis: Analysis, rows: np.ndarray, others: np.ndarray) -> int:
    """Return how long kernels could have run under the others: ready and waiting then, at most their own length."""
    s = analysis.trace.slices
    free = np.concatenate(([0], np.maximum.accumulate(s.start[rows] + s.dur[rows])[:-1]))
    linked = s.link[rows] >= 0
    rows, free = rows[linked], free[linked]
    call = s.link[rows]
    ready = np.minimum(np.maximum(s.start[call] + s.dur[call], free), s.start[rows])
    busy = union(s.start[others], s.start[others] + s.dur[others])
    waited = amount_before(busy, s.start[rows]) - amount_before(busy, ready)
    return int(np.minimum(waited, s.dur[rows]).sum())


RULE = Rule(SLUG, "Streams that take turns", check, of_idle=False)
