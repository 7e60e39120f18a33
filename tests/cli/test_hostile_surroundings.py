"""The command line where streams are closed or full, names too long, memory short, and patterns endless."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.cli import run
from traceview.cli.output import derived_name

ROOT = Path(__file__).parents[2]
EVENTS = (making.op("ax::mm", 0, 20), making.launch(5, 3, 1), making.kernel("my_gemm", 30, 10, 1))
needs_shell = pytest.mark.skipif(os.name == "nt", reason="has no such redirections")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_bytes(making.text(*EVENTS))
    return path


def shell(words: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a shell's line, in which "traceview" is the command line."""
    line = words.replace("traceview", f"{shlex.quote(sys.executable)} -m traceview", 1)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    return str(line)


# streams


@needs_shell
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("traceview summary run.json <&-", 0),
        ("traceview summary run.json 2>&-", 0),
        ("traceview summary none.json 2>&-", 3),
        ("traceview summary --frob 2>&-", 2),
        ("traceview report run.json -o page.html >&-", 0),
        ("traceview report run.json -o - >&-", 5),
        ("traceview summary run.json >&-", 5),
        ("traceview summary run.json <&- >&- 2>&-", 5),
        ("traceview summary - <&-", 3),
    ],
)
def test_a_closed_stream_matters_only_where_it_is_needed(words: str, status: int, trace: Path) -> None:
    done = shell(words, trace.parent)
    assert done.returncode == status
    assert len(done.stderr.splitlines()) <= 1


@needs_full
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("traceview summary none.json 2>/dev/full", 3),
        ("traceview summary --frob 2>/dev/full", 2),
        ("traceview summary . 2>/dev/full", 0),  # says which trace it chose
        ("traceview report run.json -o page.html >/dev/full", 0),
        ("traceview report run.json -o - >/dev/full", 5),
    ],
)
def test_a_note_that_cannot_be_written_does_not_change_the_status(
    words: str, status: int, trace: Path
) -> None:
    assert shell(words, trace.parent).returncode == status


@needs_shell
@pytest.mark.parametrize("encoding", ["gbk", "cp1252", "latin-1", "ascii"])
@pytest.mark.parametrize("verb", ["summary", "report -o page.html"])
def test_a_stream_that_cannot_encode_a_name_shows_its_numbers(
    verb: str, encoding: str, tmp_path: Path
) -> None:
    (tmp_path / "names.json").write_bytes(making.text(making.kernel("k_中_é_\U0001f600_\ud800", 1, 5)))
    done = shell(f"traceview {verb} names.json", tmp_path, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")


# packages


def started(words: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONPATH": str(ROOT)}
    line = [sys.executable, *words.split(), "-c", f"{code}; from traceview.cli import main; main()"]
    return subprocess.run(
        [*line, "summary", "run.json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code", "package"),
    [
        ("-S", "import traceview", "click"),  # a checkout without anything
        ("", "import sys; sys.modules['msgspec'] = None", "msgspec"),
        ("", "import sys; sys.modules['numpy'] = None", "numpy"),
    ],
)
def test_a_package_that_is_missing_is_named_in_one_line(
    words: str, code: str, package: str, trace: Path
) -> None:
    done = started(words, code, trace.parent)
    assert done.returncode == 70
    (line,) = done.stderr.splitlines()
    assert f"the package {package} is not installed" in line
    assert "pip install traceview" in line
    assert "pip install -e ." in line
    assert line.endswith("[missing-package]")


def test_a_module_of_our_own_that_is_missing_is_an_internal_error(trace: Path) -> None:
    done = started("", "import sys; sys.modules['traceview.analyses'] = None", trace.parent)
    assert done.returncode == 70
    assert "[internal-error]" in done.stderr


# names of files


def test_the_name_of_a_page_is_cut_where_no_file_could_have_it() -> None:
    assert derived_name("a/" + "x" * 252) == str(Path("a") / ("x" * 250 + ".html"))
    assert len(os.fsencode(derived_name("é" * 126 + ".x"))) <= 255


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["report", "run.json", "-o", "x" * 300], 5),
        (["summary", "x" * 300], 3),
        (["report", "x" * 300], 3),
        (["summary", "run.json", "--categories", "x" * 300], 2),
        (["summary", ""], 2),
        (["report", ""], 2),
        (["report", "run.json", "-o", ""], 2),
        (["summary", "run.json", "--categories", ""], 2),
        (["summary", "run.json", "--steps", "9" * 5000], 2),
    ],
)
def test_a_name_that_no_file_can_have_is_told_in_one_line(
    arguments: list[str],
    status: int,
    trace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(trace.parent)
    assert run(arguments) == status
    assert len(one_line(capsys)) < 250


def test_a_link_that_leads_to_itself_is_not_replaced(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = trace.with_name("one.html"), trace.with_name("two.html")
    one.symlink_to(two)
    two.symlink_to(one)
    for more in ([], ["--force"]):
        assert run(["report", str(trace), "-o", str(one), *more]) == 5
        one_line(capsys)
    assert one.is_symlink()


# memory, interruption, usage


def test_a_lack_of_memory_is_called_so(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhaust(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("traceview.cli.loading.analyze", exhaust)
    assert run(["summary", str(trace)]) == 70
    assert "out of memory" in one_line(capsys)


def test_an_end_of_file_inside_is_an_internal_error_and_no_interruption(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(*_: Any, **__: Any) -> None:
        raise EOFError("too early")

    monkeypatch.setattr("traceview.cli.loading.analyze", end)
    assert run(["summary", str(trace)]) == 70
    assert "too early" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="interrupts differently")
def test_an_interruption_while_modules_are_imported_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("print('importing', flush=True)\nimport time\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    words = [sys.executable, "-m", "traceview", "--help"]
    with subprocess.Popen(
        words,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a background job ignores it
    ) as started:
        assert started.stdout
        assert started.stdout.readline() == b"importing\n"
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=30)
    assert (started.returncode, said) == (130, b"")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["frobnicate"], "traceview: no such command 'frobnicate'; try 'traceview --help' [usage]"),
        (
            ["summary", "--top", "0"],
            "traceview: invalid value for '--top': 0 is not in the range x>=1; try 'traceview summary --help' [usage]",
        ),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert one_line(capsys) == line


def test_without_any_word_the_help_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    said = capsys.readouterr()
    assert "Commands:" in said.out + said.err


# patterns of users


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 2000 + "a" + ")" * 2000, "(?a)(?u)a", "(?L)a"])
def test_a_pattern_that_python_cannot_compile_is_refused_with_its_place(
    pattern: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = trace.with_name("my.rules")
    rules.write_text(f"# mine\nx = {pattern}\n", encoding="utf-8")
    assert run(["summary", str(trace), "--categories", str(rules)]) == 2
    assert one_line(capsys).startswith("traceview: my.rules: line 2: ")
    assert run(["summary", str(trace), "--step-name", pattern]) == 2
    assert one_line(capsys).startswith("traceview: --step-name: ")


def test_a_pattern_that_searches_for_years_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.analyses.patterns.PATIENCE_S", 1.0)
    path, rules = tmp_path / "run.json", tmp_path / "my.rules"
    name = "a" * 40 + "!"
    path.write_bytes(making.text(making.op(name, 0, 9), making.kernel(name, 1, 5)))
    rules.write_text("x = harmless\ny = (a+)+$\n", encoding="utf-8")
    begun = time.monotonic()
    assert run(["summary", str(path), "--categories", str(rules)]) == 2
    assert one_line(capsys).startswith("traceview: my.rules: line 2: searching the names of this trace takes")
    assert run(["summary", str(path), "--step-name", "(a+)+$"]) == 2
    assert "--step-name: searching" in one_line(capsys)
    assert time.monotonic() - begun < 30


def test_a_file_without_end_is_no_file_of_rules(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("has no such device")
    assert run(["summary", str(trace), "--categories", "/dev/zero"]) == 2
    assert "no file of rules" in one_line(capsys)
