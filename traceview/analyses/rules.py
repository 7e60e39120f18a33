"""Rules that give every kernel a category by its name; the shipped ones are data, categories.rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traceview.errors import UsageError

COLLECTIVE = "collective"
COPIES = "copy / fill"
OTHER = "other"
CATEGORIES = (
    *("GEMM / conv", "attention", "normalisation / reduction", "elementwise"),
    *(COLLECTIVE, COPIES, OTHER),
)
_SHIPPED = Path(__file__).with_name("categories.rules")
_LONGEST = 4096  # characters of a name that are looked at: longer ones repeat themselves


@dataclass(frozen=True)
class Rules:
    """Hold rules in the order in which they are tried, and all categories, "other" last."""

    rules: tuple[tuple[str, re.Pattern[str]], ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """Return the known categories, and those that rules add before "other"."""
        named = dict.fromkeys(category for category, _ in self.rules)
        added = [c for c in named if c not in CATEGORIES]
        return (*CATEGORIES[:-1], *added, OTHER)

    def category(self, name: str) -> str:
        """Return the category of a kernel name."""
        text = name[:_LONGEST].lower()
        return next((category for category, pattern in self.rules if pattern.search(text)), OTHER)


def load_rules(path: str | Path | None = None) -> Rules:
    """Return the shipped rules, those of a file of the user before them.

    Raises UsageError where the file cannot be read or a line is no rule.
    """
    if path is None:
        return Rules(_shipped())
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{Path(path).name}: cannot read the category rules ({error})") from error
    return Rules((*_parsed(text.splitlines(), Path(path).name), *_shipped()))


@cache
def _shipped() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # written in small letters: without the flag, re skips ahead to the first letters of a pattern
    return _parsed(_SHIPPED.read_text(encoding="utf-8").splitlines(), _SHIPPED.name, re.NOFLAG)


def _parsed(
    lines: Iterable[str], file_name: str, flags: re.RegexFlag = re.IGNORECASE
) -> tuple[tuple[str, re.Pattern[str]], ...]:
    rules = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        category, _, pattern = (part.strip() for part in line.partition("="))
        if not category or not pattern:
            hint = "write CATEGORY = REGULAR EXPRESSION"
            raise UsageError(f"{file_name}: line {number} is no rule", hint)
        try:
            rules.append((_spelled(category), re.compile(pattern, flags)))
        except re.error as error:
            raise UsageError(f"{file_name}: line {number}: {error} in the regular expression") from error
    return tuple(rules)


def _spelled(category: str) -> str:
    """Return a known category as the house spells it, whatever its case and spaces."""
    plain = re.sub(r"\s", "", category).casefold()
    return next((c for c in CATEGORIES if re.sub(r"\s", "", c).casefold() == plain), category)
