"""Imports look down only, each library has one door, and no file is forgotten in its tuple."""

from __future__ import annotations

import ast
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.source import PACKAGE, Import, Module, imports, modules, names

# A part may import parts of a lower level, and its own. DESIGN: errors, intervals, units <- events <- sources, analyses
# <- findings, diff <- report, fleet <- cli.
LEVELS = {
    "errors": 0,
    "intervals": 1,
    "units": 1,
    "tables": 1,
    "assets": 1,
    "crew": 1,
    "events": 2,
    "builder": 3,  # makes the traces of events
    "sources": 4,
    "analyses": 4,
    "logs": 4,
    "findings": 5,
    "diff": 5,
    "report": 6,
    "fleet": 6,
    "": 7,  # the public verbs
    "capture": 8,  # uses the public verbs
    "cli": 9,
    "__main__": 10,
}
# library -> where it may be imported
DOORS = {
    "click": ("cli/",),
    "jinja2": ("report/html.py",),
    "markupsafe": ("report/html.py",),  # jinja2's own
    "plotly": ("report/figures.py",),
    "rich": ("report/terminal.py",),
    "pyarrow": ("report/parquet.py",),
    "torch": ("capture/",),
    "pynvml": ("capture/conditions.py",),  # NVIDIA's own reading of clocks, where nvidia-ml-py is installed
    "dask": ("fleet/",),
    "distributed": ("fleet/",),
    "sqlite3": ("sources/nsys.py", "capture/runs.py"),
}
# imported inside functions only: --help must not pay for them, and torch and dask may be missing
LATE = {"pandas", "pyarrow", "rich", "torch", "pynvml", "dask", "distributed"}
REQUIRED = {"click", "isal", "jinja2", "msgspec", "numpy", "orjson", "pandas", "plotly"}
# modules beside the listed ones that serve them all
SHARED = {
    "sources/dialects": {"base"},
    "report/sections": {"base"},
    "findings": {"finding", "said", "idle", "blocked", "stretches", "explain", "document", "rules"},
}
TUPLES = [
    ("sources/dialects", "DIALECTS"),
    ("report/sections", "SECTIONS"),
    ("analyses", "ANALYSES"),
    ("findings", "RULES"),
]


def part_of(target: str) -> str | None:
    """Return the part of traceview that an import names; None for another library."""
    words = target.split(".")
    if words[0] != "traceview":
        return None
    return words[1] if len(words) > 1 and words[1] in LEVELS else ""


def looks_up(module: Module, imported: Import) -> bool:
    part = part_of(imported.target)
    if part is None or part == module.part or imported.target == "traceview.__version__":
        return False
    return LEVELS[part] >= LEVELS[module.part]


# what runs inside a job: it imports nothing that a job has not, and starts at once
IN_A_JOB = {"", "annotations", "conditions", "guard", "naming", "recording", "schedule", "scripts"}


def test_what_runs_inside_a_job_imports_only_errors() -> None:
    allowed = {"traceview.errors"} | {f"traceview.capture.{m}".removesuffix(".") for m in IN_A_JOB}
    more = [
        f"{m.place}:{i.line} imports {i.target}"
        for m in modules()
        if m.part == "capture" and m.name.removeprefix("traceview.capture").removeprefix(".") in IN_A_JOB
        for i in imports(m)
        if part_of(i.target) is not None and not i.in_function and not i.typing_only
        if i.target not in allowed and i.target.rpartition(".")[0] not in allowed
    ]
    assert not more


def test_every_part_of_the_package_has_a_level() -> None:
    assert {m.part for m in modules()} <= LEVELS.keys()


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.place)
def test_imports_look_down_only(module: Module) -> None:
    up = [f"{module.place}:{i.line} imports {i.target}" for i in imports(module) if looks_up(module, i)]
    assert not up


@pytest.mark.parametrize("library", DOORS)
def test_a_library_has_one_door(library: str) -> None:
    inside = [
        f"{m.place}:{i.line}"
        for m in modules()
        for i in imports(m)
        if i.target.split(".")[0] == library and not i.typing_only and not m.place.startswith(DOORS[library])
    ]
    assert not inside


def test_heavy_libraries_are_imported_late() -> None:
    early = [
        f"{m.place}:{i.line} imports {i.target}"
        for m in modules()
        for i in imports(m)
        if i.target.split(".")[0] in LATE and not i.in_function and not i.typing_only
    ]
    assert not early


def test_only_declared_libraries_are_imported() -> None:
    known = REQUIRED | DOORS.keys() | set(sys.stdlib_module_names) | {"traceview"}
    foreign = {
        f"{m.place}:{i.line} imports {i.target}"
        for m in modules()
        for i in imports(m)
        if i.target.split(".")[0] not in known
    }
    assert not foreign


def test_modules_do_not_import_in_circles() -> None:
    graph = {
        m.name: {
            i.target for i in imports(m) if i.target in names() and i.target != m.name and not i.typing_only
        }
        for m in modules()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize(("folder", "name"), TUPLES, ids=str)
def test_no_module_is_forgotten_in_its_tuple(folder: str, name: str) -> None:
    if not (PACKAGE / folder).is_dir():
        pytest.skip(f"{folder}/ does not exist yet")
    package = f"traceview.{folder.replace('/', '.')}"
    listed = listed_modules(package, name)
    here = {m.name.removeprefix(f"{package}.") for m in modules() if m.name.startswith(f"{package}.")}
    assert here - listed - shared_modules(folder) == set()


def listed_modules(package: str, name: str) -> set[str]:
    """Return the modules whose objects a tuple of this name holds."""
    for module in modules():
        if module.name != package and not module.name.startswith(f"{package}."):
            continue
        for node in module.tree.body:
            target = node.target if isinstance(node, ast.AnnAssign) else None
            if isinstance(target, ast.Name) and target.id == name and isinstance(node, ast.AnnAssign):
                used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                return {origin.removeprefix(f"{package}.") for n in used if (origin := origin_of(module, n))}
    raise AssertionError(f"no {name} with a type in {package}")


def origin_of(module: Module, name: str) -> str | None:
    """Return the module from which a name was imported."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    full = f"{node.module}.{alias.name}"
                    return full if full in names() else node.module
    return None


def shared_modules(folder: str) -> set[str]:
    """Return the modules of a folder that are not meant to be in its tuple."""
    if folder != "analyses":
        return SHARED.get(folder, set())
    # an analysis is a public function of a Workspace; the other modules are what they stand on
    package = f"traceview.{folder}."
    return {
        m.name.removeprefix(package) for m in modules() if m.name.startswith(package) and not is_analysis(m)
    }


def is_analysis(module: Module) -> bool:
    """Tell whether a module offers a public function whose only argument is a Workspace."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and len(node.args.args) == 1:
            annotation = node.args.args[0].annotation
            if annotation is not None and ast.unparse(annotation).strip("'\"") == "Workspace":
                return True
    return False
