"""Unmodified scripts, run as processes: what a step is, and what becomes of their exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.capture.making import by_window, leftovers
from traceview.cli import capturing, ending, run
from traceview.errors import UsageError

ROOT = Path(__file__).parents[2]
MARK = "torch.profiler.record_function(f'iteration {i}')"
TRAINING = f"""
    import sys, torch
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    best = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(int(sys.argv[1])):
        with {MARK}:
            for part in range(2):  # two forwards for each step of the optimizer
                model(torch.ones(4, 8)).sum().backward()
            best.step()
"""
INFERENCE = f"""
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).eval()
    with torch.inference_mode():
        for i in range(20):
            with {MARK}:
                model(torch.ones(4, 8))
"""
FUNCTION = f"""
    import torch

    class Engine:
        def decode(self, i):
            with {MARK}:
                return torch.ones(4).add(i)

    def request(i):
        return Engine().decode(2 * i), Engine().decode(2 * i + 1)

    for i in range(20):
        request(i)
"""


Run = Callable[..., Any]


@pytest.fixture
def captured(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a script under `traceview capture` with a window of steps 2 to 4; return status and streams.

    In this process: importing torch takes seconds.
    """

    def run_it(text: str, *words: str, options: tuple[str, ...] = ()) -> Any:
        script = tmp_path / "job.py"
        script.write_text(textwrap.dedent(text), encoding="utf-8")
        asked = ["capture", "--wait", "1", "--warmup", "1", "--active", "3", *options, "--", str(script)]
        monkeypatch.setenv("PROFILER_OUTPUT_DIR", str(tmp_path / "out"))
        monkeypatch.setattr(sys, "argv", list(sys.argv))
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        monkeypatch.setattr(ending, "_waiting", [])
        for name in ("engine", "beside"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        status = run([*asked, *words])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=said.out, stderr=said.err)

    return run_it


def found(folder: Path) -> list[list[int]]:
    files = list((folder / "out").glob("*.gz"))
    assert leftovers(folder / "out") == []
    return by_window(files)


def test_a_step_of_the_first_optimizer_is_a_step(captured: Run, tmp_path: Path) -> None:
    done = captured(TRAINING, "9")
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [[2, 3, 4]]
    (trace,) = (tmp_path / "out").glob("job-pid*-w0.pt.trace.json.gz")
    assert f"wrote {trace}" in done.stderr


def test_without_an_optimizer_the_outermost_forward_is_a_step(captured: Run, tmp_path: Path) -> None:
    done = captured(INFERENCE)
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [[2, 3, 4]]


def test_forwards_can_be_steps_of_a_training(captured: Run, tmp_path: Path) -> None:
    captured(TRAINING, "9", options=("--step-on", "forward"))
    assert found(tmp_path) == [[1, 2]]  # forwards 2, 3 and 4: those of iteration 1, and the first of 2


@pytest.mark.parametrize(
    ("step_on", "window"),
    [(":request", [4, 5, 6, 7, 8, 9]), (":Engine.decode", [2, 3, 4])],
    ids=["function", "method"],
)
def test_a_function_of_the_script_can_be_a_step(
    captured: Run, step_on: str, window: list[int], tmp_path: Path
) -> None:
    done = captured(FUNCTION, options=("--step-on", step_on))
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [window]


def test_a_function_of_a_module_beside_the_script_can_be_a_step(captured: Run, tmp_path: Path) -> None:
    engine = FUNCTION.split("for i in range(20)", maxsplit=1)[0]
    (tmp_path / "engine.py").write_text(textwrap.dedent(engine), encoding="utf-8")
    script = "import engine\nfor i in range(20):\n    engine.request(i)\n"
    done = captured(script, options=("--step-on", "engine:request"))
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [[4, 5, 6, 7, 8, 9]]


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(7)", 7), ("sys.exit('no data')", 1), ("sys.exit()", 0), ("raise ValueError('nan')", 1)],
)
def test_the_exit_status_of_the_script_is_kept(captured: Run, end: str, status: int, tmp_path: Path) -> None:
    done = captured(f"import sys\n{end}\n")
    assert done.returncode == status
    if "nan" in end:
        assert done.stderr.count("Traceback") == 1
        assert 'job.py", line 2, in <module>\n' in done.stderr
        assert "scripts.py" not in done.stderr
        assert "ValueError: nan" in done.stderr.splitlines()
    if "no data" in end:
        assert "no data" in done.stderr.splitlines()


def test_a_script_that_fails_leaves_its_whole_windows(captured: Run, tmp_path: Path) -> None:
    done = captured(TRAINING + "    raise ValueError('nan')\n", "9", options=("--repeat", "0"))
    assert done.returncode == 1
    assert found(tmp_path) == [[2, 3, 4]]


def test_a_script_sees_its_own_arguments_name_and_folder(captured: Run, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("word = 'beside'\n", encoding="utf-8")
    text = "import sys, os, beside\nprint(sys.argv[1:], __name__, os.path.isabs(__file__), beside.word)\n"
    done = captured(text, "--wait", "9", "-x", "--debug")
    assert done.stdout == "['--wait', '9', '-x', '--debug'] __main__ True beside\n"
    assert "job: no optimizer step and no module's forward was seen, so nothing was recorded" in done.stderr


def test_a_script_keeps_its_own_meaning(captured: Run, tmp_path: Path) -> None:
    text = """
        import pickle, sys
        class Held:
            def __init__(self, x: int) -> None:
                self.x = x
        def twice(x: int) -> int:
            return 2 * x
        print(twice.__annotations__["x"] is int, pickle.loads(pickle.dumps(Held(3))).x)
        print(sys.modules["__main__"].twice is twice, sys.stdout.errors)
    """
    errors = sys.stdout.errors
    for options in ((), ("--step-on", ":twice")):
        done = captured(text, options=options)
        assert done.stdout == f"True 3\nTrue {errors}\n", done.stderr


METHODS = f"""
    import asyncio, sys, torch

    class Trainer:
        @staticmethod
        def still(i):
            with {MARK}:
                return torch.ones(4).add(i)

        @classmethod
        def made(cls, i):
            return cls.still(i)

        async def later(self, i):
            await asyncio.sleep(0)
            return self.still(i)

    if True:
        def below(i):
            return Trainer().still(i)

    async def main():
        for i in range(20):
            await Trainer().later(i)

    if __name__ == "__main__":
        if sys.argv[1] == "later":
            asyncio.run(main())
        else:
            for i in range(20):
                below(i) if sys.argv[1] == "below" else getattr(Trainer(), sys.argv[1])(i)
"""


@pytest.mark.parametrize("place", ["", "__main__", "job"])
@pytest.mark.parametrize("name", ["Trainer.still", "Trainer.made", "Trainer.later", "below"])
def test_every_kind_of_function_of_the_script_can_be_a_step(
    captured: Run, place: str, name: str, tmp_path: Path
) -> None:
    done = captured(METHODS, name.rpartition(".")[2], options=("--step-on", f"{place}:{name}"))
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [[2, 3, 4]]


@pytest.mark.parametrize("name", ["still", "made", "later"])
def test_every_kind_of_method_of_a_module_can_be_a_step(captured: Run, name: str, tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(textwrap.dedent(METHODS), encoding="utf-8")
    script = "import sys\nsys.argv[1:] = ['later']\nimport engine, asyncio\n"
    script += "asyncio.run(engine.main())\n" if name == "later" else ""
    script += f"for i in range(20):\n    {name!r} == 'later' or getattr(engine.Trainer(), {name!r})(i)\n"
    done = captured(script, options=("--step-on", f"engine:Trainer.{name}"))
    assert done.returncode == 0, done.stderr
    assert found(tmp_path) == [[2, 3, 4]]


@pytest.mark.parametrize("place", ["", "package.generate"])
def test_a_function_of_a_module_that_is_run_can_be_a_step(
    captured: Run,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "package").mkdir()
    engine = FUNCTION.replace("import torch", "import torch\n    from .size import SIZE", 1)
    (tmp_path / "package" / "generate.py").write_text(textwrap.dedent(engine), encoding="utf-8")
    (tmp_path / "package" / "size.py").write_text("SIZE = 4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    captured("")  # for what it replaces
    words = ["--wait", "1", "--warmup", "1", "--active", "3", "--step-on", f"{place}:request"]
    assert run(["capture", *words, "--", "-m", "package.generate"]) == 0, capsys.readouterr().err
    (trace,) = (tmp_path / "out").glob("package.generate-pid*.gz")
    assert by_window([trace]) == [[4, 5, 6, 7, 8, 9]]


def test_a_child_that_a_script_forks_ends_by_a_signal_as_without_us(torch: Any, tmp_path: Path) -> None:
    script = """
        import os, signal, time
        child = os.fork()
        if not child:
            time.sleep(20)
            os._exit(0)
        time.sleep(0.2)
        os.kill(child, signal.SIGTERM)
        print(os.waitpid(child, 0)[1])
    """
    (tmp_path / "job.py").write_text(textwrap.dedent(script), encoding="utf-8")
    words = [sys.executable, "-m", "traceview", "capture", "--", "job.py"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}"}
    done = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.returncode) == (f"{int(signal.SIGTERM)}\n", 0)
    assert "Traceback" not in done.stderr


def test_conditions_can_be_noted(captured: Run, tmp_path: Path) -> None:
    done = captured(TRAINING, "9", options=("--note", "batch=4", "--note", "loader=a=b"))
    assert done.returncode == 0
    (sidecar,) = (tmp_path / "out").glob("*.capture.json")
    assert json.loads(sidecar.read_text(encoding="utf-8"))["given"] == {"batch": "4", "loader": "a=b"}
    assert captured(TRAINING, "9", options=("--note", "batch")).stderr.startswith(
        "traceview: --note batch is no NAME"
    )


def test_windows_without_a_step_between_are_refused(captured: Run) -> None:
    done = captured(TRAINING, "9", options=("--wait", "0", "--warmup", "0", "--repeat", "0"))
    assert done.returncode == 2
    assert "give --wait 1 or --warmup 1" in done.stderr


def test_what_a_server_decides_is_refused_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "--server", "http://127.0.0.1:1", "--repeat", "2"]) == 2
    assert "--repeat is for scripts" in capsys.readouterr().err


def test_a_module_is_run_as_python_runs_it_and_a_process_leaves_with_its_status(
    torch: Any, tmp_path: Path
) -> None:
    (tmp_path / "package").mkdir()
    main = "import sys\nprint(sys.argv[1:], __name__)\nsys.exit(3)\n"
    (tmp_path / "package" / "__main__.py").write_text(main, encoding="utf-8")
    words = [sys.executable, "-m", "traceview", "capture", "--", "-m", "package", "--lr", "1"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}"}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("['--lr', '1'] __main__\n", 3)


@pytest.mark.parametrize(
    ("step_on", "said"),
    [
        (":nothing", "job.py has no function nothing"),
        ("nowhere:f", "--step-on nowhere:f: ModuleNotFoundError: No module named 'nowhere'"),
        ("json:nothing", "--step-on json:nothing: AttributeError: module 'json' has no attribute 'nothing'"),
        ("torch:float32", "--step-on torch:float32 is no function"),
        ("leaves:f", "--step-on leaves:f: SystemExit: 3"),
        ("sometimes", "--step-on sometimes is no step"),
    ],
)
def test_a_step_that_cannot_be_is_refused_before_the_script_runs(
    captured: Run, step_on: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    done = captured("print('ran')\n", options=("--step-on", step_on))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["-m"], ["nowhere.py"], ["tests"]], ids=str)
def test_what_is_no_script_is_refused(words: list[str]) -> None:
    from traceview.capture.scripts import Script

    with pytest.raises(UsageError):
        Script.parsed(words)


@pytest.mark.parametrize("name", ["nowhere", "nowhere.at_all", "xml"])
def test_what_is_no_module_is_refused_before_anything_runs(name: str) -> None:
    from traceview.capture.programs import program_of
    from traceview.capture.scripts import Script

    with pytest.raises(UsageError):
        program_of(Script(name, (), True))


def test_without_torch_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(capturing, "find_spec", lambda _: None)
    (tmp_path / "job.py").write_text("", encoding="utf-8")
    assert run(["capture", "--", str(tmp_path / "job.py")]) == 70
    assert "pip install 'traceview[capture]'" in capsys.readouterr().err


def test_a_script_whose_model_runs_in_a_thread_keeps_its_exit_status(torch: Any, tmp_path: Path) -> None:
    """The thread ends inside of a window: left open, its session would crash the process at the exit."""
    script = """
        import sys, threading, torch
        model = torch.nn.Linear(4, 4)
        job = threading.Thread(target=lambda: [model(torch.ones(2, 4)) for _ in range(10)])
        job.start()
        job.join()
        sys.exit(7)
    """
    done = captured_process(script, tmp_path)
    assert done.returncode == 7, done.stderr
    assert "the thread that was recorded ended inside of a window: it is dropped" in done.stderr


def test_a_file_named_like_one_of_the_library_does_not_keep_a_script_from_running(
    torch: Any, tmp_path: Path
) -> None:
    (tmp_path / "queue.py").write_text("", encoding="utf-8")
    done = captured_process("print('ran')", tmp_path)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


@pytest.mark.parametrize(
    ("step_on", "said"),
    [
        ("json:loads", "json:loads was not called in this process"),
        ("optimizer", "no optimizer step was seen"),
    ],
)
def test_what_was_not_seen_is_said_by_its_name(captured: Run, step_on: str, said: str) -> None:
    assert (
        f"job: {said}, so nothing was recorded" in captured(INFERENCE, options=("--step-on", step_on)).stderr
    )


def test_an_optimizer_that_never_steps_is_said_to_keep_forwards_from_being_steps(captured: Run) -> None:
    text = "import torch\nmodel = torch.nn.Linear(2, 2)\nbest = torch.optim.SGD(model.parameters(), lr=1)\n"
    said = captured(text + "for _ in range(9): model(torch.ones(2))\n").stderr
    assert "an optimizer was made, so forwards are no steps, and no step of it was seen" in said


def captured_process(text: str, folder: Path) -> Any:
    script = folder / "job.py"
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    words = [sys.executable, "-m", "traceview", "capture", "-o", str(folder / "out"), "--", str(script)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_no_label_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    from traceview.capture.guard import say

    say("a\nb \x1b[2J é")
    assert capsys.readouterr().err == "traceview: a\\nb \\x1b[2J é\n"
