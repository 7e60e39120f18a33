"""The timeline: lanes, one item budget for all of them, and the encoded slices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from traceview.analyses import Analysis
from traceview.analyses.grouping import compact
from traceview.events import Kind, Trace
from traceview.report import palette
from traceview.report.clock import Clock, clock_of
from traceview.report.codec import pack
from traceview.report.details import details
from traceview.report.focus import exact_of, settle, wishes
from traceview.report.lanes import Drawn, draw, not_drawn
from traceview.report.lines import with_queues
from traceview.report.lod import Bars, Items, Windows, join, reduce, touched
from traceview.report.names import NameBook
from traceview.report.origins import origins, zigzag
from traceview.report.view import FindingsView, Legend, TimelineView, Window
from traceview.units import count, duration

GPU_SHARE = 0.6  # of the budget, before the host gets any
HOST_SHARE = 0.75  # of what then remains, before Python frames get any
ENTRIES = 32_000  # distinct (name, colour) pairs: an entry has 15 bits, the 16th marks a block
CLASSES = 32  # an entry is name code * CLASSES + colour class
_STEPS = 20_000
_BLOCK = 0x8000
OTHER_NAMES = "(other names)"


class Timeline:
    """Hold the rows of a timeline, so that it can be encoded again within a smaller budget."""

    def __init__(self, analysis: Analysis, findings: FindingsView | None = None) -> None:
        self.analysis, self.trace = analysis, analysis.trace
        self.legend = palette.classes(analysis)
        self.drawn: Drawn = draw(self.trace)
        self.wished = wishes(analysis, findings)

    def __len__(self) -> int:
        return self.drawn.slices

    def view(self, names: NameBook, budget: int) -> TimelineView | None:
        """Reduce to the budget and encode; None where there is nothing to draw."""
        if not self.drawn.slices:
            return None
        windows = settle(self.drawn.tiers, self.wished, budget)
        items = share_budget(self.drawn.tiers, exact_of(windows), budget)
        kinds = classes_of(self.analysis, self.legend, items)
        codes, zero = self.trace.slices.name[items.source], begin_of(self.trace)
        clock = clock_of(zero, self.trace.span_ns)
        layout, columns = encode(items, clock, entries(codes, kinds, self.trace.names, names))
        lanes, lines = with_queues(self.analysis, self.drawn.lanes, clock, windows)
        columns |= origins(self.analysis, replace(self.drawn, lanes=lanes), items, names, clock)
        columns |= {**details(self.trace, items, names), **lines, **step_columns(self.trace, clock)}
        layout["columns"], payload = pack(columns)
        used = set(np.unique(kinds).tolist())
        return TimelineView(
            note=note_of(items, self.drawn, windows, clock),
            legend=tuple(c for i, c in enumerate(self.legend) if i in used),
            lanes=lanes,
            windows=tuple(replace(w, start=max(w.start - zero, 0), end=w.end - zero) for w in windows),
            layout=layout | self._told(),
            payload=payload,
        )

    def _told(self) -> dict[str, Any]:
        """Return what the page needs besides the columns; `whole`: no device work is left out."""
        tokens = [c.token for c in self.legend]
        return {"span": self.trace.span_ns, "tokens": tokens, "whole": self.drawn.whole}


def begin_of(trace: Trace) -> int:
    """Return the time zero of the timeline: the first slice of the trace, drawn or not."""
    return int(trace.slices.start[trace.timed].min())


def classes_of(analysis: Analysis, legend: tuple[Legend, ...], items: Items) -> npt.NDArray[np.uint8]:
    """Return the colour class of every item: kernels by category, the rest by kind."""
    trace = analysis.trace
    place = {c.token: i for i, c in enumerate(legend)}
    by_kind = np.zeros(256, np.uint8)
    for kind in Kind:
        by_kind[kind] = place[palette.TOKEN_OF_KIND[kind]]
    kinds = trace.slices.kind[items.source]
    classes: npt.NDArray[np.uint8] = by_kind[kinds]
    number = {c: i for i, c in enumerate(palette.device_categories(analysis))}
    known = zip(analysis.kernels.name, analysis.kernels.category, strict=True)
    category = {str(n): number.get(str(c), place["other"]) for n, c in known}
    kernels = kinds == Kind.KERNEL
    codes = trace.slices.name[items.source[kernels]]
    of_code = np.full(len(trace.names), place["other"], np.uint8)
    for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
        of_code[code] = category.get(trace.names[code], place["other"])
    classes[kernels] = of_code[codes]
    return classes


def share_budget(tiers: tuple[Bars, ...], windows: Windows, budget: int) -> Items:
    """Reduce tier after tier: the GPU gets its share first, what it leaves goes on to the next."""
    inside = [touched(t, windows) for t in tiers]
    outside = [len(t) - n for t, n in zip(tiers, inside, strict=True)]
    parts: list[Items] = []
    left = budget
    for i, (tier, part) in enumerate(zip(tiers, (GPU_SHARE, HOST_SHARE, 1.0), strict=True)):
        free = max(left - sum(inside[i:]), 0)
        share = max(
            int(free * part), free - sum(outside[i + 1 :])
        )  # what those after it do not need is its own
        items = reduce(tier, share + inside[i], windows)
        parts.append(items)
        left -= len(items)
    return join(parts)


def step_columns(trace: Trace, clock: Clock) -> dict[str, npt.NDArray[Any]]:
    """Return the first steps as columns: number, and in units of the clock the gap between begins, and length."""
    steps = trace.steps.take(np.arange(min(len(trace.steps), _STEPS)))
    return {
        "step_number": zigzag(steps.number.astype(np.int64)),
        "step_gap": np.diff(clock.at(steps.start), prepend=0),
        "step_length": clock.length(steps.dur),
    }


class Entries(NamedTuple):
    """Hold the (name, colour) pairs: the pair of each item, and each pair's name and colour class."""

    of_item: npt.NDArray[Any]
    name: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]


def encode(items: Items, clock: Clock, of: Entries) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the layout and columns of items; raises ValueError for overlap inside a row.

    Per item, in units of the clock: the gap to the item before it in its row (of the first to zero), its
    length; its entry (with bit 15 for a block); per block: its number of slices and the busy share of its
    length in 1/255.
    """
    start, end = clock.at(items.start), clock.at(items.end)
    before = np.zeros(len(items), np.int64)
    before[1:] = end[:-1]
    before[1:][np.diff(items.row) != 0] = 0
    gap = start - before
    if gap.min() < 0:
        raise ValueError("slices overlap inside a row of the timeline")
    block = items.number > 1
    length = np.maximum(items.end - items.start, 1)
    busy = np.clip(items.busy * 255.0 // length, 1, 255)  # as integers the product can be beyond int64
    columns = {
        "gap": gap,
        "length": end - start,
        "entry": of.of_item | np.where(block, _BLOCK, 0),
        "number": items.number[block],
        "busy": busy[block],
        "entry_name": of.name,
        "entry_class": of.kind,
    }
    layout = {"items": len(items), **clock._asdict(), "rows": np.bincount(items.row).tolist()}
    return layout, columns


def entries(codes: npt.NDArray[Any], classes: npt.NDArray[Any], texts: list[str], names: NameBook) -> Entries:
    """Give every (name, colour) pair a number, the frequent first; what is beyond ENTRIES shares one name."""
    used, code = compact(codes, len(texts))
    keys = code.astype(np.int64) * CLASSES + classes
    number = np.bincount(keys)
    distinct = np.flatnonzero(number)
    ordered = distinct[np.argsort(-number[distinct], kind="stable")]
    rank = np.zeros(len(number), np.int64)
    rank[ordered] = np.arange(len(ordered))
    kept = ordered[:ENTRIES]
    name = [names.add(texts[code]) for code in used[kept // CLASSES].tolist()]
    kind = kept % CLASSES
    if len(ordered) > ENTRIES:
        rest = ordered[ENTRIES:]  # all of the rest share the entry ENTRIES + class
        rank[rest] = ENTRIES + rest % CLASSES
        name += [names.add(OTHER_NAMES)] * CLASSES
        kind = np.append(kind, np.arange(CLASSES))
    return Entries(rank[keys], np.array(name, np.int64), kind)


def note_of(items: Items, drawn: Drawn, windows: tuple[Window, ...], clock: Clock) -> str:
    """Say what is exact, what is merged, and what is left out."""
    rest = not_drawn(drawn)
    if clock.unit > 1:
        rest = f"So long a trace is drawn in units of {duration(clock.unit)}; tables are exact. {rest}"
    if items.tau == 0:
        text = f"All {count(drawn.slices)} slices are {'single' if clock.unit > 1 else 'exact'}."
    else:
        number = len(exact_of(windows))
        shaded = "shaded window" if number == 1 else f"{number} shaded windows"
        where = f"in the {shaded} every slice is exact; elsewhere " if number else ""
        text = (
            f"{count(len(items))} items stand for {count(drawn.slices)} slices: {where}"
            f"slices under {duration(items.tau)} are merged into pale blocks (height of the bar: busy share)."
        )
    return f"{text} {rest}".strip()
