"""The documentation of rules, warnings and errors: one Markdown file each, shipped in the package."""

from __future__ import annotations

import difflib
from importlib.resources import files
from importlib.resources.abc import Traversable

from traceview.errors import UsageError
from traceview.findings.finding import HIGH, LOW, MEDIUM, SATURATED
from traceview.units import LABEL_LIMIT, middle, share

KINDS = ("rules", "warnings", "errors")
SEVERITY = f"""## Severity

By time at stake, an upper bound, as a share of the step windows (without steps: of the GPU span): high
from {share(HIGH)}, medium from {share(MEDIUM)}, low from {share(LOW)}, else a note; a cause of idle time below
{share(LOW)} is not reported. Where the device works for {share(SATURATED)} of that time or more, idle time is worth a
note at most. A finding whose confidence is low is medium at most. Stakes of several findings overlap and
do not add up. A finding that only describes has none, is always a note and comes last.
"""


def explanations() -> dict[str, dict[str, str]]:
    """Return by kind the slugs that have a text, each with its first heading."""
    return {
        kind: {_slug(file): _title(file) for file in sorted(_folder(kind).iterdir(), key=lambda f: f.name)}
        for kind in KINDS
    }


def explain(slug: str) -> str:
    """Return the text of a rule, warning or error as Markdown; raises UsageError for an unknown one."""
    listed = explanations()
    for kind, found in listed.items():
        if slug in found:
            text = (_folder(kind) / f"{slug}.md").read_text(encoding="utf-8")
            return f"{text}\n{SEVERITY}" if kind == "rules" else text
    near = difflib.get_close_matches(slug[:LABEL_LIMIT], [s for found in listed.values() for s in found], 1)
    hint = f"did you mean {near[0]}?" if near else "see 'traceview explain' for all"
    raise UsageError(f"{middle(slug, LABEL_LIMIT)}: no rule, warning or error of that name", hint)


def _folder(kind: str) -> Traversable:
    return files("traceview") / "explanations" / kind


def _slug(file: Traversable) -> str:
    return file.name.removesuffix(".md")


def _title(file: Traversable) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
