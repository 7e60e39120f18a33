"""The command line as a translation: flags in, one library call, an exit status out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview import __version__
from traceview.cli import run
from traceview.cli.loading import Progress
from traceview.cli.output import derived_name

ROOT = Path(__file__).parents[2]
EVENTS = (making.op("ax::mm", 0, 20), making.launch(5, 3, 1), making.kernel("my_gemm", 30, 10, 1))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.pt.trace.json"
    path.write_bytes(making.text(*EVENTS))
    return path


Ran = subprocess.CompletedProcess[str]


def command(*arguments: str | Path, stdin: bytes | None = None, env: dict[str, str] | None = None) -> Ran:
    """Run the command line as users do: a process of its own."""
    words = [sys.executable, "-m", "traceview", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **(env or {})}
    done = subprocess.run(words, input=stdin, capture_output=True, env=environment, check=False, timeout=120)
    return subprocess.CompletedProcess(
        words, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


# summary


def test_summary_begins_with_the_verdict(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["summary", str(trace)]) == 0
    text = capsys.readouterr().out
    assert lines(text)[1].startswith("The GPU was busy 100")
    assert "my_gemm" in text
    assert "Events read: 3 = 3 used, none ignored" in text


def test_summary_as_json_is_the_document_of_the_contract(trace: Path) -> None:
    done = command("summary", trace, "--format", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert document["schema"] == "traceview.summary/1"
    assert document["facts"]["kernels"] == {"my_gemm": [1, 10]}
    assert document["warnings"] == []
    assert document["account"]["events_read"] == 3
    assert document["kernels"][0]["sum_us"] == 10
    assert document["launches"]["launch_latency_us"]["median"] == 25
    assert document["operators"][0] == {
        "name": "ax::mm", "kind": "op", "calls": 1, "cpu_self_us": 17, "cpu_total_us": 20,
        "device_self_us": 10, "device_total_us": 10,
    }  # fmt: skip


def test_warnings_in_the_document_have_code_level_count_and_message(tmp_path: Path) -> None:
    path = tmp_path / "cpu.json"
    path.write_bytes(making.text(making.op("a", 0, 10)))
    (warning,) = json.loads(command("summary", path, "--format", "json").stdout)["warnings"]
    assert warning["code"] == "no_gpu_events"
    assert warning["level"] == "warning"
    assert {"count", "message"} <= warning.keys()


def test_top_limits_the_rows_of_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.json"
    path.write_bytes(making.text(*[making.kernel(f"kernel_{i:02}", 100 * i, 50 - i) for i in range(12)]))
    assert run(["summary", str(path), "--top", "3"]) == 0
    text = capsys.readouterr().out
    assert "kernel_02" in text
    assert "kernel_03" not in text
    assert "and 9 other names, sum 387 µs together" in text  # 47 + 46 + … + 39 = 9 * 43


def test_a_hostile_name_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "evil.json"
    name = "evil\x1b[31m\u202egnp.exe\r\n\x9b1m"
    path.write_bytes(making.text(making.kernel(name, 1, 5), making.op("op\x07\u2066", 0, 3)))
    for form in ("text", "json"):
        done = command("summary", path, "--format", form)
        assert done.returncode == 0
        assert not set(done.stdout) & set("\x1b\u202e\r\x9b\x07\u2066")
    assert json.loads(done.stdout)["facts"]["kernels"] == {name: [1, 5]}


def test_no_metadata_outside_the_white_list_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_bytes(making.text(*EVENTS, env={"TOKEN": "hf_secret"}, metadata={"user": "somebody"}))
    for form in ("text", "json"):
        done = command("summary", path, "--format", form)
        assert "hf_secret" not in done.stdout
        assert "somebody" not in done.stdout


def test_standard_input_is_read(trace: Path) -> None:
    done = command("summary", "-", "--format", "json", stdin=trace.read_bytes())
    assert json.loads(done.stdout)["facts"]["kernel_count"] == 1


def test_a_rules_file_changes_the_categories(trace: Path, tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text("attention = ^my_gemm$\n", encoding="utf-8")
    done = command("summary", trace, "--format", "json", "--categories", rules)
    assert [c["category"] for c in json.loads(done.stdout)["categories"]] == ["attention"]


# report


def test_report_writes_beside_the_trace_and_says_so_in_one_line(trace: Path) -> None:
    done = command("report", trace)
    page = trace.with_name("run.html")
    assert done.returncode == 0
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    (line,) = lines(done.stdout + done.stderr)
    assert line.startswith(f"wrote {page} (")
    assert "The GPU was busy" in line
    assert sorted(p.name for p in trace.parent.iterdir()) == ["run.html", "run.pt.trace.json"]


def test_report_never_overwrites_unless_told_to(trace: Path) -> None:
    page = trace.with_name("run.html")
    page.write_text("mine", encoding="utf-8")
    done = command("report", trace)
    assert done.returncode == 2
    assert lines(done.stderr) == [
        "traceview: run.html: exists already; name another file, or overwrite it with --force [usage]"
    ]
    assert page.read_text(encoding="utf-8") == "mine"
    assert command("report", trace, "--force").returncode == 0
    assert page.read_text(encoding="utf-8") != "mine"


def test_the_trace_itself_is_never_overwritten(trace: Path) -> None:
    before = trace.read_bytes()
    assert command("report", trace, "-o", trace, "--force").returncode == 2
    assert trace.read_bytes() == before


def test_report_to_standard_output_is_the_page_and_nothing_else(trace: Path) -> None:
    done = command("report", trace, "-o", "-")
    assert done.stdout.lstrip().lower().startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="has no such device")
def test_a_device_as_output_is_written_to_and_not_replaced(trace: Path) -> None:
    assert command("report", trace, "-o", "/dev/null", "--force").returncode == 0
    assert not Path("/dev/null").is_file()


def test_a_link_as_output_stays_a_link(trace: Path, tmp_path: Path) -> None:
    page, link = tmp_path / "real.html", tmp_path / "link.html"
    page.write_text("old", encoding="utf-8")
    link.symlink_to(page)
    assert command("report", trace, "-o", link, "--force").returncode == 0
    assert link.is_symlink()
    assert page.read_text(encoding="utf-8") != "old"


@pytest.mark.parametrize("target", ["no/such/folder/page.html", "folder"])
def test_an_output_that_cannot_be_written_has_its_own_status(
    target: str, trace: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    done = command("report", trace, "-o", tmp_path / target, "--force")
    assert done.returncode == 5
    assert len(lines(done.stderr)) == 1
    assert "unwritable-output" in done.stderr
    assert not list(tmp_path.glob(".traceview-*"))


def test_the_title_is_the_users(trace: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert command("report", trace, "-o", page, "--title", "before <the> fix").returncode == 0
    assert "before &lt;the&gt; fix" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a/run.pt.trace.json.gz", "a/run.html"),
        ("run.json", "run.html"),
        ("run.trace.json.zip", "run.html"),
        ("host_12.1623143089861.pt.trace.json", "host_12.1623143089861.html"),
        ("noending", "noending.html"),
        (".json", ".json.html"),
        ("-", "trace.html"),
    ],
)
def test_the_page_is_named_after_the_trace(name: str, page: str) -> None:
    assert derived_name(name) == str(Path(page))


def test_open_shows_the_written_page(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run(["report", str(trace), "--open"]) == 0
    assert opened == [trace.with_name("run.html").resolve().as_uri()]


# choosing the trace


def test_a_folder_means_its_newest_capture_and_says_which(trace: Path) -> None:
    done = command("summary", trace.parent)
    assert done.returncode == 0
    assert "run.pt.trace.json" in done.stderr
    assert command("summary", trace.parent, "--quiet").stderr == ""


def test_without_a_trace_the_profilers_folder_is_read(trace: Path) -> None:
    done = command("summary", "--format", "json", env={"PROFILER_OUTPUT_DIR": str(trace.parent)})
    assert json.loads(done.stdout)["facts"]["kernel_count"] == 1


def test_without_a_trace_and_without_a_folder_the_usage_is_wrong() -> None:
    done = command("summary", env={"PROFILER_OUTPUT_DIR": ""})
    assert done.returncode == 2
    assert len(lines(done.stderr)) == 1


# errors


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"not a trace", b"version https://git-lfs.github.com/spec/v1\n"]
)
def test_an_unreadable_input_is_one_line_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    for verb in ("summary", "report"):
        done = command(verb, path)
        assert done.returncode == 3
        assert done.stdout == ""
        (line,) = lines(done.stderr)
        assert line.startswith("traceview: broken.json: ")
        assert line.endswith("[unreadable-input]")
    assert [p.name for p in tmp_path.iterdir()] == ["broken.json"]


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    done = command("summary", tmp_path / "none.json")
    assert done.returncode == 3
    assert len(lines(done.stderr)) == 1


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["summary", "--format", "xml"], ["summary", "--top", "0"]]
)
def test_wrong_usage_has_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    (line,) = lines(capsys.readouterr().err)
    assert line.startswith("traceview: ")
    assert "--help'" in line


def fail(*_: Any, **__: Any) -> None:
    raise ValueError("boom \x1b[31m")


@pytest.mark.parametrize("command", ["summary", "findings", "report"])
@pytest.mark.parametrize("option", ["--steps", "--step-name"])
def test_an_empty_choice_of_steps_is_wrong_usage(
    command: str, option: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(trace), option, ""]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert "[usage]" in shown.err


@pytest.mark.parametrize("steps", ["5:6", "5:", ":6", "5"])
def test_every_form_of_a_range_of_steps_is_in_the_help(
    steps: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["summary", "--help"]) == 0
    words = capsys.readouterr().out.replace(",", " ").split()
    assert steps in words


def test_an_internal_error_is_one_line_and_how_to_report_it(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.cli.loading.analyze", fail)
    assert run(["summary", str(trace)]) == 70
    (line,) = lines(capsys.readouterr().err)
    assert "boom \\u001b" in line
    assert "--debug" in line


@pytest.mark.parametrize("place", [0, 2])
def test_debug_shows_the_traceback_wherever_it_stands(
    place: int, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("traceview.cli.loading.analyze", fail)
    arguments = ["summary", str(trace)]
    arguments.insert(place, "--debug")
    assert run(arguments) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupted_command_says_nothing(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("traceview.cli.loading.analyze", interrupt)
    assert run(["summary", str(trace)]) == 130
    assert not capsys.readouterr().err.strip()


@pytest.mark.skipif(os.name == "nt", reason="pipes end differently")
def test_a_reader_that_leaves_early_is_no_error(trace: Path) -> None:
    script = f"{sys.executable} -m traceview summary {trace} --format json | head -c 1"
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")
def test_a_full_disk_behind_standard_output_is_an_output_error(trace: Path) -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "traceview", "summary", str(trace)]
        done = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert len(lines(done.stderr)) == 1


# help, version, progress


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"traceview {__version__}\n"


def test_help_and_version_import_nothing_heavy() -> None:
    code = (
        "import sys; from traceview.cli import run; run(['--help']); run(['report', '--help']); "
        "print([m for m in ('numpy', 'pandas', 'plotly', 'jinja2', 'orjson', 'msgspec', 'rich', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_summary_does_not_pay_for_pandas_and_plotly(trace: Path) -> None:
    code = (
        "import sys; from traceview.cli import run; run(['summary', sys.argv[1]]); "
        "print([m for m in ('pandas', 'plotly') if m in sys.modules])"
    )
    words = [sys.executable, "-c", code, str(trace)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.splitlines()[-1] == "[]"


class Terminal:
    """Stand in for standard error."""

    def __init__(self, tty: bool) -> None:
        self.tty, self.text = tty, ""

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("tty", "quiet", "seconds", "shown"),
    [(True, False, 5, True), (True, False, 0.5, False), (False, False, 5, False), (True, True, 5, False)],
)
def test_progress_is_for_terminals_and_long_work(
    tty: bool, quiet: bool, seconds: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, now = Terminal(tty), [100.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Progress(quiet) as progress:
        now[0] += seconds
        progress(2_000_000)
    assert ("2,000,000 events read" in terminal.text) is shown
    assert terminal.text.endswith("\x1b[K" if shown else "")
