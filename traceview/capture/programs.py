"""Run a file or a module as Python itself would, with one of its own functions followed by a step if asked for.

The function is marked in the parsed text: lines stay where they are, and so do the names that the program sees.
"""

from __future__ import annotations

import ast
import importlib.util
import runpy
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.capture.calls import followed
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.capture.scripts import Script

OURS = (__file__, "<frozen runpy>", "runpy.py")  # files whose frames stand above a program's own
_FOLLOWED = "__traceview_followed__"  # the name under which a program's own function is wrapped
_INSIDE = ("staticmethod", "classmethod")  # decorators that want the plain function

Function = ast.FunctionDef | ast.AsyncFunctionDef


def program_of(
    script: Script, name: str = "", step: Callable[[], None] | None = None
) -> Callable[[], object]:
    """Return what runs a script; each call of its function NAME or CLASS.NAME is followed by `step`.

    Raises UsageError where it has no such function.
    """
    if script.is_module:
        spec = _spec(script.target)
        if not name:
            return lambda: runpy.run_module(script.target, run_name="__main__", alter_sys=True)
        return _module(script, spec, name, step or _nothing)
    path = Path(script.target)
    if not name and (path.is_dir() or path.suffix in (".pyc", ".pyz", ".zip")):
        return lambda: runpy.run_path(script.target, run_name="__main__")
    try:
        text = path.read_bytes()
        tree = _marked(ast.parse(text, str(path.absolute())), path.name, name)
    except (SyntaxError, ValueError, OSError) as error:  # running it says so as Python does
        return _raising(error)
    names = {"__file__": str(path.absolute()), "__cached__": None}
    return _program(
        compile(tree, names["__file__"] or "", "exec", dont_inherit=True), names, step or _nothing
    )


def _nothing() -> None: ...


def _raising(error: Exception) -> Callable[[], object]:
    def program() -> None:
        raise error

    return program


def _module(script: Script, spec: ModuleSpec, name: str, step: Callable[[], None]) -> Callable[[], object]:
    source = spec.loader.get_source(spec.name) if hasattr(spec.loader, "get_source") else None  # type: ignore[union-attr]
    if source is None:
        raise UsageError(
            f"{script.target}: no module whose text can be read", "name a module of Python source"
        )
    tree = _marked(ast.parse(source, spec.origin or ""), script.target, name)
    sys.argv[0] = spec.origin or script.target
    names = {
        "__file__": spec.origin, "__cached__": None, "__spec__": spec, "__loader__": spec.loader,
        "__package__": spec.parent,
    }  # fmt: skip
    return _program(compile(tree, spec.origin or "", "exec", dont_inherit=True), names, step)


def _spec(target: str) -> ModuleSpec:
    """Return where a module is, of a package its __main__; raise UsageError where there is none."""
    try:
        spec = importlib.util.find_spec(target)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{target}.__main__")
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{target}: {error}", "name a module as Python imports it") from error
    if spec is None:
        raise UsageError(
            f"{target}: no such module", "name a module as Python imports it, of a package with __main__"
        )
    return spec


def _program(code: types.CodeType, names: dict[str, Any], step: Callable[[], None]) -> Callable[[], object]:
    module = types.ModuleType("__main__")
    module.__dict__.update(names, **{_FOLLOWED: lambda function: followed(function, step)})

    def program() -> None:
        # it stays __main__ behind its end: what the program leaves for the exit may look there
        sys.modules["__main__"] = module
        exec(code, module.__dict__)  # noqa: S102 - the user's own program

    return program


def _marked(tree: ast.Module, where: str, name: str) -> ast.Module:
    """Return a program with its function NAME marked as followed; without a name as it is."""
    if not name:
        return tree
    found = _function(tree.body, name.split("."))
    if found is None:
        raise UsageError(f"{where} has no function {name}", "name one that it defines with def")
    inside = [i for i, d in enumerate(found.decorator_list) if isinstance(d, ast.Name) and d.id in _INSIDE]
    mark = ast.Name(_FOLLOWED, ast.Load())
    found.decorator_list.insert(max(inside, default=-1) + 1, ast.copy_location(mark, found))
    return tree


def _function(body: list[ast.stmt], words: list[str]) -> Function | None:
    for node in body:
        if isinstance(node, ast.ClassDef) and len(words) > 1 and node.name == words[0]:
            return _function(node.body, words[1:])
        if isinstance(node, Function) and words == [node.name]:
            return node
        for inner in ("body", "orelse", "finalbody"):  # below an if, a try, a with
            if not isinstance(node, (Function, ast.ClassDef)) and (
                found := _function(getattr(node, inner, []), words)
            ):
                return found
    return None
