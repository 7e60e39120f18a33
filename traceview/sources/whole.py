"""Read a whole file or text into a trace: container, reader, and what assembles a trace of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from traceview.crew import Crew
from traceview.events import Trace
from traceview.sources.assemble import assemble
from traceview.sources.conditions import read_conditions, with_noted
from traceview.sources.container import Container
from traceview.sources.parts import read_in_parts
from traceview.sources.reader import check_used, collector_off, read_document


def read_file(path: str | Path, progress: Callable[[int], None] | None, crew: Crew | None) -> Trace:
    """Read a file, alone or together with a crew; see `read_trace`."""
    if crew is not None:
        document, damage, name = read_in_parts(Path(path), crew, progress)
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
        trace = assemble(document, name)
    return with_noted(trace, read_conditions(path))


def read_text(blocks: Iterable[bytes], name: str) -> Trace:
    """Read a trace from blocks of UTF-8 text."""
    document = read_document(name, blocks)
    check_used(name, document)
    return assemble(document, name)
