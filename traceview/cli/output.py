"""Write results: never over an existing file unasked, never half."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

import click

from traceview.cli.streams import say
from traceview.errors import OutputError, UsageError
from traceview.units import middle, safe

STANDARD, _ENDING = "-", ".html"
_SUFFIXES = re.compile(r"(?:\.pt)?(?:\.trace)?(?:\.(?:json|gz|zip))*$", re.IGNORECASE)
_MEGABYTE = 1_000_000
_LONGEST_NAME = 255  # bytes that file systems allow
_SHOWN = 80  # characters of a path in a message


def derived_name(trace: str) -> str:
    """Return the page's name beside the trace: run.pt.trace.json.gz gives run.html, "-" gives trace.html.

    A name that would be too long for a file is cut.
    """
    if trace == STANDARD:
        return "trace.html"
    path = Path(trace)
    stem = _SUFFIXES.sub("", path.name) or path.name
    while len(os.fsencode(stem)) > _LONGEST_NAME - len(_ENDING):
        stem = stem[:-1]
    return str(path.with_name(stem + _ENDING))


def refuse_existing(target: str, trace: str, force: bool) -> None:
    """Refuse to overwrite a file unless told to, and the trace itself always; a name no file can have too."""
    if target == STANDARD or not _exists(target):
        return
    if trace != STANDARD and Path(trace).exists() and Path(target).samefile(trace):
        raise UsageError(f"{Path(target).name}: is the trace itself", "name another file")
    if not force:
        hint = "name another file, or overwrite it with --force"
        raise UsageError(f"{Path(target).name}: exists already", hint)


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


def write_page(target: str, page: str, verdict: str) -> Path | None:
    """Write a page beside its place and move it there; say where, how large, and the verdict."""
    data = page.encode("utf-8", "backslashreplace")
    if target == STANDARD:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return None
    path = write_file(target, data)
    say(f"wrote {safe(target)} ({len(data) / _MEGABYTE:.1f} MB): {safe(verdict)}", err=False)
    return path


def write_file(target: str, data: bytes) -> Path:
    """Write a file beside its place and move it there: never half."""
    path = Path(os.path.realpath(target))  # a link stays a link
    try:
        if path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe must not be replaced by a file
        else:
            _write_beside(path, data)
    except OSError as error:
        raise _unwritable(target, error) from error
    return path


def _write_beside(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".traceview-")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        beside.chmod(0o666 & ~_umask())  # temporary files are private, a page is not
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def print_json(document: dict[str, Any]) -> None:
    """Print a document as ASCII JSON: no character of a name can act on a terminal."""
    click.echo(json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1))


def open_page(path: Path | None) -> None:
    """Open a written page in the browser."""
    if path is not None:
        webbrowser.open(path.resolve().as_uri())
