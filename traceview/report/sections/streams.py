"""Streams: how many work at once, which run side by side, and which only take turns."""

from __future__ import annotations

from traceview.analyses.streams import PAIRED
from traceview.report.context import NO_KERNELS, Context
from traceview.report.view import Block, Cell, Column, SectionView, TableView
from traceview.units import count, shown

TIMES = (
    Column("device", "Device", "text"),
    Column("stream", "Stream", "text"),
    Column("records", "Records", "count", "timed kernels, copies and fills"),
    Column("busy", "Busy ms", "ms", "union of its records", bar=True),
    Column("sum", "Sum ms", "ms", "added durations"),
    Column("own_overlap", "Own overlap ms", "ms", "sum − busy: records of this one stream side by side"),
    Column("alone", "Alone ms", "ms", "time in which no other stream of the device works"),
)
CONCURRENCY = (
    Column("device", "Device", "text"),
    Column("streams", "Streams at once", "count"),
    Column("time", "Time ms", "ms", bar=True),
)
PAIRS = (
    Column("device", "Device", "text"),
    Column("left", "Stream", "text"),
    Column("right", "Smaller stream", "text"),
    Column("overlap", "Overlap ms", "ms", "time in which both work", bar=True),
    Column("share", "Of the smaller %", "share", "overlap by the busy time of the smaller stream"),
)
MOST_ROWS = 100
NOTE = (
    "Busy is a union, so the times of a device's rows under “Streams at once” add up to its busy time. Streams that have "
    "work and never overlap take turns: see the finding serial-streams for what could have run side by side."
)


def build(context: Context) -> SectionView:
    """Show streams, concurrency and pairs."""
    found = context.analysis.streams
    if not len(found.times):
        return SectionView("streams", "Streams", empty=NO_KERNELS)
    blocks: list[Block] = [
        _table("streams", "streams", TIMES, found.times, 3),
        _table("concurrency", "numbers of streams", CONCURRENCY, found.concurrency, 2),
    ]
    if len(found.pairs):
        blocks.append(_table("stream-pairs", "pairs of streams", PAIRS, found.pairs, 3))
    note = NOTE
    if len(found.times) > PAIRED:
        note += f" Pairs are of the {count(PAIRED)} busiest streams of a device."
    return SectionView("streams", "Streams", note, tuple(blocks))


def _table(name: str, noun: str, columns: tuple[Column, ...], table: object, sort: int) -> TableView:
    values = [getattr(table, c.key).tolist() for c in columns]
    rows: list[tuple[Cell, ...]] = [
        tuple(shown(v) if isinstance(v, str) else v for v in row) for row in zip(*values, strict=True)
    ]
    rest = len(rows) - MOST_ROWS
    others = f"{rest:,} further {noun}." if rest > 0 else ""
    return TableView(name, noun, columns, tuple(rows[:MOST_ROWS]), sort=sort, page=10, others=others)
