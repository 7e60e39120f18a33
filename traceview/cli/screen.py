"""What a terminal shows, and what a pipe gets in its place."""

from __future__ import annotations

import os
import shutil
import sys

from traceview.analyses import Analysis
from traceview.report.export import summary_blocks, summary_text


def shown_summary(analysis: Analysis, top: int) -> str:
    """Return the summary: fitted to the terminal it goes to, else plain text that is the same everywhere."""
    if not sys.stdout.isatty():
        return summary_text(analysis, top)
    from traceview.report.terminal import coloured, terminal_text

    width = shutil.get_terminal_size().columns
    return terminal_text(summary_blocks(analysis, top), width, coloured(os.environ))
