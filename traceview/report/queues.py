"""Queue depth over time: one line per stream, thinned for charts and documents."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from traceview.analyses.launch_behaviour import DEPTH_POINTS, QueueDepth


class Queue(NamedTuple):
    """Hold how many records of a stream wait, by time (ns); a point holds until the next.

    Of a thinned line `merged` says which points are the most of several: until the next it is at most that.
    """

    device: str
    stream: str
    time: np.ndarray
    depth: np.ndarray
    merged: np.ndarray | None = None

    @property
    def most(self) -> int:
        """Return the deepest point."""
        return int(self.depth.max())


def queues(table: QueueDepth) -> list[Queue]:
    """Return the lines of all streams, in the order of the table."""
    keys = list(zip(table.device.tolist(), table.stream.tolist(), strict=True))
    edges = [0, *(i for i in range(1, len(keys)) if keys[i] != keys[i - 1]), len(keys)] if keys else []
    return [Queue(*keys[a], table.time[a:b], table.depth[a:b]) for a, b in pairwise(edges)]


def thinned(queue: Queue, most: int) -> Queue:
    """Return at most so many points: the deepest of each of equally many neighbours, where these begin."""
    total = len(queue.time)
    number = min(total, most)
    begin = np.arange(number) * total // number
    merged = np.diff(begin, append=total) > 1
    if total >= DEPTH_POINTS:  # the analysis has made stretches of them already
        merged[:] = True
    return queue._replace(
        time=queue.time[begin], depth=np.maximum.reduceat(queue.depth, begin), merged=merged
    )


def deepest(queue: Queue, edges: np.ndarray) -> np.ndarray:
    """Return the deepest point of each stretch between edges; what the queue holds as it begins counts."""
    held = np.searchsorted(queue.time, edges[:-1], "right") - 1
    last = np.searchsorted(queue.time, edges[1:], "left")
    found = [
        int(queue.depth[max(a, 0) : b].max()) if b > max(a, 0) else 0
        for a, b in zip(held.tolist(), last.tolist(), strict=True)
    ]
    return np.array(found, np.int64)
