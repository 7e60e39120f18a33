"""Rules that give every kernel a category by its name; the shipped ones are data, categories.rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traceview.analyses.patterns import LONGEST, Pattern, compiled, first_found
from traceview.errors import UsageError
from traceview.units import middle

COLLECTIVE = "collective"
COPIES = "copy / fill"
OTHER = "other"
CATEGORIES = (
    *("GEMM / conv", "attention", "normalisation / reduction", "elementwise"),
    *(COLLECTIVE, COPIES, OTHER),
)
_SHIPPED = Path(__file__).with_name("categories.rules")
_LARGEST = 1 << 20  # characters of a rules file


@dataclass(frozen=True)
class Rules:
    """Hold rules in the order in which they are tried, and all categories, "other" last.

    The first `own` rules are the user's: their searches are stopped where they take too long.
    """

    rules: tuple[tuple[str, Pattern], ...]
    own: int = 0

    @property
    def categories(self) -> tuple[str, ...]:
        """Return the known categories, and those that rules add before "other"."""
        named = dict.fromkeys(category for category, _ in self.rules)
        added = [c for c in named if c not in CATEGORIES]
        return (*CATEGORIES[:-1], *added, OTHER)

    def category(self, name: str) -> str:
        """Return the category of a kernel name."""
        return self.of([name])[0]

    def of(self, names: list[str]) -> list[str]:
        """Return the category of each kernel name; raises UsageError where a rule of the user takes too long."""
        first = first_found([pattern for _, pattern in self.rules[: self.own]], names)
        return [
            self.rules[f][0] if f >= 0 else self._shipped(name) for f, name in zip(first, names, strict=True)
        ]

    def _shipped(self, name: str) -> str:
        text = name[:LONGEST].lower()
        shipped = self.rules[self.own :]
        return next((category for category, pattern in shipped if pattern.expression.search(text)), OTHER)


def load_rules(path: str | Path | None = None) -> Rules:
    """Return the shipped rules, those of a file of the user before them.

    Raises UsageError where the file cannot be read or a line is no rule.
    """
    if path is None:
        return Rules(_shipped())
    name = Path(path).name or repr(str(path))
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{middle(name, 80)}: cannot read the category rules ({reason})") from error
    if len(text) > _LARGEST:
        raise UsageError(f"{name}: is no file of rules: more than {_LARGEST:,} characters")
    own = _parsed(text.split("\n"), name)
    return Rules((*own, *_shipped()), len(own))


@cache
def _shipped() -> tuple[tuple[str, Pattern], ...]:
    # written in small letters: without the flag, re skips ahead to the first letters of a pattern
    return _parsed(_SHIPPED.read_text(encoding="utf-8").splitlines(), _SHIPPED.name, re.NOFLAG)


def _parsed(
    lines: Iterable[str], file_name: str, flags: re.RegexFlag = re.IGNORECASE
) -> tuple[tuple[str, Pattern], ...]:
    rules = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        category, _, pattern = (part.strip() for part in line.partition("="))
        if not category or not pattern:
            hint = "write CATEGORY = REGULAR EXPRESSION"
            raise UsageError(f"{file_name}: line {number} is no rule", hint)
        rules.append((_spelled(category), compiled(pattern, f"{file_name}: line {number}", flags)))
    return tuple(rules)


def _spelled(category: str) -> str:
    """Return a known category as the house spells it, whatever its case and spaces."""
    plain = re.sub(r"\s", "", category).casefold()
    return next((c for c in CATEGORIES if re.sub(r"\s", "", c).casefold() == plain), category)
