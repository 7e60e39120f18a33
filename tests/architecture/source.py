"""Read the package's source for the tests beside this file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "traceview"


@dataclass(frozen=True)
class Import:
    """One import: what is imported, where, and whether it waits inside a function."""

    target: str
    line: int
    in_function: bool
    typing_only: bool


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path
    name: str  # traceview.sources.reader
    tree: ast.Module
    text: str

    @property
    def place(self) -> str:
        """Return the path below the package: sources/reader.py."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def part(self) -> str:
        """Return the first word below the package: sources, events, cli; "" for the package itself."""
        below = self.name.split(".")[1:]
        return below[0] if below else ""


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        words = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(words[:-1] if words[-1] == "__init__" else words)
        text = path.read_text(encoding="utf-8")
        found.append(Module(path, name, ast.parse(text), text))
    return tuple(found)


@cache
def names() -> frozenset[str]:
    """Return the dotted names of all modules."""
    return frozenset(m.name for m in modules())


@cache
def imports(module: Module) -> tuple[Import, ...]:
    """Return the imports of a module; `from package import module` counts as the module."""
    return tuple(_walk(module.tree, in_function=False, typing_only=False))


def _walk(node: ast.AST, in_function: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, in_function, typing_only)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                target = full if full in dotted_places() else str(child.module)
                if child.module == "traceview" and target == "traceview":
                    target = full  # a name of the public interface
                yield Import(target, child.lineno, in_function, typing_only)
        else:
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            typing = typing_only or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
            yield from _walk(child, inside, typing)


@cache
def dotted_places() -> frozenset[str]:
    """Return the dotted names that files and folders of the package have."""
    return frozenset(
        ".".join(p.relative_to(ROOT).with_suffix("").parts)
        for p in PACKAGE.rglob("*")
        if p.suffix == ".py" or p.is_dir()
    )
