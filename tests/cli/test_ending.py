"""Being told to end in the middle of a big file: nothing is left behind, no process and no file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from traceview import crew

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them"
)
EVENT = (
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"stream":7,"device":0}},\n'
)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that takes ten seconds to read, and two processes."""
    path = tmp_path_factory.mktemp("big") / "big.json"
    block = "".join(EVENT % (20 * i) for i in range(10_000))
    with path.open("w", encoding="ascii") as file:
        file.write('{"traceEvents":[\n')
        for _ in range(300):
            file.write(block)
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


def started(big: Path, page: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "traceview", "report", str(big), "-o", str(page)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        preexec_fn=heed_signals,  # noqa: PLW1509 - no threads here, and it only sets signals
    )


@pytest.mark.parametrize(
    ("how", "status"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130), ("SIGKILL", -9)]
)
def test_no_helper_and_no_file_outlives_the_command(big: Path, tmp_path: Path, how: str, status: int) -> None:
    with started(big, tmp_path / "page.html") as command:
        end = time.monotonic() + 20
        while not (helpers := children(command.pid)) and time.monotonic() < end:
            time.sleep(0.01)
        if not helpers:
            command.kill()
            pytest.skip("one core: no helper is started")
        time.sleep(0.4)
        command.send_signal(getattr(signal, how))
        _, said = command.communicate(timeout=60)
    assert command.returncode == status
    assert said.strip() == b""
    end = time.monotonic() + 6  # less than the stretch takes to read, and more on a machine that is busy
    while any(map(lives, helpers)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(lives, helpers))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("delay", [0.15, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6])
def test_whenever_it_comes_the_end_is_quiet_and_has_its_status(
    big: Path, tmp_path: Path, delay: float
) -> None:
    with started(big, tmp_path / "page.html") as command:
        time.sleep(delay)  # somewhere in the imports, or behind them
        command.send_signal(signal.SIGTERM)
        _, said = command.communicate(timeout=60)
    assert said.strip() == b""
    assert command.returncode in (143, -signal.SIGTERM)  # the latter: before Python was up


SPOILS = """
import os, signal
class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
class Owner:
    field = Field()
print("imported", flush=True)
"""
ENDS = """
import sys, time
from traceview.cli import ending
ending.prepare()
try:
    import spoils
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(ending.status(130))
"""


def test_an_import_that_would_spoil_the_interruption_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "spoils.py").write_text(SPOILS, encoding="utf-8")
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-c", ENDS],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=15,
        preexec_fn=heed_signals,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (143, "imported\ninterrupted\n", "")


def test_a_helper_whose_starter_had_ended_before_it_looked_ends_too(big: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    command = [sys.executable, *crew._FLAGS, json.dumps(sys.path), str(big), "0", "-1", str(ended.pid)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"")
