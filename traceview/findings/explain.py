"""The documentation of rules, warnings and errors: one Markdown file each, shipped in the package."""

from __future__ import annotations

import difflib
from importlib.resources import files
from importlib.resources.abc import Traversable

from traceview.errors import UsageError

KINDS = ("rules", "warnings", "errors")


def explanations() -> dict[str, dict[str, str]]:
    """Return by kind the slugs that have a text, each with its first heading."""
    return {
        kind: {_slug(file): _title(file) for file in sorted(_folder(kind).iterdir(), key=lambda f: f.name)}
        for kind in KINDS
    }


def explain(slug: str) -> str:
    """Return the text of a rule, warning or error as Markdown; raises UsageError for an unknown one."""
    for kind in KINDS:
        file = _folder(kind) / f"{slug}.md"
        if slug.replace("-", "").replace("_", "").isalnum() and file.is_file():
            return file.read_text(encoding="utf-8")
    known = [s for found in explanations().values() for s in found]
    near = difflib.get_close_matches(slug, known, 1)
    hint = f"did you mean {near[0]}?" if near else "see 'traceview explain' for all"
    raise UsageError(f"{slug}: no rule, warning or error of that name", hint)


def _folder(kind: str) -> Traversable:
    return files("traceview") / "explanations" / kind


def _slug(file: Traversable) -> str:
    return file.name.removesuffix(".md")


def _title(file: Traversable) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
