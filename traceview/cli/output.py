"""Write results: never over an existing file unasked, never half."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import click

from traceview.errors import OutputError, UsageError
from traceview.units import middle

STANDARD = "-"
_SUFFIXES = re.compile(r"(?:\.pt)?(?:\.trace)?(?:\.(?:json|gz|zip))*$", re.IGNORECASE)
_LONGEST_NAME = 255  # bytes that file systems allow
_SHOWN = 80  # characters of a path in a message


def derived_name(trace: str, ending: str = ".html") -> str:
    """Return the page's name beside the trace: run.pt.trace.json.gz gives run.html, "-" gives trace.html.

    A name that would be too long for a file is cut.
    """
    if trace == STANDARD:
        return f"trace{ending}"
    path = Path(trace)
    stem = _SUFFIXES.sub("", path.name) or path.name
    while len(os.fsencode(stem)) > _LONGEST_NAME - len(ending):
        stem = stem[:-1]
    return str(path.with_name(stem + ending))


def refuse_existing(target: str, trace: str, force: bool) -> None:
    """Refuse to overwrite a file unless told to, and the trace itself always; a name no file can have too."""
    if target == STANDARD:
        return
    if not _exists(target):
        _refuse_missing_folder(target)
        return
    if trace != STANDARD and Path(trace).exists() and Path(target).samefile(trace):
        raise UsageError(f"{Path(target).name}: is the trace itself", "name another file")
    if Path(target).is_dir():
        raise _unwritable(target, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not force:
        hint = "name another file, or overwrite it with --force"
        raise UsageError(f"{Path(target).name}: exists already", hint)


def _refuse_missing_folder(target: str) -> None:
    """Refuse a place that no file can have, before anything is read."""
    folder = Path(os.path.realpath(target)).parent
    try:
        if not folder.is_dir():
            reason = errno.ENOTDIR if folder.exists() else errno.ENOENT
            raise OSError(reason, os.strerror(reason))
    except OSError as error:
        raise _unwritable(target, error) from error


def _exists(target: str) -> bool:
    if not target:
        raise UsageError("the name of the output is an empty text", "name a file")
    try:
        Path(target).stat()
    except FileNotFoundError:
        return False
    except OSError as error:  # such as a name that is too long, or a link that leads to itself
        raise _unwritable(target, error) from error
    return True


def _unwritable(target: str, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    hint = "name another place"
    return OutputError(f"{middle(target, _SHOWN)}: cannot be written ({reason})", hint)


def write_file(target: str, data: bytes) -> Path:
    """Write a file beside its place and move it there: never half."""
    with Staging() as staging:
        staging.add(target, lambda file: file.write(data))
        (path,) = staging.publish()
    assert path is not None  # noqa: S101 (standard output is no file)
    return path


class _Staged(NamedTuple):
    target: str
    beside: Path
    place: Path | None  # None: standard output


class Staging:
    """Hold files written beside their places until all of them are there; what is not published is removed."""

    def __init__(self) -> None:
        self._staged: list[_Staged] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for staged in self._staged:
            staged.beside.unlink(missing_ok=True)

    def add(self, target: str, paint: Callable[[BinaryIO], object]) -> int:
        """Let `paint` write what will be the target; return its size in bytes."""
        place = None if target == STANDARD else Path(os.path.realpath(target))  # a link stays a link
        try:
            if place is not None and place.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            beside = place is not None and (place.is_file() or not place.exists())
            handle, name = tempfile.mkstemp(
                dir=place.parent if place and beside else None, prefix=".traceview-"
            )
            self._staged.append(_Staged(target, Path(name), place))
            with os.fdopen(handle, "wb") as file:
                paint(file)
                return file.tell()
        except OSError as error:
            raise _unwritable(target, error) from error

    def publish(self) -> list[Path | None]:
        """Move all files to their places, and write what goes to standard output."""
        return [self._publish(*staged) for staged in self._staged]

    def _publish(self, target: str, beside: Path, place: Path | None) -> Path | None:
        if place is None:
            sys.stdout.flush()
            with beside.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            return None
        try:
            if place.exists() and not place.is_file():  # a device or a pipe must not be replaced by a file
                with beside.open("rb") as source, place.open("wb") as file:
                    shutil.copyfileobj(source, file)
            else:
                beside.chmod(0o666 & ~_umask())  # temporary files are private, a page is not
                beside.replace(place)
        except OSError as error:
            raise _unwritable(target, error) from error
        return place


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def print_json(document: dict[str, Any]) -> None:
    """Print a document as ASCII JSON: no character of a name can act on a terminal."""
    click.echo(json_text(document), nl=False)


def json_text(document: dict[str, Any]) -> str:
    """Return a document as ASCII JSON."""
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def open_page(path: Path | None) -> None:
    """Open a written page in the browser."""
    if path is not None:
        webbrowser.open(path.resolve().as_uri())
