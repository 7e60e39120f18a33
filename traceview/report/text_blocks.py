"""Answers for the terminal as blocks of lines and tables, and as plain text whatever the width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Block(NamedTuple):
    """Hold one block of the terminal's answer: lines, then a table without or with rows, then lines.

    `align` has one sign per column of the table: > or <.
    """

    lines: tuple[str, ...]
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    align: str = ""
    after: tuple[str, ...] = ()


def plain_text(blocks: Sequence[Block]) -> str:
    """Return blocks as plain text."""
    return "\n\n".join("\n".join(_plain(block)) for block in blocks) + "\n"


def _plain(block: Block) -> list[str]:
    """Return a block as lines, its columns aligned and indented by two."""
    if not block.rows:
        return [*block.lines, *block.after]
    widths = [max(map(len, column)) for column in zip(block.head, *block.rows, strict=True)]
    cells = [zip(row, block.align, widths, strict=True) for row in (block.head, *block.rows)]
    grid = ["  " + "  ".join(f"{cell:{a}{w}}" for cell, a, w in row).rstrip() for row in cells]
    return [*block.lines, *grid, *block.after]
