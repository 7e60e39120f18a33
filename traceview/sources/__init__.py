"""Read trace files: bytes to columns. `read_trace` is the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.crew import crew_for

if TYPE_CHECKING:
    from traceview.events import Trace

__all__ = ["read_blocks", "read_trace"]

# what reads is imported inside the functions: the processes that help start first, and start themselves from here


def read_trace(
    path: str | Path, progress: Callable[[int], None] | None = None, parts: int | None = None
) -> Trace:
    """Read a Chrome trace file ("-": standard input), plain, gzip, zip, UTF-8 or UTF-16.

    `progress` is called now and then with the number of events read. A big file is read by as many
    processes as there are cores (at most four) unless `parts` says how many. Raises InputError when the
    file cannot be read or holds no event that can be used.
    """
    crew = crew_for(Path(path), parts) if str(path) != "-" else None
    from traceview.sources.whole import read_file

    return read_file(path, progress, crew)


def read_blocks(blocks: Iterable[bytes], name: str = "trace.json") -> Trace:
    """Read a trace from blocks of UTF-8 text."""
    from traceview.sources.whole import read_text

    return read_text(blocks, name)
