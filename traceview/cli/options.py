"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def trace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add TRACE and the options of reading it to a command."""
    for add in (
        click.option("--quiet", is_flag=True, help="Write no progress and no notes to standard error."),
        click.option(
            "--categories",
            metavar="FILE",
            help="Rules that give kernels a category, before the shipped ones: CATEGORY = REGULAR EXPRESSION.",
        ),
        click.argument("trace", required=False),
    ):
        command = add(command)
    return command
