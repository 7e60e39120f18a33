"""What a dialect is: it recognises a file, and says what each lane of events is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from traceview.events import Kind


class LaneFacts(NamedTuple):
    """Describe one lane as written: phase, category in lower case, ids as texts, labels from M events."""

    cat: str
    pid: str
    tid: str
    process: str
    thread: str
    label: str


class LaneClass(NamedTuple):
    """Say what the slices of a lane are, and for device lanes which device and stream."""

    kind: Kind
    device: str | None = None
    stream: str | None = None
    by_name: bool = False  # the lane mixes kernels, copies, fills and waits: see DEVICE_NAMES


Settle = Callable[[np.ndarray, np.ndarray, np.ndarray, list[str], Sequence[LaneClass]], None]


@dataclass(frozen=True)
class Hints:
    """Describe a whole file, for recognising its dialect."""

    categories: frozenset[str]
    processes: frozenset[str]
    pids: frozenset[str]
    arguments: frozenset[str]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    array_form: bool = False


@dataclass(frozen=True)
class Dialect:
    """Bind a name to the two questions.

    `settle`, where given, sees all slices at once and corrects their kinds in place: (kind, lane and name
    code of each slice, names, the class of each lane).
    `calls_by_name`: host lanes mix runtime calls and other ranges, told apart by their names.
    """

    name: str
    title: str
    recognises: Callable[[Hints], bool]
    classify: Callable[[LaneFacts], LaneClass]
    settle: Settle | None = None
    calls_by_name: bool = False
