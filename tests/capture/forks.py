"""Run scenarios in processes of their own, all forked from one that has imported what each would import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.architecture.source import ROOT
from tests.capture.making import by_window

RUN = """
import json, sys
exec(compile(open(sys.argv[1]).read(), "head", "exec"))
ended = {}
for name, (folder, text) in json.load(open(sys.argv[2])).items():
    child = os.fork()
    if not child:
        os.chdir(folder)
        said = os.open("said", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(said, 1); os.dup2(said, 2)
        signal.alarm(60)
        status = 1
        try:
            exec(compile(text, name, "exec"), globals())
            print("the job went on", flush=True)
            status = 0
        finally:
            if status:
                import traceback
                traceback.print_exc()
            threading._shutdown()
            import atexit
            atexit._run_exitfuncs()
            sys.stdout.flush()
            if status:
                os._exit(status)
        sys.exit(0)
    ended[name] = os.waitpid(child, 0)[1]
json.dump(ended, open(sys.argv[3], "w"))
"""


class Ended(NamedTuple):
    """Hold how a scenario ended: the status as wait() gives it, what was said, and its folder."""

    status: int
    said: str
    folder: Path

    @property
    def windows(self) -> list[list[int]]:
        """Return the iterations of each file."""
        return by_window(sorted((self.folder / "out").glob("*.gz")))


def forked(head: str, scenarios: dict[str, str], root: Path) -> dict[str, Ended]:
    """Run every scenario behind a common head; return how each ended."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    if not os.environ.get("TRACEVIEW_NEEDS_TORCH"):
        pytest.importorskip("torch")
    jobs: dict[str, Any] = {}
    for number, (name, text) in enumerate(scenarios.items()):
        folder = root / str(number)
        folder.mkdir()
        jobs[name] = (str(folder), textwrap.dedent(text))
    for name, text in (("head.py", head), ("jobs.json", json.dumps(jobs))):
        (root / name).write_text(text, encoding="utf-8")
    places = [str(root / n) for n in ("head.py", "jobs.json", "ended.json")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-W", "ignore", "-c", RUN, *places]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    status = json.loads((root / "ended.json").read_text(encoding="utf-8"))
    return {
        name: Ended(status[name], (Path(folder) / "said").read_text(encoding="utf-8"), Path(folder))
        for name, (folder, _) in jobs.items()
    }
