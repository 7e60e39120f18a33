"""The summary on a terminal: the only door to rich, which fits tables to the width and colours them.

Whatever is a colour is a word or a shape too. Names are texts, never markup; control characters are
shown as text. A table that is too wide stacks its double cells and the words of its heads, and folds names.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from traceview.report.text_blocks import Block
from traceview.units import safe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Cells = tuple[str, ...]
_NAME = 16  # characters that a text may be folded to
_LEAST = 40
_INDENT, _BETWEEN = 2, 2
_DOUBLE = re.compile(r"^(\S+ \S+)\s+(\S.*%)$")  # a duration and its share
_STYLES = {"▲": "bold red", "◆": "yellow", "●": "cyan", "!": "yellow", "i": "dim", "*": "bold", "~": "dim"}


def coloured(environment: Mapping[str, str]) -> bool:
    """Say whether a terminal may be coloured: not with NO_COLOR (no-color.org), and not a dumb one."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def terminal_text(blocks: Sequence[Block], width: int, colours: bool) -> str:
    """Return the blocks for a terminal of this width; without colours no escape is in it."""
    out = io.StringIO()
    for number, block in enumerate(blocks):
        out.write("\n" if number else "")
        _paint(out, block, (width, colours), number == 0)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def _console(out: io.StringIO, width: int, colours: bool) -> Console:
    from rich.console import Console

    return Console(
        file=out,
        width=width,
        force_terminal=True,
        color_system="standard" if colours else None,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )


def _paint(out: io.StringIO, block: Block, kind: tuple[int, bool], first: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    width, colours = max(kind[0], _LEAST), kind[1]
    console = _console(out, width, colours)
    for number, line in enumerate(block.lines):
        console.print(Text(safe(line), style=_style(line, number, first, bool(block.rows))))
    if block.rows:
        head, rows = _fitted(block, width - _INDENT)
        # rather than to lose digits, a table is wider than its terminal
        room = max(width, _least_width(head, rows, block.align) + _INDENT)
        _console(out, room, colours).print(Padding(_table(head, rows, block.align), (0, 0, 0, _INDENT)))
    for line in block.after:
        console.print(Text(safe(line), style="dim"))


def _style(line: str, number: int, first: bool, heads_table: bool) -> str:
    """Return how a line looks: title, verdict and findings of the first block, heads of tables."""
    if first and number < 2:
        return "bold" if number else "dim"
    if heads_table:
        return "bold"
    return _STYLES.get(line[:1], "") if line[1:2] == " " else ""


def _fitted(block: Block, width: int) -> tuple[Cells, tuple[Cells, ...]]:
    """Return head and rows, with double cells and heads stacked where they would be too wide."""
    head, rows = block.head, block.rows
    if _least_width(head, rows, block.align) > width:
        head = tuple(cell.replace(" ", "\n") for cell in head)
        rows = tuple(tuple(_DOUBLE.sub("\\1\n\\2", cell) for cell in row) for row in rows)
    return head, rows


def _table(head: Cells, rows: tuple[Cells, ...], align: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0), collapse_padding=True)
    for cell, side in zip(head, align, strict=True):
        number = side == ">"
        table.add_column(
            Text(_lines(cell), style="underline" if cell else ""),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(_lines(cell)) for cell in row))
    return table


def _lines(cell: str) -> str:
    return "\n".join(safe(line) for line in cell.split("\n"))


def _least_width(head: Cells, rows: Sequence[Cells], align: str) -> int:
    """Return the width of a table whose texts are folded and whose numbers are not."""
    width = _BETWEEN * (len(head) - 1)
    for column, side in zip(zip(head, *rows, strict=True), align, strict=True):
        pieces = (piece for cell in column for piece in (cell.split("\n") if side == ">" else cell.split()))
        longest = max(map(len, pieces), default=0)
        width += longest if side == ">" else min(longest, _NAME)
    return width
