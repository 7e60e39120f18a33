"""The clock of the timeline: whole units from its first slice, few enough for JavaScript's numbers.

A unit is 1 ns, and 2, 4, 8, … ns in a trace that spans more than seven weeks, as one stray stamp makes it.
Powers of two keep the page's arithmetic exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_BITS = 52  # of 53: latencies are folded to twice their size


class Clock(NamedTuple):
    """Hold the time zero, in ns of the trace, and the length of a unit in ns."""

    zero: int = 0
    unit: int = 1

    def at(self, times: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return times of the trace in units from zero, rounded down: their order stays."""
        return self.length(times - self.zero)

    def length(self, ns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return lengths of time in units, rounded down."""
        units: npt.NDArray[np.int64] = ns.astype(np.int64, copy=False) >> (self.unit.bit_length() - 1)
        return units


def clock_of(zero: int, span: int) -> Clock:
    """Return the clock for a span in ns, with the shortest unit that will do."""
    return Clock(zero, 1 << max(span.bit_length() - _BITS, 0))
