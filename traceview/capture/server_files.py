"""Watch a folder for traces that somebody else writes: which are new, which are whole, which are not yet.

Content decides: a text or a picture beside the traces is passed over. A file that is named as a trace and ends in its
middle, or is empty, is on its way, even where its event list has not come.
"""

from __future__ import annotations

import stat
import time
from pathlib import Path

from traceview.errors import InputError
from traceview.sources.choose import is_trace, is_whole_trace
from traceview.sources.container import Container

_NAMED = (".json", ".json.gz")
_END = 64  # bytes, within which the last bracket stands
_SHOWN = 8  # names of files in a sentence
_State = tuple[int, int]  # size, time of the last change


class NewFiles:
    """Tell which files of a folder are new or changed since this was made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = _states(folder)
        self._new: dict[Path, _State] = {}
        self._judged: dict[tuple[Path, _State], bool | None] = {}
        self._changed = time.monotonic()

    def look(self) -> bool:
        """Look again; tell whether there are new files. What has not changed since the last look is judged."""
        new = {p: s for p, s in _states(self._folder).items() if self._before.get(p) != s}
        for path, state in new.items():
            if self._new.get(path) == state and (path, state) not in self._judged:
                self._judged[path, state] = _is_whole(path)
        if new != self._new:
            self._new, self._changed = new, time.monotonic()
        return bool(new)

    @property
    def quiet_s(self) -> float:
        """Return for how many seconds no new file has come, grown or gone."""
        return time.monotonic() - self._changed

    @property
    def whole(self) -> list[Path]:
        """Return the new traces that have their end."""
        return sorted(p for p, s in self._new.items() if self._judged.get((p, s)))

    @property
    def unfinished(self) -> list[Path]:
        """Return the new traces that lack their end, and what was not judged yet."""
        return sorted(p for p, s in self._new.items() if self._judged.get((p, s), False) is False)


def names(paths: list[Path]) -> str:
    """Name files in a sentence."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(p.name for p in paths[:_SHOWN]) + more


def _states(folder: Path) -> dict[Path, _State]:
    found = {}
    for path in folder.rglob("*"):
        try:
            status = path.stat()
        except OSError:
            continue  # gone meanwhile, or a link to nowhere
        if stat.S_ISREG(status.st_mode) and not path.name.startswith("."):
            found[path] = (status.st_size, status.st_mtime_ns)
    return found


def _is_whole(path: Path) -> bool | None:
    """Tell whether a trace is whole; None for what is no trace."""
    if is_whole_trace(path):
        return True
    if is_trace(path) or (path.name.lower().endswith(_NAMED) and _is_cut(path)):
        return False
    return None


def _is_cut(path: Path) -> bool:
    """Tell whether a text ends in its middle, is empty or cannot be read."""
    try:
        container = Container(path)
    except InputError:
        return True
    end = b""
    try:
        for block in container.blocks():
            end = (end + block)[-_END:]
    except InputError:
        return True
    finally:
        container.close()
    return bool(container.damage.cut) or not end.rstrip().endswith((b"}", b"]"))
