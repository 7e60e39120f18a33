"""A program that is run under `traceview capture` finds what it finds under Python: that one is asked, in a process."""

from __future__ import annotations

import io
import os
import py_compile
import signal
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.architecture.source import ROOT
from tests.capture.making import failing
from traceview.capture.guard import ended
from traceview.capture.programs import program_of
from traceview.capture.scripts import Script, stepping
from traceview.cli import ending, run
from traceview.errors import UsageError

SHOW = """
import sys
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
for name in sorted(n for n in globals() if n.startswith("__")):
    kept = name in ("__loader__", "__spec__", "__builtins__")
    print(name, type(globals()[name]).__name__ if kept else globals()[name])
"""


class Ended(NamedTuple):
    """Hold how a program ended."""

    status: int
    said: str
    errors: str


def by_python(folder: Path, *words: str) -> Ended:
    """Run a program by Python itself."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def by_us(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Ended]]:
    """Run a program under `traceview capture`, in this process: importing torch takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILER_OUTPUT_DIR", str(tmp_path / "out"))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(ending, "_waiting", [])
    before = set(sys.modules)

    def run_it(*words: str, options: tuple[str, ...] = ()) -> Ended:
        capsys.readouterr()
        status = run(["capture", *options, "--", *words])
        said = capsys.readouterr()
        errors = [line for line in said.err.splitlines(True) if not line.startswith("traceview: ")]
        return Ended(status, said.out, "".join(errors))

    yield run_it
    for name in sys.modules.keys() - before:
        if name.partition(".")[0] in ("package", "broken"):
            del sys.modules[name]


@pytest.mark.parametrize(
    "word",
    ["real/show.py", "./real/../real/show.py", "link.py", "second.py", "linked/show.py", "-m package", "-m package.sub",
     "package", "./package/", "archive.pyz", "show.pyc"],
)  # fmt: skip
def test_a_program_finds_its_path_its_words_and_its_names_as_under_python(
    by_us: Callable[..., Ended], tmp_path: Path, word: str
) -> None:
    for place in ("real/show.py", "package/__main__.py", "package/sub.py", "package/__init__.py"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if "init" in place else SHOW, encoding="utf-8")
    (tmp_path / "link.py").symlink_to("real/show.py")
    (tmp_path / "second.py").symlink_to("link.py")
    (tmp_path / "linked").symlink_to("real")
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    py_compile.compile(str(tmp_path / "real" / "show.py"), str(tmp_path / "show.pyc"))
    words = [*word.split(), "--lr", "1"]
    expected = by_python(tmp_path, *words)
    assert expected.status == 0
    assert by_us(*words) == expected


FAILURES = {
    "an exception": "def f():\n    raise ValueError('nan')\nf()\n",
    "one of its own that is no Exception": "class Stop(BaseException): pass\ndef f(): raise Stop('enough')\nf()\n",
    "one that comes of another": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e\n",
    "one that cannot say what it is": "class E(Exception):\n    def __str__(self): raise OSError\nraise E\n",
    "a group": "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])\n",
    "wrong syntax": "x = 1\ndef f(:\n    pass\n",
    "wrong indentation": "if True:\nx = 1\n",
    "a hook of its own": "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__, v, tb.tb_lineno)\n1 / 0\n",
    "a hook that finds nothing in the air": (
        "import sys\nsys.excepthook = lambda t, v, tb: print(sys.exc_info(), v.__traceback__ is tb)\n1 / 0\n"
    ),
    "a hook that fails": "import sys\ndef hook(*_): {}['k']\nsys.excepthook = hook\n1 / 0\n",
    "a hook that leaves": "import sys\nsys.excepthook = lambda *_: sys.exit(9)\n1 / 0\n",
    "a hook that says why": "import sys\nsys.excepthook = lambda *_: sys.exit('why')\n1 / 0\n",
    "no hook": "import sys\ndel sys.excepthook\n1 / 0\n",
    "text before it": "import sys\nsys.stderr.write('first ')\nraise ValueError\n",
}


@pytest.mark.parametrize("what", FAILURES)
def test_what_nobody_catches_is_told_as_python_tells_it(
    by_us: Callable[..., Ended], tmp_path: Path, what: str
) -> None:
    (tmp_path / "job.py").write_text(FAILURES[what], encoding="utf-8")
    expected = by_python(tmp_path, "job.py")
    assert expected.status in (1, 9)
    assert by_us("job.py") == expected


def test_what_a_program_wrote_stands_before_what_ended_it(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(file))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(file, write_through=True))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    assert ended(lambda: print("epoch 1") or failing(ValueError("nan"))(), (__file__,)) == 1
    lines = file.getvalue().decode().splitlines()
    assert (lines[0], lines[-1]) == ("epoch 1", "ValueError: nan")


def test_an_interruption_is_told_to_a_hook_of_the_program_and_is_quiet_else(
    by_us: Callable[..., Ended], tmp_path: Path
) -> None:
    hook = "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__)\n"
    (tmp_path / "job.py").write_text(f"{hook}raise KeyboardInterrupt\n", encoding="utf-8")
    assert by_us("job.py").said == by_python(tmp_path, "job.py").said == "hook KeyboardInterrupt\n"
    sys.excepthook = sys.__excepthook__
    (tmp_path / "job.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    assert by_us("job.py") == (130, "", "\n")


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("raise RuntimeError('no device')", 1, "RuntimeError: no device\n"),
        ("raise SystemExit(3)", 3, ""),
        ("def f(:", 1, "SyntaxError: invalid syntax\n"),
    ],
)
def test_a_package_that_fails_on_the_way_to_its_module_fails_as_a_program(
    by_us: Callable[..., Ended], tmp_path: Path, text: str, status: int, said: str
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text(text, encoding="utf-8")
    (tmp_path / "broken" / "sub.py").write_text("", encoding="utf-8")
    done = by_us("-m", "broken.sub")
    assert (done.status, done.said) == (status, "")
    assert done.errors.endswith(said)
    assert "programs.py" not in done.errors


NAMES = """
import sys
if len(sys.argv) > 9:
    def either(): ...
else:
    def either(): ...
try:
    import nowhere
    def fallback(): ...
except ImportError:
    def fallback(): ...
try:
    pass
except ImportError:
    def otherwise(): ...
else:
    def otherwise(): ...
finally:
    def at_last(): ...
for _ in range(1):
    while True:
        def in_loops(): ...
        break
with open(__file__):
    def inside(): ...
match len(sys.argv):
    case 99:
        def matched(): ...
    case _:
        def matched(): ...
def again(): ...
def again(): ...
class Engine:
    if True:
        def below(self): ...
    class Inner:
        def deep(self): ...
    @property
    def size(self):
        return 3
    @size.setter
    def size(self, value): ...
    def outer(self):
        def hidden(): ...
        hidden()
for name in ("either", "fallback", "otherwise", "at_last", "in_loops", "inside", "matched", "again"):
    globals()[name]()
Engine().below(), Engine.Inner().deep(), Engine().outer()
Engine().size = Engine().size
"""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what a program changes here."""
    monkeypatch.setattr(sys, "argv", ["job.py"])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.mark.parametrize(
    ("name", "calls"),
    [("either", 1), ("fallback", 1), ("otherwise", 1), ("at_last", 1), ("in_loops", 1), ("inside", 1), ("matched", 1),
     ("again", 1), ("Engine.below", 1), ("Engine.Inner.deep", 1), ("Engine.size", 2)],
)  # fmt: skip
@pytest.mark.usefixtures("alone")
def test_every_definition_of_a_name_that_may_be_the_one_that_is_bound_is_followed(
    tmp_path: Path, name: str, calls: int
) -> None:
    (tmp_path / "job.py").write_text(NAMES, encoding="utf-8")
    seen: list[str] = []
    program_of(Script(str(tmp_path / "job.py"), (), False), name, lambda: seen.append(name))()
    assert len(seen) == calls


@pytest.mark.parametrize("name", ["hidden", "Engine", "Engine.outer.hidden", "Inner.deep", "Engine.hidden"])
@pytest.mark.usefixtures("alone")
def test_what_is_no_function_of_the_module_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "job.py").write_text(NAMES, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"job\.py has no function {name}"):
        program_of(Script(str(tmp_path / "job.py"), (), False), name)


@pytest.mark.usefixtures("alone")
def test_a_program_without_a_marked_function_holds_no_name_of_ours(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "assert not [n for n in globals() if 'traceview' in n]\n", encoding="utf-8"
    )
    program_of(Script(str(tmp_path / "job.py"), (), False))()


@pytest.mark.usefixtures("alone")
def test_a_compiled_file_has_no_text_to_mark(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("def f(): ...\n", encoding="utf-8")
    py_compile.compile(str(tmp_path / "job.py"), str(tmp_path / "job.pyc"))
    with pytest.raises(UsageError, match="no text of Python that can be read"):
        program_of(Script(str(tmp_path / "job.pyc"), (), False), "f")


@pytest.mark.usefixtures("alone")
def test_an_archive_without_a_main_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "job.pyz", "w") as archive:
        archive.writestr("other.py", "")
    with pytest.raises(UsageError, match="has no __main__"):
        program_of(Script(str(tmp_path / "job.pyz"), (), False))


ENGINE = """
class Base:
    def inherited(self): ...
class Engine(Base):
    limit = 3
    def decode(self): ...
ENGINE = Engine()
ENGINE.attached = lambda: None
def __getattr__(name):
    if name == "lazy":
        return lambda: None
    raise AttributeError(name)
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a module to step on."""
    (tmp_path / "engine_to_step.py").write_text(ENGINE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import engine_to_step

    yield engine_to_step
    del sys.modules["engine_to_step"]


@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("Engine.inherited", lambda m: m.Engine().inherited()),
        ("ENGINE.decode", lambda m: m.ENGINE.decode()),
        ("ENGINE.inherited", lambda m: m.ENGINE.inherited()),
        ("ENGINE.attached", lambda m: m.ENGINE.attached()),
        ("lazy", lambda m: m.lazy()),
    ],
)
def test_functions_of_objects_bases_and_lazy_modules_can_be_steps_and_all_is_as_it_was(
    engine: Any, path: str, call: Callable[[Any], None]
) -> None:
    seen: list[str] = []
    recording: Any = SimpleNamespace(step=lambda: seen.append(path))
    places = (engine, engine.Engine, engine.ENGINE)
    before = [dict(vars(place)) for place in places]
    with stepping(f"engine_to_step:{path}", recording):
        call(engine)
        engine.Base().inherited()  # which nobody named
    call(engine)
    assert seen == [path]
    assert [dict(vars(place)) for place in places] == before


@pytest.mark.parametrize("path", ["ENGINE", "Engine", "Engine.limit"])
def test_what_cannot_be_called_and_what_is_a_class_is_no_step(engine: Any, path: str) -> None:
    with (
        pytest.raises(UsageError, match=f"engine_to_step:{path} is no function"),
        stepping(f"engine_to_step:{path}", SimpleNamespace(step=None)),  # type: ignore[arg-type]
    ):
        pass


def test_what_cannot_be_replaced_is_no_step() -> None:
    with (
        pytest.raises(UsageError, match=r"builtins:str\.upper: TypeError: cannot set 'upper'"),
        stepping("builtins:str.upper", SimpleNamespace(step=None)),  # type: ignore[arg-type]
    ):
        pass


def as_processes(folder: Path, output: str) -> list[tuple[int, list[str]]]:
    """Run job.py under Python and under us, with a file as standard output; return status and errors of both."""
    found = []
    env = {n: v for n, v in os.environ.items() if n != "PYTHONUNBUFFERED"}
    for words in (["job.py"], ["-W", "ignore", "-m", "traceview", "capture", "--", "job.py"]):
        with open(output, "w", encoding="utf-8") as file:  # noqa: PTH123 - a device, it may be
            done = subprocess.run(
                [sys.executable, *words],
                cwd=folder,
                env={**env, "PYTHONPATH": str(ROOT)},
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=60,
            )
        errors = [line for line in done.stderr.splitlines() if not line.startswith("traceview: job: no opt")]
        found.append((done.returncode, errors))
    return found


@pytest.mark.parametrize(
    ("text", "output", "status"),
    [
        ("import sys\nprint('hi')\nsys.stdout.close()\n", "said", 0),
        ("import os\nos.close(1)\n", "said", 0),
        ("import sys\nclass O:\n    def flush(self): raise KeyError('k')\n    __repr__ = lambda s: 'O'\nsys.stdout = O()\n", "said", 120),
        ("import sys\nprint('hi')\nsys.exit(3)\n", "/dev/full", 120),
    ],
    ids=["closed", "number closed", "cannot be flushed", "full"],
)  # fmt: skip
def test_an_output_that_takes_no_more_is_no_error_of_ours(
    torch: Any, tmp_path: Path, text: str, output: str, status: int
) -> None:
    if output == "/dev/full" and not Path(output).exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "job.py").write_text(text, encoding="utf-8")
    python, ours = as_processes(tmp_path, str(tmp_path / output))
    assert ours == python
    assert ours[0] == status


def test_ctrl_c_ends_the_main_task_of_asyncio(torch: Any, tmp_path: Path) -> None:
    script = """
        import asyncio, os, signal
        async def main():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(20)
            except asyncio.CancelledError:
                print("saved", flush=True)
                raise
        asyncio.run(main())
    """
    (tmp_path / "job.py").write_text(textwrap.dedent(script), encoding="utf-8")
    assert by_python(tmp_path, "job.py")[:2] == (-signal.SIGINT, "saved\n")
    words = ["-W", "ignore", "-m", "traceview", "capture", "--", "job.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, "saved\n")
