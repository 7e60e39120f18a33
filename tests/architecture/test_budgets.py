"""The sizes and habits that DESIGN.md allows, held as a test."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules

LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
USUAL_FUNCTION = 40  # nine in ten
MOST_PARAMETERS = 5
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "manager", "misc"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(module: Module) -> Iterator[Function]:
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> int:
    given = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(given) - (given[:1] in (["self"], ["cls"]))


def is_command(function: Function) -> bool:
    return any("option" in ast.unparse(d) or "command" in ast.unparse(d) for d in function.decorator_list)


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.place)
def test_a_module_stays_within_its_budget(module: Module) -> None:
    assert module.text.count("\n") <= LONGEST_MODULE
    too_long = [f"{f.name}: {length(f)} lines" for f in functions(module) if length(f) > LONGEST_FUNCTION]
    too_many = [
        f"{f.name}: {parameters(f)} parameters"
        for f in functions(module)
        if parameters(f) > MOST_PARAMETERS and not is_command(f)
    ]
    assert not too_long + too_many


def test_nine_functions_in_ten_are_short() -> None:
    lengths = sorted(length(f) for m in modules() for f in functions(m))
    assert lengths[int(len(lengths) * 0.9)] <= USUAL_FUNCTION


def test_no_name_says_nothing() -> None:
    empty = [m.place for m in modules() if says_nothing(m.path.stem)]
    empty += [f"{m.place}: {f.name}" for m in modules() for f in functions(m) if says_nothing(f.name)]
    assert not empty


def says_nothing(name: str) -> bool:
    return name.lstrip("_").startswith("process_") or bool(EMPTY_NAMES & set(name.split("_")))


# where programs of others run: a job must not die of the profiler that watches it, nor a ladder of the one shape that a
# model cannot take, whatever they raise; one function in each catches that
RUN_WHAT_IS_NOT_OURS = {"capture/guard.py", "capture/bench/worker.py"}


def test_only_the_command_line_and_what_runs_programs_of_others_catch_everything() -> None:
    broad = [
        f"{m.place}:{node.lineno}"
        for m in modules()
        for node in ast.walk(m.tree)
        if isinstance(node, ast.ExceptHandler) and m.part != "cli" and catches_everything(node)
        if m.place not in RUN_WHAT_IS_NOT_OURS
    ]
    assert not broad


def catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    return not caught or any(
        name in caught.replace("(", " ").replace(",", " ").replace(")", " ").split()
        for name in ("Exception", "BaseException")
    )


def test_every_module_and_public_name_has_a_docstring() -> None:
    silent = [m.place for m in modules() if not ast.get_docstring(m.tree)]
    silent += [
        f"{m.place}: {node.name}"
        for m in modules()
        for node in m.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not silent


def test_commands_are_thin() -> None:
    fat = [
        f"{m.place}: {f.name}: {body_length(f)} lines"
        for m in modules()
        if m.part == "cli"
        for f in functions(m)
        if is_command(f) and body_length(f) > 25
    ]
    assert not fat


def body_length(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
