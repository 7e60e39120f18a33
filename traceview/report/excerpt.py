"""Choose the slices of a trace to export: all, those of chosen steps, or those of a window of time.

Nothing is clipped: what a window touches is kept whole, with the calls that launched its device work
and all the work of the launches that are kept, so that no link is cut.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from traceview.analyses import Choice, load_rules
from traceview.analyses.selection import cut_to
from traceview.analyses.workspace import Workspace
from traceview.errors import UsageError
from traceview.events import DEVICE_WORK, HOST_CALLS, Flag, Kind, Trace
from traceview.units import middle

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
_TIME = re.compile(rf"(\d{{1,12}}(?:\.\d{{1,9}})?)\s*({'|'.join(_UNITS)})|0")
_HINT = "write --window 12.5ms:30ms, with units ns, us, ms or s; either side may be missing"


class Window(NamedTuple):
    """Hold a window of time, in ns from the trace's first event; its end is not in it."""

    first: int
    last: int

    @classmethod
    def parsed(cls, text: str) -> Window:
        """Read START:END, such as 12.5ms:30ms; either side may be missing."""
        first, colon, last = text.partition(":")
        if not colon or not (first.strip() or last.strip()):
            raise UsageError(f"--window {middle(text, 40)!r} is no window of time", _HINT)
        found = cls(_ns(first, 0), _ns(last, int(np.iinfo(np.int64).max)))
        if found.last <= found.first:
            raise UsageError(
                f"--window {middle(text, 40)} ends before it begins", "write the earlier time first"
            )
        return found


def _ns(text: str, missing: int) -> int:
    if not text.strip():
        return missing
    found = _TIME.fullmatch(text.strip())
    if not found:
        raise UsageError(f"{middle(text, 40)!r} is no time", _HINT)
    return int(Decimal(found[1]) * _UNITS[found[2]]) if found[1] else 0


def rows_of_steps(trace: Trace, choice: Choice) -> np.ndarray:
    """Return the rows of chosen steps, as `analyze` takes them; raises UsageError where none is meant."""
    marked = choice.marked(trace)
    _, place = cut_to(Workspace(marked, load_rules()), marked.steps, choice.places(marked.steps))
    return np.flatnonzero(place[:-1] >= 0)


def rows_of_window(trace: Trace, window: Window) -> np.ndarray:
    """Return the rows that a window touches, with their launches and the work of these."""
    s = trace.slices
    kept = (s.start < window.last) & (s.start + np.maximum(s.dur, 1) > window.first)
    kept &= trace.timed & (s.kind != Kind.SPAN)
    linked = np.flatnonzero(np.isin(s.kind, DEVICE_WORK) & (s.link >= 0))
    kept[s.link[linked[kept[linked]]]] = True
    kept[linked] |= kept[s.link[linked]]
    kept[linked] &= trace.timed[linked]
    _with_inner_calls(trace, kept)
    return np.flatnonzero(kept)


def _with_inner_calls(trace: Trace, kept: np.ndarray) -> None:
    """Keep the driver calls inside the kept calls: the correlation may be theirs."""
    s = trace.slices
    calls = np.flatnonzero(np.isin(s.kind, HOST_CALLS))
    if not len(calls):
        return
    calls = calls[np.lexsort((calls, s.track[calls]))]  # rows ascend by start on each track
    outer = (s.flags[calls] & Flag.NESTED_CALL) == 0
    holder = np.maximum.accumulate(np.where(outer, np.arange(len(calls)), 0))
    inner = np.flatnonzero(~outer & (s.track[calls] == s.track[calls[holder]]))
    kept[calls[inner]] = kept[calls[holder[inner]]]
