"""Being told to end in the middle of a big file: nothing is left behind, no process and no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them"
)
EVENT = (
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"stream":7,"device":0}},\n'
)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that takes seconds to read, and two processes."""
    path = tmp_path_factory.mktemp("big") / "big.json"
    with path.open("w", encoding="ascii") as file:
        file.write('{"traceEvents":[\n')
        for block in range(100):
            file.write("".join(EVENT % (20 * (block * 10_000 + i)) for i in range(10_000)))
        file.write('{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5}]}')
    return path


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry.parent.name))
    return found


def lives(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="ascii", errors="replace")
            .rpartition(")")[2]
            .split()[0]
            != "Z"
        )
    except OSError:
        return False


def heed_signals() -> None:
    """Undo what a shell in the background or nohup leaves to its children: signals that are ignored."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("how", "status"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130), ("SIGKILL", -9)]
)
def test_no_helper_and_no_file_outlives_the_command(big: Path, tmp_path: Path, how: str, status: int) -> None:
    command = [sys.executable, "-m", "traceview", "report", str(big), "-o", str(tmp_path / "page.html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        preexec_fn=heed_signals,  # noqa: PLW1509 - no threads here, and it only sets signals
    ) as started:
        end = time.monotonic() + 20
        while not (helpers := children(started.pid)) and time.monotonic() < end:
            time.sleep(0.01)
        if not helpers:
            started.kill()
            pytest.skip("one core: no helper is started")
        time.sleep(0.4)
        started.send_signal(getattr(signal, how))
        _, said = started.communicate(timeout=20)
    # Python ends by SIGINT itself where that met it in code made from a text: for a shell it is 130 too
    assert started.returncode in (status, -signal.SIGINT if how == "SIGINT" else status)
    assert said.strip() == b""
    end = time.monotonic() + 2  # far less than the stretch takes to read
    while any(map(lives, helpers)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(lives, helpers))
    assert list(tmp_path.iterdir()) == []
