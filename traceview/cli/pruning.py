"""What `traceview prune` does between its options and its lines."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from traceview.capture.retention import Condemned, Limits, captures, delete, judged
from traceview.cli.streams import say
from traceview.errors import OutputError, UsageError
from traceview.units import data_size, plural, safe

_SAID = 5  # files that are still there, by name


def prune_folder(folder: str, limits: Limits, yes: bool) -> int:
    """Delete what the limits condemn, or list it; return the exit status."""
    if not folder.strip():  # a variable that is not set; it must not mean the folder one is in
        raise UsageError("no folder was named", "name the folder of the traces; '.' is the one you are in")
    root = Path(folder)
    found = captures(root)
    entries = judged(found, limits, time.time())
    going = [e for e in entries if not e.held]
    for entry in going:
        say(_line(entry, root), err=False)
    for why, number in Counter(e.held for e in entries if e.held).items():
        stays = "stays" if number == 1 else "stay"
        say(safe(f"{plural(number, 'capture')} beyond the limits {stays}: {why}"), err=False)
    if yes:
        _delete(going, root, len(found))
    else:
        of = f"{plural(len(going), 'capture')} of {len(found)}"
        total = data_size(sum(e.capture.size for e in going))
        say(f"would delete {of}, {total}{'; --yes deletes' if going else ''}", err=False)
    return 0


def _delete(going: Sequence[Condemned], root: Path, of: int) -> None:
    """Delete captures, and say how many went whole, how many in part, and which files are still there."""
    freed, whole, parts, failed = 0, 0, 0, list[str]()
    for entry in going:
        size, wrong = delete(entry.capture, root)
        freed += size
        failed += wrong
        whole += not wrong
        parts += bool(wrong and size)
    part = f" and parts of {plural(parts, 'capture')}" if parts else ""
    say(f"deleted {plural(whole, 'capture')}{part} of {of}, {data_size(freed)}", err=False)
    if failed:
        more = f" and {len(failed) - _SAID} more" if len(failed) > _SAID else ""
        raise OutputError(
            f"not deleted: {'; '.join(failed[:_SAID])}{more}", "check the permissions, or run it again"
        )


def _line(entry: Condemned, root: Path) -> str:
    capture = entry.capture
    place = Path(os.path.commonpath([f.path.parent for f in capture.files])).relative_to(root)
    written = time.strftime("%Y-%m-%d %H:%M", time.localtime(capture.written))
    called = f"{capture.label}{capture.where}"
    name = safe(called if str(place) == "." else f"{place}/{called}")
    return (
        f"{name}  {plural(len(capture.files), 'file')}, {data_size(capture.size)}, {written}: {entry.reason}"
    )
