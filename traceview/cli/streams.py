"""Standard streams as users leave them: closed, full, or unable to encode a name."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

import click

# what a closed stream is opened as, so that using it fails as it should; notes to nobody are lost
_STAND_INS = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
_BEFORE: dict[int, str | None] = {}  # how each stream meets what it cannot encode


def prepare() -> None:
    """Open stand-ins for closed streams, and let every text be written.

    Reading a closed standard input, and writing to a closed standard output, raises OSError.
    """
    for name, access, mode in _STAND_INS:
        if getattr(sys, name) is None:
            # the lowest free number: that of the closed stream, which no other file takes then
            handle = os.open(os.devnull, access)
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            _BEFORE[id(stream)] = stream.errors
            stream.reconfigure(errors="backslashreplace")


def hand_over() -> None:
    """Give the streams back as they were, to a program of somebody else."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and id(stream) in _BEFORE:
            stream.reconfigure(errors=_BEFORE[id(stream)])


def say(text: str, *, err: bool = True, nl: bool = True) -> None:
    """Write a note; a stream that takes none is silenced, and that is no error."""
    try:
        click.echo(text, err=err, nl=nl)
    except OSError:
        silence(sys.stderr if err else sys.stdout)


def silence(stream: TextIO) -> None:
    """Lead a stream to nowhere: what Python still wants to write at exit must not complain."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return  # no file behind it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
