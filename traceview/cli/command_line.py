"""The command line as a page may show it: options and the bare names of files, no folders."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from click.core import ParameterSource

_FILES = frozenset({"trace", "categories"})
_LEFT_OUT = frozenset({"outputs", "form", "table", "force", "opened", "quiet"})
"""What does not change what is told."""


def command_line(context: click.Context) -> str:
    """Return the command with the options that were given."""
    words, files = ["traceview", context.info_name or ""], []
    for option in context.command.params:
        name, value = option.name or "", context.params.get(option.name or "")
        given = context.get_parameter_source(name) != ParameterSource.DEFAULT
        if not given or value is None or name in _LEFT_OUT:
            continue
        text = (Path(str(value)).name or ".") if name in _FILES else str(value)
        if isinstance(option, click.Argument):
            files.append(text)
        else:
            words += [max(option.opts, key=len), *([] if value is True else [text])]
    return shlex.join([*words, *files])
