"""The documentation says what is so."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import docs
from tests.architecture.source import ROOT, modules
from traceview import cli, errors
from traceview.cli.comparing import NOT_COMPARABLE
from traceview.cli.findings import GATE_FAILED
from traceview.report.result_tables import TABLES

TEXT = docs.README.read_text(encoding="utf-8")
SAMPLE = ROOT / "sample_traces" / "demo" / "gpu-training-synthetic.json.gz"
DOCUMENTS = [
    docs.README,
    ROOT / "CHANGELOG.md",
    ROOT / "sample_traces" / "README.md",
    ROOT / "tests/perf/README.md",
]
DOCUMENTS += sorted((ROOT / ".github").glob("*.md"))


def section(title: str) -> str:
    """Return the text under a heading of the README."""
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def first_cells(title: str) -> set[str]:
    """Return the words in backquotes in the first cells of a section's table."""
    rows = re.findall(r"^\| (`[^|]+`) \|", section(title), re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Lay out a folder like the one in which README's commands are typed."""
    shutil.copytree(ROOT / "sample_traces" / "demo", tmp_path / "sample_traces" / "demo")
    shutil.copy(SAMPLE, tmp_path / "trace.json.gz")
    (tmp_path / "my.rules").write_text("elementwise = my_fused_thing\n", encoding="utf-8")
    return tmp_path


def shown_commands() -> list[str]:
    """Return every traceview command line of the README's shell blocks, without what installs it."""
    lines = "\n".join(blocks("sh")).splitlines()
    return [line[line.index("traceview ") :] for line in lines if re.search(r"(^|&& )traceview ", line)]


@pytest.mark.parametrize("line", shown_commands())
def test_a_command_of_the_readme_works(line: str, folder: Path) -> None:
    words = [sys.executable, "-m", *re.findall(r'"[^"]*"|\S+', line)]
    words = [w.strip('"') for w in words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr


def test_the_python_of_the_readme_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (code,) = blocks("python run")
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("command", docs.commands(TEXT))
def test_the_readme_shows_the_help_of_today(command: str) -> None:
    assert f"<!-- help: {command} -->\n\n```text\n{docs.help_text(command)}\n```" in TEXT, (
        "python -m tests.docs"
    )


def test_the_test_command_of_the_readme_is_what_ci_runs() -> None:
    (command,) = [b.strip() for b in blocks("sh") if "pytest" in b]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in script.splitlines()


def test_every_warning_code_is_documented_and_every_documented_one_exists() -> None:
    documented = first_cells("Warning codes")
    words = {
        node.value
        for m in modules()
        for node in ast.walk(m.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert documented <= words
    assert codes_in_source() <= documented


def codes_in_source() -> set[str]:
    """Return the texts that look like codes and are the first argument of something that makes a notice."""
    found = set()
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                maker = ast.unparse(node.func).rsplit(".", 1)[-1].lstrip("_").lower()
                code = node.args[0].value
                is_code = isinstance(code, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", code)
                if is_code and maker in {"notice", "warning", "warning_", "information", "info", "note"}:
                    found.add(code)
    return found


def test_every_error_and_its_exit_status_is_documented() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.TraceviewError)]
    kinds.remove(errors.TraceviewError)
    assert {k.slug for k in kinds} | {"internal-error"} == first_cells("Errors")
    cells = re.findall(r"^\| ([\d, ]+) \|", section("Exit statuses"), re.MULTILINE)
    documented = {int(status) for cell in cells for status in cell.split(",")}
    assert {k.status for k in kinds} | {
        0,
        GATE_FAILED,
        NOT_COMPARABLE,
        cli.INTERNAL,
        cli.INTERRUPTED,
        cli.BROKEN_PIPE,
    } == documented


def test_every_fact_is_documented() -> None:
    command = [sys.executable, "-m", "traceview", "summary", str(SAMPLE), "--format", "json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, check=True)
    document = json.loads(done.stdout)
    assert document["schema"] == "traceview.summary/1"
    assert document["facts"].keys() <= first_cells("JSON")


def test_every_table_is_documented() -> None:
    assert set(re.findall(r"`([a-z][a-z-]+)`", section("Tables").split("A column")[0])) == set(TABLES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_documents_resolve(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    assert not [t for t in targets if "://" not in t and not (document.parent / t).exists()]


def test_contributing_gives_a_reason_for_each_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[]", d)[0] for d in project["dependencies"]}
    told = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {n for n in names if f"\n| {n} |" in told} == names


def test_nothing_unexpected_lies_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    folders = {"traceview", "templates", "tests", "sample_traces", "docs", ".ci", ".github"}
    files = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"}
    assert top <= folders | files
