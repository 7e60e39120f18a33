"""The summary on a terminal: the same words as in a pipe, fitted to the width, coloured where that is wanted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.analyses.making import analysed, call, copy, kernel, launch, note, op, text
from traceview.analyses import Analysis
from traceview.report.export import summary_blocks, summary_text
from traceview.report.terminal import coloured, terminal_text

ROOT = Path(__file__).parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
LONG = "a_kernel_whose_name_is_long_" * 3


def something(name: str = LONG) -> Analysis:
    return analysed(
        note("ProfilerStep#3", 0, 500), op("a", 1, 90), launch(5, 3, 1), kernel(name, 100, 10, 1),
        launch(20, 3, 2), kernel("ncclKernel_y", 105, 40, 2, stream=20),
        call("cudaMemcpyAsync", 30, 4, 3), copy(150, 10, 3), kernel("late", 400, 5),
    )  # fmt: skip


def words(shown: str) -> list[str]:
    return ESCAPE.sub("", shown).split()


def test_a_wide_terminal_shows_the_very_words_of_the_plain_text() -> None:
    analysis = something()
    assert words(terminal_text(summary_blocks(analysis), 200, True)) == words(summary_text(analysis))


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_narrow_terminal_is_not_exceeded_and_no_character_is_lost(width: int) -> None:
    analysis = something()
    shown = terminal_text(summary_blocks(analysis), width, False)
    assert max(map(len, shown.splitlines())) <= width or width < 80
    assert sorted("".join(words(shown))) == sorted("".join(words(summary_text(analysis))))


def test_numbers_are_never_folded() -> None:
    shown = terminal_text(summary_blocks(something()), 40, False)
    for number in ("10.0 µs", "40.0 µs", "55.0 µs"):
        assert number in shown


def test_colours_are_escapes_and_without_them_there_is_none() -> None:
    blocks = summary_blocks(something())
    assert "\x1b" in terminal_text(blocks, 80, True)
    assert "\x1b" not in terminal_text(blocks, 80, False)
    assert words(terminal_text(blocks, 80, True)) == words(terminal_text(blocks, 80, False))


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_no_color_and_dumb_terminals_are_respected(environment: dict[str, str], wanted: bool) -> None:
    assert coloured(environment) is wanted


def test_a_name_is_no_markup_and_cannot_act_on_the_terminal() -> None:
    name = "[red]x[/] :smile: \x1b[1m\u202e"
    shown = terminal_text(summary_blocks(something(name)), 200, False)
    assert "[red]x[/] :smile: \\u001b[1m\\u202e" in shown
    assert not set(ESCAPE.sub("", terminal_text(summary_blocks(something(name)), 200, True))) & set(
        "\x1b\u202e\x9b"
    )


@pytest.mark.skipif(os.name == "nt", reason="has no pseudo-terminals")
@pytest.mark.parametrize(("environment", "escapes"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_the_command_fits_a_real_terminal(environment: dict[str, str], escapes: bool, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(text(launch(5, 3, 1), kernel(LONG, 100, 10, 1)))
    ours, theirs = os.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "70", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "traceview", "summary", str(path)], stdout=theirs, env=env, cwd=ROOT
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 4096):
            shown += block
    except OSError:  # the terminal is gone
        pass
    os.close(ours)
    assert process.wait(60) == 0
    assert (b"\x1b[" in shown) is escapes
    lines = ESCAPE.sub("", shown.decode()).splitlines()
    assert max(map(len, lines)) <= 70


@pytest.mark.parametrize("words", [["--format", "json"], []])
def test_a_pipe_does_not_pay_for_rich(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(text(launch(5, 3, 1), kernel("k", 100, 10, 1)))
    code = (
        "import sys; from traceview.cli import run; run(['summary', *sys.argv[1:]]); "
        "print('\\n', [m for m in ('rich', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "[]"
