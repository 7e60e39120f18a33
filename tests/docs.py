"""Keep README's help texts true: `python -m tests.docs` writes them, tests/test_docs.py compares them.

A block begins with a line `<!-- help: traceview summary -->`; what follows, up to the next blank line after its fence,
is what that command's --help prints at a width of 100.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
_BLOCK = re.compile(r"<!-- help: (?P<command>[a-z ]+) -->\n(?:\n?```text\n.*?```\n)?", re.DOTALL)


def help_text(command: str) -> str:
    """Return what `COMMAND --help` prints."""
    env = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    words = [sys.executable, "-m", *command.split(), "--help"]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=env, check=True)
    lines = done.stdout.replace("python -m traceview", "traceview").rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def with_help(readme: str) -> str:
    """Return the README with the help texts of today."""
    return _BLOCK.sub(
        lambda m: f"<!-- help: {m['command']} -->\n\n```text\n{help_text(m['command'])}\n```\n", readme
    )


def commands(readme: str) -> list[str]:
    """Return the commands whose help the README shows."""
    return [m["command"] for m in _BLOCK.finditer(readme)]


if __name__ == "__main__":
    README.write_text(with_help(README.read_text(encoding="utf-8")), encoding="utf-8")
