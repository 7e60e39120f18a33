"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def trace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add TRACE and the options of reading it to a command."""
    return reading_options(click.argument("trace", required=False)(command))


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading traces to a command."""
    for add in (
        click.option("--quiet", is_flag=True, help="Write no progress and no notes to standard error."),
        click.option(
            "--categories",
            metavar="FILE",
            help="Rules that give kernels a category, before the shipped ones: CATEGORY = REGULAR EXPRESSION.",
        ),
    ):
        command = add(command)
    return command


def step_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose steps to a command."""
    for add in (
        click.option(
            "--step-name", metavar="REGEX", help="Host slices that mark the steps. Default: ProfilerStep."
        ),
        click.option(
            "--skip-first",
            metavar="N",
            type=click.IntRange(0),
            default=0,
            help="Leave out N steps at the beginning.",
        ),
        click.option(
            "--steps",
            "chosen",
            metavar="A:B",
            help="Only these steps, by the numbers shown, both included: 5:6, from 5: on, up to :6, or 5 alone.",
        ),
    ):
        command = add(command)
    return command
