"""What `traceview prune` does between its options and its lines."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from traceview.capture.retention import Condemned, Limits, captures, delete, judged
from traceview.cli.streams import say
from traceview.errors import OutputError
from traceview.units import data_size, plural, safe


def prune_folder(folder: str, limits: Limits, yes: bool) -> int:
    """Delete what the limits condemn, or list it; return the exit status."""
    root = Path(folder)
    found = captures(root)
    entries = judged(found, limits, time.time())
    going = [e for e in entries if not e.held]
    for entry in going:
        say(_line(entry, root), err=False)
    total = data_size(sum(e.capture.size for e in going))
    of = f"{plural(len(going), 'capture')} of {len(found)}"
    for why, number in Counter(e.held for e in entries if e.held).items():
        say(
            f"{plural(number, 'capture')} beyond the limits {'stays' if number == 1 else 'stay'}: {why}",
            err=False,
        )
    if not yes:
        say(f"would delete {of}, {total}{'; --yes deletes' if going else ''}", err=False)
        return 0
    freed, failed = 0, []
    for entry in going:
        size, wrong = delete(entry.capture, root)
        freed += size
        failed += wrong
    say(f"deleted {data_size(freed)} of {total}, {of}", err=False)
    if failed:
        raise OutputError(f"not deleted: {'; '.join(failed[:5])}", "check the permissions, or run it again")
    return 0


def _line(entry: Condemned, root: Path) -> str:
    capture = entry.capture
    place = capture.files[0].path.parent.relative_to(root)
    written = time.strftime("%Y-%m-%d %H:%M", time.localtime(capture.written))
    called = f"{capture.label}{capture.where}"
    name = safe(called if str(place) == "." else f"{place}/{called}")
    return (
        f"{name}  {plural(len(capture.files), 'file')}, {data_size(capture.size)}, {written}: {entry.reason}"
    )
