"""Capture a serving engine from outside: its endpoints start and stop the profiler, its files appear in a folder.

vLLM (started with --profiler-config, before 0.21 with VLLM_TORCH_PROFILER_DIR) takes POST /start_profile and
/stop_profile without a body and writes where it was told at its start. SGLang takes a body with num_steps and
output_dir, and stops by itself, but never where its steps are never made: then POST /stop_profile stops it too, and
where it had stopped that is refused (500) and does nothing. Which it is, the description of its interface tells; what it
does not describe is tried. Stopping may take minutes, and a call that times out does not mean that no file comes: files
are waited for. Whatever ends the capture, a server that may profile is told once to stop.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.capture.server_calls import Address, Answer, CallError, get, post
from traceview.capture.server_files import NewFiles, names
from traceview.errors import InputError, OutputError, UsageError

START, STOP = "/start_profile", "/stop_profile"
_CALL_S = 10.0  # for an answer of the server
_START_S = 60.0  # for that of starting: each rank prepares its profiler
_PAUSE_S = 0.25
_SETTLED_S = 2.0  # without a change of any file, or another one
_SENT_S = 1.0  # until a call that was begun has certainly been sent
_TOO_SLOW = 2  # times the steps that an engine may make while a slower one makes its own
_UNSURE = (502, 503, 504)  # of a proxy: the server behind it may have started
# counts of engine steps in /metrics: how vLLM's and SGLang's are called, with the labels that tell the engine; from a
# million on 1.234567e+06
_STEPS = re.compile(
    r"^(?:vllm:iteration_tokens_total_count|sglang:num_forward_steps_total)(\{[^}]*\})?"
    r"\s+(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)",
    re.M,
)
_HINT = (
    'start vLLM with --profiler-config \'{"profiler":"torch","torch_profiler_dir":"/abs/dir"}\' '
    "(before 0.21: VLLM_TORCH_PROFILER_DIR=/abs/dir), or use a SGLang server"
)


@dataclass(frozen=True)
class Wishes:
    """Hold where files are expected, for how many steps and at most seconds, and how long to wait for files."""

    folder: Path
    steps: int
    seconds: float
    patience: float
    shapes: bool = False
    stacks: bool = False


Say = Callable[[str], None]


def capture_server(url: str, wishes: Wishes, say: Say) -> list[Path]:
    """Profile a server for some steps; return the traces that it wrote, whole ones only.

    What is not whole when patience ends is named in a line that begins with "warning:".
    Raises UsageError for what is no server's address, OutputError for what cannot be its folder, InputError where it
    cannot be profiled or no whole trace comes.
    """
    server = _Server(Address.parsed(url), say)
    if not all(math.isfinite(s) and s > 0 for s in (wishes.seconds, wishes.patience)):
        raise UsageError(
            "--seconds and --patience have to be numbers of seconds", "write them as --seconds 30"
        )
    made = _prepared(wishes.folder)
    try:
        return _profiled(server, wishes, say)
    finally:
        server.release()
        if not server.may_have_run:
            _undo(made)


def _profiled(server: _Server, wishes: Wishes, say: Say) -> list[Path]:
    takes_steps = server.detect()
    files = NewFiles(wishes.folder)
    if takes_steps:
        server.start(_body(wishes))
        say(f"profiling {wishes.steps} steps of a SGLang server")
        if not _comes(files, wishes.seconds):
            say(f"no file within {wishes.seconds:g} s: the server is told to stop")
            server.stop(wishes.patience)
    else:
        counted = server.steps(_CALL_S)
        server.start(None)
        say(f"profiling {wishes.steps} steps, at most {wishes.seconds:g} s, of a vLLM server")
        if counted is None:
            say("the server counts no steps in /metrics: bounded by time alone")
        server.wait_for_steps(counted, wishes)
        server.stop(wishes.patience)
    return _appeared(files, wishes, server, say)


def _body(wishes: Wishes) -> dict[str, Any]:
    return {
        "output_dir": str(wishes.folder.absolute()),
        "num_steps": wishes.steps,
        "activities": ["CPU", "GPU"],
        "with_stack": wishes.stacks,
        "record_shapes": wishes.shapes,
    }


def _prepared(folder: Path) -> list[Path]:
    """Make a folder; return what was made for it, the innermost first."""
    hint = "name a folder that the server writes to with --output"
    missing: list[Path] = []
    try:
        missing += [p for p in (folder, *folder.parents) if not p.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except FileExistsError:
        raise OutputError(f"{folder}: is no folder", hint) from None
    except (OSError, ValueError) as error:
        _undo(missing)
        raise OutputError(f"{folder}: {getattr(error, 'strerror', None) or error}", hint) from None
    if not os.access(folder, os.R_OK | os.X_OK):
        raise OutputError(f"{folder}: cannot be looked into", hint)
    # the server writes, not we: another's folder, as a container makes it, may well be its own
    ours = owner == getattr(os, "geteuid", lambda: owner)()
    if ours and not os.access(folder, os.W_OK):
        raise OutputError(f"{folder}: cannot be written to", hint)
    return missing


def _undo(made: list[Path]) -> None:
    for folder in made:
        with suppress(OSError, ValueError):  # not empty: it is somebody's by now
            folder.rmdir()


class _Server:
    """Start and stop a server's profiler, once each."""

    def __init__(self, address: Address, say: Say) -> None:
        self._address, self._say = address, say
        self._stops = True  # unless its description leaves /stop_profile out
        self._ends_itself = False
        self._claim = threading.Lock()  # whoever takes it tells the server to stop: nobody does a second time
        self._settled = threading.Event()  # stopping was answered, or will not be
        self._trouble = ""
        self.may_have_run = False
        self.over = False

    def detect(self) -> bool:
        """Return whether starting takes a number of steps (SGLang); raise InputError where there is no profiler."""
        try:
            answer = get(self._address, "/openapi.json", _CALL_S)
        except CallError as error:
            hint = "check the address, and that the server runs"
            raise InputError(f"{self._address}: no answer ({error})", hint) from error
        if 300 <= answer.status < 400:
            raise InputError(f"{self._address}: leads elsewhere ({answer.status})", "name where it leads to")
        if not answer.good:
            return False  # the interface is not described: the plain call will tell
        paths = self._described(answer)
        if START not in paths:
            raise InputError(f"{self._address}: the server has no {START}", _HINT)
        self._stops = STOP in paths
        way = paths[START].get("post") if isinstance(paths[START], dict) else None
        self._ends_itself = isinstance(way, dict) and "requestBody" in way
        return self._ends_itself

    def _described(self, answer: Answer) -> dict[str, Any]:
        try:
            document = json.loads(answer.body)
        except (ValueError, RecursionError):
            document = None
        paths = document.get("paths") if isinstance(document, dict) else None
        if not isinstance(paths, dict):
            raise InputError(
                f"{self._address}: /openapi.json describes no interface",
                "check that a vLLM or SGLang server listens at this address",
            )
        return paths

    def start(self, body: object) -> None:
        """Start the profiler."""
        self.may_have_run = True  # from here on, whatever comes in between
        try:
            answer = post(self._address, START, body, _START_S)
        except CallError as error:
            self.may_have_run = error.arrived
            raise InputError(f"{self._address}: {START} failed ({error})", "see the server's log") from error
        if answer.good:
            return
        self.may_have_run = answer.status in _UNSURE
        if answer.status in (404, 405):
            raise InputError(f"{self._address}: the server has no {START}", _HINT)
        raise InputError(
            f"{self._address}: {START} was refused ({answer.status})",
            "see the server's log; it may be profiling for somebody else",
        )

    def steps(self, timeout: float) -> dict[str, float] | None:
        """Return how many steps each engine has made, by its labels, None where the server does not tell."""
        try:
            answer = get(self._address, "/metrics", timeout)
        except CallError:
            return None
        text = answer.body.decode("utf-8", "replace") if answer.good else ""
        return {m[1] or "": float(m[2]) for m in _STEPS.finditer(text)} or None

    def wait_for_steps(self, begun: Mapping[str, float] | None, wishes: Wishes) -> None:
        """Wait until the engines have made their steps, at most for the seconds."""
        end = time.monotonic() + wishes.seconds
        while (left := end - time.monotonic()) > 0:
            now = self.steps(min(_CALL_S, left)) if begun is not None else None
            if begun is not None and now is not None and _are_made(wishes.steps, begun, now):
                return
            time.sleep(min(_PAUSE_S, max(0.0, end - time.monotonic())))

    def stop(self, timeout: float) -> None:
        """Stop the profiler, once, in a thread of its own: the call may last as long as writing does."""
        if self._stops:
            threading.Thread(target=self._stop, args=(timeout,), daemon=True).start()

    def _stop(self, timeout: float) -> None:
        if not self._claim.acquire(blocking=False):
            return
        try:
            answer = post(self._address, STOP, None, timeout)
            if not answer.good and not self._ends_itself:  # who has ended already refuses to end
                self._trouble = f"refused, {answer.status}"
        except CallError as error:  # it may have stopped all the same: the files tell
            self._trouble = str(error)
        finally:
            self._settled.set()

    @property
    def stopping(self) -> bool:
        """Tell whether the call that stops has not returned."""
        return self._claim.locked() and not self._settled.is_set()

    def tell_trouble(self) -> None:
        """Say, once, that the server did not confirm to have stopped."""
        if self._settled.is_set() and self._trouble:
            why, self._trouble = self._trouble, ""
            self._say(f"warning: {self._address}: {STOP} was not confirmed ({why}): it may go on profiling")

    def release(self) -> None:
        """Leave no server profiling that can be reached, however the capture ends."""
        if not self.may_have_run or self.over:
            return
        if not self._stops:
            self._say(f"warning: {self._address} has no {STOP}: it profiles until its steps are made")
            return
        told = self._claim.locked()
        self.stop(_CALL_S)
        if not self._settled.wait(_SENT_S if told else _CALL_S):
            return  # it was told, and may be writing
        self.tell_trouble()


def _are_made(steps: int, begun: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Tell whether every engine that works has made its steps, or one of them so many that no other is waited for.

    Data parallel engines profile themselves each, and are stopped together: idle ones would never end, and a slow one
    would let the files of the others grow. One that was started anew counts from 0.
    """
    made = [n - begun[k] if n >= begun.get(k, n + 1) else n for k, n in now.items()]
    working = [m for m in made if m > 0]
    return bool(working) and (min(working) >= steps or max(working) >= _TOO_SLOW * steps)


def _comes(files: NewFiles, seconds: float) -> bool:
    """Wait for the first new file; tell whether one came in time."""
    end = time.monotonic() + seconds
    while not files.look():
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True


def _appeared(files: NewFiles, wishes: Wishes, server: _Server, say: Say) -> list[Path]:
    """Wait until all new traces are whole and nothing changes any more; return those that are whole."""
    end = time.monotonic() + wishes.patience
    while time.monotonic() < end:
        files.look()
        server.tell_trouble()
        if files.whole and not files.unfinished and files.quiet_s >= _SETTLED_S and not server.stopping:
            break
        time.sleep(_PAUSE_S)
    whole, unfinished = files.whole, files.unfinished
    if not whole:
        lacking = f"no trace appeared in {wishes.folder} within {wishes.patience:g} s"
        if unfinished:
            lacking = (
                f"no trace in {wishes.folder} was whole within {wishes.patience:g} s ({names(unfinished)})"
            )
        raise InputError(
            lacking, "name the folder that the server writes to with --output; did requests run meanwhile?"
        )
    server.over = True
    if unfinished:
        say(f"warning: not whole within {wishes.patience:g} s, and left out: {names(unfinished)}")
    say(f"written by the server: {names(whole)}")
    return whole
