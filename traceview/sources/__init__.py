"""Read trace files: bytes to columns. `read_trace` is the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from traceview.events import Trace
from traceview.sources.assemble import assemble
from traceview.sources.container import Container
from traceview.sources.dialects import DIALECTS
from traceview.sources.parts import parts_for, read_in_parts
from traceview.sources.reader import check_used, collector_off, read_document

__all__ = ["DIALECTS", "read_blocks", "read_trace"]


def read_trace(
    path: str | Path, progress: Callable[[int], None] | None = None, parts: int | None = None
) -> Trace:
    """Read a Chrome trace file ("-": standard input), plain, gzip, zip, UTF-8 or UTF-16.

    `progress` is called now and then with the number of events read. A big file is read by as many
    processes as there are cores (at most four) unless `parts` says how many. Raises InputError when the
    file cannot be read or holds no event that can be used.
    """
    parts = (parts or parts_for(Path(path))) if str(path) != "-" else 1
    if parts > 1:
        document, damage, name = read_in_parts(Path(path), parts, progress)
    else:
        container = Container(path)
        try:
            document = read_document(container.name, container.blocks(), progress)
        finally:
            container.close()
        damage, name = container.damage, container.name
    check_used(name, document)
    document.log.note("truncated_input", damage.cut)
    document.log.note("trailing_data", damage.trailing)
    with collector_off():
        return assemble(document, name)


def read_blocks(blocks: Iterable[bytes], name: str = "trace.json") -> Trace:
    """Read a trace from blocks of UTF-8 text."""
    document = read_document(name, blocks)
    check_used(name, document)
    return assemble(document, name)
