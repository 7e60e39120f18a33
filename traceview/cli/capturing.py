"""What `traceview capture` does between its options and a recording."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from traceview.cli import ending
from traceview.cli.streams import say
from traceview.errors import InstallationError, UsageError
from traceview.units import data_size, safe

_SCHEDULE = ("wait", "warmup", "active", "repeat", "skip_first")
_SWITCHES = ("shapes", "stacks", "memory", "quiet")
_SERVER_STEPS = 10


def from_script(words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Run a script inside a recording and return its exit status."""
    from traceview.capture import record
    from traceview.capture.scripts import Script, run_script

    script = Script.parsed(words)
    need_torch()
    label = options["label"] or Path(script.target).stem
    chosen: dict[str, Any] = {k: options[k] for k in _SCHEDULE if options[k] is not None}
    chosen |= {k: options[k] for k in _SWITCHES}
    ending.hand_over()
    return run_script(script, options["step_on"], record(label, options["output"], **chosen))


def from_server(url: str, words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Profile a server; say what it wrote."""
    from traceview.capture.server import Wishes, capture_server

    if words:
        raise UsageError("--server goes without a script", "leave one of them out")
    folder = Path(options["output"] or os.environ.get("PROFILER_OUTPUT_DIR") or "traces")
    wishes = Wishes(
        folder, options["active"] or _SERVER_STEPS, options["seconds"], options["patience"],
        options["shapes"], options["stacks"],
    )  # fmt: skip

    def tell(text: str) -> None:
        if not options["quiet"]:
            say(f"traceview: {safe(text)}")

    for path in capture_server(url, wishes, tell):
        say(f"wrote {safe(str(path))} ({data_size(path.stat().st_size)})", err=False)
    return 0


def need_torch() -> None:
    """Refuse, in one line, to go on without torch."""
    if find_spec("torch") is None:
        raise InstallationError("the package torch is not installed", "run pip install 'traceview[capture]'")
