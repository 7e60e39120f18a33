"""Regular expressions of users: refused where they are none, stopped where a search takes too long.

A few characters can make a search last for years, and no reading of a pattern tells that for sure. So
texts are searched in a process of its own, which ends when its time is up.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from traceview.errors import UsageError

LONGEST = 4096  # characters of a text that are looked at: longer ones repeat themselves
PATIENCE_S = 10.0
_SEARCH = """
import json, re, sys, warnings
warnings.simplefilter("ignore")
patterns, texts = json.load(sys.stdin)
left = range(len(texts))
for source, flags in patterns:
    search = re.compile(source, flags).search
    found = [i for i in left if search(texts[i])]
    print(json.dumps(found), flush=True)
    left = sorted(set(left).difference(found))
"""


class Pattern(NamedTuple):
    """Hold a regular expression and where the user wrote it, for messages."""

    expression: re.Pattern[str]
    place: str


def compiled(text: str, place: str, flags: re.RegexFlag = re.NOFLAG) -> Pattern:
    """Compile a regular expression; raises UsageError, which names the place, where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what may change in a later Python is no news for users
            return Pattern(re.compile(text, flags), place)
    except RecursionError as error:
        raise UsageError(f"{place}: too many groups inside each other in the regular expression") from error
    except (re.error, ValueError, OverflowError) as error:
        raise UsageError(f"{place}: {error} in the regular expression") from error


def first_found(patterns: Sequence[Pattern], texts: Sequence[str]) -> list[int]:
    """Return for each text the first pattern that is found in it, -1 for none.

    Raises UsageError where that takes longer than PATIENCE_S.
    """
    found = [-1] * len(texts)
    if not patterns or not texts:
        return found
    for place, rows in enumerate(_searched(patterns, [t[:LONGEST] for t in texts])):
        for row in rows:
            found[row] = place
    return found


def _searched(patterns: Sequence[Pattern], texts: list[str]) -> list[list[int]]:
    """Return for each pattern the texts that it is the first to be found in."""
    asked = json.dumps([[(p.expression.pattern, p.expression.flags) for p in patterns], texts])
    command = [sys.executable or "python", "-I", "-S", "-c", _SEARCH]
    try:
        # this interpreter with our own code; patterns and texts are its input, never code
        done = subprocess.run(  # noqa: S603
            command, input=asked.encode(), capture_output=True, timeout=PATIENCE_S, check=True
        )
    except subprocess.TimeoutExpired as error:
        slow = patterns[(error.stdout or b"").count(b"\n")]
        text = f"{slow.place}: searching the names of this trace takes more than {PATIENCE_S:g} seconds"
        raise UsageError(text, "write a simpler regular expression") from error
    except (OSError, subprocess.CalledProcessError):  # where no process can be started, this one searches
        return _searched_here(patterns, texts)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _searched_here(patterns: Sequence[Pattern], texts: list[str]) -> list[list[int]]:
    left, found = list(range(len(texts))), []
    for pattern in patterns:
        found.append([i for i in left if pattern.expression.search(texts[i])])
        left = sorted(set(left).difference(found[-1]))
    return found
