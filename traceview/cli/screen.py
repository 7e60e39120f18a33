"""What a terminal shows, and what a pipe gets in its place."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from traceview.analyses import Analysis
from traceview.report.export import summary_blocks
from traceview.report.text_blocks import Block, plain_text


def shown_summary(analysis: Analysis, top: int) -> str:
    """Return the summary: fitted to the terminal it goes to, else plain text that is the same everywhere."""
    return shown_blocks(summary_blocks(analysis, top))


def shown_blocks(blocks: Sequence[Block]) -> str:
    """Return an answer: fitted to the terminal it goes to, else plain text that is the same everywhere."""
    if not sys.stdout.isatty():
        return plain_text(blocks)
    from traceview.report.terminal import coloured, terminal_text

    width = shutil.get_terminal_size().columns
    return terminal_text(blocks, width, coloured(os.environ))
