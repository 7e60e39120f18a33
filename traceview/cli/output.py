"""Write results: never over an existing file unasked, never half."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

import click

from traceview.errors import OutputError, UsageError
from traceview.units import safe

STANDARD = "-"
_SUFFIXES = re.compile(r"(?:\.pt)?(?:\.trace)?(?:\.(?:json|gz|zip))*$", re.IGNORECASE)
_MEGABYTE = 1_000_000


def derived_name(trace: str) -> str:
    """Return the page's name beside the trace: run.pt.trace.json.gz gives run.html, "-" gives trace.html."""
    if trace == STANDARD:
        return "trace.html"
    path = Path(trace)
    return str(path.with_name((_SUFFIXES.sub("", path.name) or path.name) + ".html"))


def refuse_existing(target: str, trace: str, force: bool) -> None:
    """Refuse to overwrite a file unless told to, and the trace itself always."""
    if target == STANDARD or not Path(target).exists():
        return
    if trace != STANDARD and Path(trace).exists() and Path(target).samefile(trace):
        raise UsageError(f"{Path(target).name}: is the trace itself", "name another file with -o")
    if not force:
        hint = "write elsewhere with -o, or overwrite it with --force"
        raise UsageError(f"{Path(target).name}: exists already", hint)


def write_page(target: str, page: str, verdict: str) -> Path | None:
    """Write a page beside its place and move it there; say where, how large, and the verdict."""
    data = page.encode("utf-8", "backslashreplace")
    if target == STANDARD:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return None
    path = Path(os.path.realpath(target))  # a link stays a link
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe must not be replaced by a file
        else:
            _write_beside(path, data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OutputError(f"{target}: cannot be written ({reason})", "name another place with -o") from error
    click.echo(f"wrote {safe(target)} ({len(data) / _MEGABYTE:.1f} MB): {safe(verdict)}")
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
