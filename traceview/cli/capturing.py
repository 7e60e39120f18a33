"""What `traceview capture` does between its options and a recording."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from traceview.cli import ending
from traceview.cli.streams import hand_over, say
from traceview.errors import InstallationError, UsageError
from traceview.units import data_size, safe

_SCRIPT_ONLY = ("label", "wait", "warmup", "repeat", "skip_first", "memory", "flops", "note")
_SCHEDULE = ("wait", "warmup", "active", "repeat", "skip_first")
_SWITCHES = ("shapes", "stacks", "memory", "flops", "quiet")
_SERVER_STEPS = 10


def from_script(words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Run a script inside a recording and return its exit status."""
    from traceview.capture import record
    from traceview.capture.scripts import Script, run_script

    script = Script.parsed(words)
    need_torch()
    label = options["label"] or (script.target if script.is_module else Path(script.target).stem)
    chosen: dict[str, Any] = {k: options[k] for k in _SCHEDULE if options[k] is not None}
    chosen |= {k: options[k] for k in _SWITCHES}
    chosen["conditions"] = _noted(options["note"])
    if options["repeat"] not in (None, 1) and 0 == options["wait"] == options["warmup"]:
        raise UsageError(
            "windows that follow each other without a step between crash torch", "give --wait 1 or --warmup 1"
        )
    ending.hand_over()
    hand_over()
    status = run_script(script, options["step_on"], record(label, options["output"], **chosen))
    _leave_output()
    return status


def _leave_output() -> None:
    """Leave a standard output that takes no more to Python, which at the exit deals with it as for any program."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except Exception:  # noqa: BLE001 - closed, full, or something of the script's own
        atexit.register(setattr, sys, "stdout", sys.stdout)
        sys.stdout = None


def _noted(texts: Sequence[str]) -> dict[str, str]:
    """Return conditions that the user notes, NAME=VALUE each."""
    pairs = [text.partition("=") for text in texts]
    if wrong := [
        text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals
    ]:
        raise UsageError(f"--note {wrong[0]} is no NAME=VALUE", "write it as --note batch=8")
    return {name.strip(): value for name, _, value in pairs}


def from_server(url: str, words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Profile a server; say what it wrote."""
    from traceview.capture.server import Wishes, capture_server

    if words:
        raise UsageError("--server goes without a script", "leave one of them out")
    if given := [n for n in _SCRIPT_ONLY if options[n] not in (None, False, ())]:
        raise UsageError(
            f"--{given[0].replace('_', '-')} is for scripts",
            "a server decides that itself: leave it out with --server",
        )
    folder = Path(options["output"] or os.environ.get("PROFILER_OUTPUT_DIR") or "traces")
    wishes = Wishes(
        folder, options["active"] or _SERVER_STEPS, options["seconds"], options["patience"],
        options["shapes"], options["stacks"],
    )  # fmt: skip

    def tell(text: str) -> None:
        if not options["quiet"] or text.startswith("warning:"):
            say(f"traceview: {safe(text)}")

    for path in capture_server(url, wishes, tell):
        say(f"the server wrote {safe(str(path))}{_size(path)}", err=False)
    return 0


def _size(path: Path) -> str:
    try:
        return f" ({data_size(path.stat().st_size)})"
    except OSError:  # the server has taken it away
        return ""


def need_torch() -> None:
    """Refuse, in one line, to go on without torch."""
    if find_spec("torch") is None:
        raise InstallationError("the package torch is not installed", "run pip install 'traceview[capture]'")
