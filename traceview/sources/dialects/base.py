"""What a dialect is: it recognises a file, and says what each lane of events is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

    `calls_by_name`: host lanes mix runtime calls and other ranges, told apart by their names.
    """

    name: str
    title: str
    recognises: Callable[[Hints], bool]
    classify: Callable[[LaneFacts], LaneClass]
    calls_by_name: bool = False
