"""Run a file, a folder, an archive or a module as Python itself would, with its own functions followed by a step if asked for.

Functions are marked in the parsed text: lines stay where they are, and so do the names that the program sees.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from traceview.capture.calls import followed
from traceview.capture.guard import caught
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.capture.scripts import Script

OURS = (__file__,)  # files whose frames stand above a program's own
_FOLLOWED = "__traceview_followed__"  # the name under which a program's own functions are wrapped
# decorators that want the plain function, or are no function afterwards
_INSIDE = frozenset(
    {"staticmethod", "classmethod", "property", "cached_property", "setter", "getter", "deleter"}
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Program = Callable[[], object]


class _Text(NamedTuple):
    """Hold what a program is made of: its code as it is, its source if there is one, and the names it begins with."""

    code: Callable[[], types.CodeType | None]
    source: Callable[[], str | bytes | None]
    names: dict[str, Any]


def program_of(script: Script, name: str = "", step: Callable[[], None] | None = None) -> Program:
    """Return what runs a script; each call of its functions called NAME or CLASS.NAME is followed by `step`.

    Raises UsageError where it has no such function.
    """
    found, error = caught(lambda: _found(script, name))
    if isinstance(error, UsageError):
        raise error
    if found is None:  # running it says so as Python does
        return _raising(error)
    code, names = found
    if script.is_module:
        sys.argv[0] = names["__file__"] or script.target
    if name:
        names[_FOLLOWED] = lambda function: followed(function, step or _nothing)
    return _program(code, names)


def entry_of(script: Script) -> str | None:
    """Return what Python puts first on the path for a script; None for nothing, as with -P."""
    if script.is_module:
        return None if sys.flags.safe_path else str(Path.cwd())
    where = _absolute(script.target)
    if pkgutil.get_importer(where) is not None:  # a folder, or an archive
        return where
    return None if sys.flags.safe_path else str(Path(script.target).resolve().parent)


def _absolute(target: str) -> str:
    return os.path.join(os.getcwd(), target)  # noqa: PTH109, PTH118 - Python leaves "./" in it, a Path does not


def _nothing() -> None: ...


def _raising(error: BaseException | None) -> Program:
    def program() -> None:
        raise error or ImportError

    return program


def _found(script: Script, name: str) -> tuple[types.CodeType, dict[str, Any]]:
    text = _of_spec(_spec(script.target)) if script.is_module else _file(script.target)
    code = _marked(text, script, name) if name else text.code()
    if code is None:
        raise UsageError(f"{script.target}: no code of Python", "name a program that is written in Python")
    return code, text.names


def _file(target: str) -> _Text:
    where, path = _absolute(target), Path(target)
    importer = pkgutil.get_importer(where)
    if importer is not None:
        spec = importer.find_spec("__main__")
        if spec is None:
            raise UsageError(
                f"{target} has no __main__", "name a Python file, or a folder or archive with one"
            )
        return _of_spec(spec)
    names = {"__file__": where, "__cached__": None, "__package__": None, "__spec__": None}
    if path.suffix == ".pyc":
        compiled = SourcelessFileLoader("__main__", where)
        return _Text(lambda: compiled.get_code("__main__"), lambda: None, {**names, "__loader__": compiled})

    def code() -> types.CodeType:
        return compile(path.read_bytes(), where, "exec", dont_inherit=True)

    return _Text(code, path.read_bytes, {**names, "__loader__": SourceFileLoader("__main__", where)})


def _of_spec(spec: ModuleSpec) -> _Text:
    loader: Any = spec.loader
    names = {
        "__file__": spec.origin, "__cached__": spec.cached, "__loader__": loader, "__package__": spec.parent,
        "__spec__": spec,
    }  # fmt: skip
    return _Text(lambda: loader.get_code(spec.name), lambda: loader.get_source(spec.name), names)


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


def _program(code: types.CodeType, names: dict[str, Any]) -> Program:
    module = types.ModuleType("__main__")
    module.__dict__.update(names, __builtins__=builtins, __annotations__={})

    def program() -> None:
        # it stays __main__ behind its end: what the program leaves for the exit may look there
        sys.modules["__main__"] = module
        exec(code, module.__dict__)  # noqa: S102 - the user's own program

    return program


def _marked(text: _Text, script: Script, name: str) -> types.CodeType:
    """Return a program with its functions NAME marked as followed: all of them, any may be the one that is bound."""
    source = text.source()
    if source is None:
        raise UsageError(
            f"{script.target}: no text of Python that can be read",
            "name a program of Python source, or a function as module:function",
        )
    path = text.names["__file__"] or ""
    tree: Any = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    functions = list(_functions(tree, name.split(".")))
    if not functions:
        where = script.target if script.is_module else Path(script.target).name
        raise UsageError(f"{where} has no function {name}", "name one that it defines with def")
    for function in functions:
        decorators = function.decorator_list
        inside = [at for at, decorator in enumerate(decorators) if _word(decorator) in _INSIDE]
        mark = ast.copy_location(ast.Name(_FOLLOWED, ast.Load()), function)
        decorators.insert(max(inside, default=-1) + 1, mark)
    code: types.CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def _word(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Attribute):  # functools.cached_property, size.setter
        return decorator.attr
    return decorator.id if isinstance(decorator, ast.Name) else ""


def _functions(scope: ast.AST, words: list[str]) -> Iterator[Function]:
    """Yield the functions of a module or a class that may get a name, below an if, a try, a loop, a match too."""
    left = list(ast.iter_child_nodes(scope))
    while left:
        node = left.pop()
        if isinstance(node, Function):
            if words == [node.name]:
                yield node
        elif isinstance(node, ast.ClassDef):
            if words[0] == node.name and len(words) > 1:
                yield from _functions(node, words[1:])
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            left.extend(ast.iter_child_nodes(node))
