"""Capture a serving engine from outside: its endpoints start and stop the profiler, its files appear in a folder.

vLLM (started with --profiler-config, before 0.21 with VLLM_TORCH_PROFILER_DIR) takes POST /start_profile and
/stop_profile without a body and writes where it was told at its start. SGLang takes a body with num_steps and
output_dir, and stops by itself. Which it is, the description of its interface tells; what it does not describe is
tried. Stopping may take minutes, and a call that times out does not mean that no file comes: files are waited for.
"""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.sources.choose import is_whole_trace

START, STOP = "/start_profile", "/stop_profile"
_CALL_S = 10.0  # for an answer of the server, stopping excepted
_PAUSE_S = 0.25
_SETTLED_S = 2.0  # without another new file after the last one
# counts of engine steps in /metrics: how vLLM's and SGLang's are called
_STEPS = re.compile(
    r"^(?:vllm:iteration_tokens_total_count|sglang:num_forward_steps_total)(?:\{[^}]*\})?\s+(\d+(?:\.\d+)?)",
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

    Raises UsageError for what is no server's address, InputError where it cannot be profiled or no file comes.
    """
    if not re.match(r"https?://[^/\s]+", url):
        raise UsageError(f"{url}: no address of a server", "write it as http://127.0.0.1:8000")
    wishes.folder.mkdir(parents=True, exist_ok=True)
    server = _Server(url.rstrip("/"))
    takes_steps = server.detect()
    before = _files(wishes.folder)
    if takes_steps:
        server.start(_body(wishes))
        say(f"profiling {wishes.steps} steps of a SGLang server")
    else:
        counted = server.steps()
        server.start(None)
        say(f"profiling {wishes.steps} steps, at most {wishes.seconds:g} s, of a vLLM server")
        if counted is None:
            say("the server counts no steps in /metrics: bounded by time alone")
        server.wait_for_steps(counted, wishes)
        server.stop_aside(wishes.patience)
    return _appeared(wishes, before, server, takes_steps)


def _body(wishes: Wishes) -> dict[str, Any]:
    return {
        "output_dir": str(wishes.folder.absolute()),
        "num_steps": wishes.steps,
        "activities": ["CPU", "GPU"],
        "with_stack": wishes.stacks,
        "record_shapes": wishes.shapes,
    }


class _Server:
    """Speak to a server's endpoints."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stopping: threading.Thread | None = None

    def _call(self, path: str, body: object = None, *, post: bool = True, timeout: float = _CALL_S) -> bytes:
        data = (b"" if body is None else json.dumps(body).encode()) if post else None
        headers = {"Content-Type": "application/json"} if body is not None else {}
        method, target = "POST" if post else "GET", f"{self._url}{path}"
        # the scheme was checked
        request = urllib.request.Request(target, data, headers, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            return bytes(answer.read())

    def detect(self) -> bool:
        """Return whether starting takes a number of steps (SGLang); raise InputError where there is no profiler."""
        try:
            paths = json.loads(self._call("/openapi.json", post=False)).get("paths", {})
        except urllib.error.HTTPError:
            return False  # the interface is not described: the plain call will tell
        except (OSError, ValueError, AttributeError) as error:
            raise InputError(
                f"{self._url}: no answer ({error})", "check the address, and that the server runs"
            ) from error
        if START not in paths:
            raise InputError(f"{self._url}: the server has no {START}", _HINT)
        return "requestBody" in paths[START].get("post", {})

    def start(self, body: object) -> None:
        """Start the profiler."""
        try:
            self._call(START, body)
        except urllib.error.HTTPError as error:
            if error.code in (404, 405):
                raise InputError(f"{self._url}: the server has no {START}", _HINT) from error
            raise InputError(
                f"{self._url}: {START} was refused ({error.code})", "see the server's log"
            ) from error
        except OSError as error:
            raise InputError(f"{self._url}: {START} failed ({error})", "see the server's log") from error

    def steps(self) -> float | None:
        """Return how many steps the engine has made, None where it does not tell."""
        try:
            text = self._call("/metrics", post=False).decode("utf-8", "replace")
        except OSError:
            return None
        found = [float(m[1]) for m in _STEPS.finditer(text)]
        return sum(found) if found else None

    def wait_for_steps(self, begun: float | None, wishes: Wishes) -> None:
        """Wait until the engine has made its steps, at most for the seconds."""
        end = time.monotonic() + wishes.seconds
        while time.monotonic() < end:
            now = self.steps() if begun is not None else None
            if begun is not None and now is not None and now - begun >= wishes.steps:
                return
            time.sleep(min(_PAUSE_S, max(0.0, end - time.monotonic())))

    def stop_aside(self, patience: float) -> None:
        """Stop the profiler in a thread of its own: the call may last as long as writing does."""

        def stop() -> None:
            try:
                self._call(STOP, timeout=patience)
            except OSError:
                return  # it may have stopped all the same: the files tell

        self._stopping = threading.Thread(target=stop, daemon=True)
        self._stopping.start()

    @property
    def stopping(self) -> bool:
        """Tell whether the call that stops has not returned."""
        return self._stopping is not None and self._stopping.is_alive()


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            status = path.stat()
            found[path] = (status.st_size, status.st_mtime_ns)
    return found


def _appeared(
    wishes: Wishes, before: dict[Path, tuple[int, int]], server: _Server, takes_steps: bool
) -> list[Path]:
    """Wait for new traces that are whole and no longer grow; return them."""
    end = time.monotonic() + wishes.patience + (wishes.seconds if takes_steps else 0)
    latest: dict[Path, tuple[int, int]] = {}
    whole: dict[Path, tuple[int, int]] = {}
    since = time.monotonic()
    while time.monotonic() < end:
        new = {p: s for p, s in _files(wishes.folder).items() if before.get(p) != s}
        if new != latest:
            latest, since = new, time.monotonic()
        settled = time.monotonic() - since >= _SETTLED_S
        whole |= {p: s for p, s in new.items() if settled and whole.get(p) != s and is_whole_trace(p)}
        if whole and settled and not server.stopping:
            return sorted(whole)
        time.sleep(_PAUSE_S)
    if whole:
        return sorted(whole)
    raise InputError(
        f"no trace appeared in {wishes.folder} within {wishes.patience:g} s",
        "name the folder that the server writes to with --output; did requests run meanwhile?",
    )
