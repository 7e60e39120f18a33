"""Run an unmodified script in this process and tell its steps from outside.

A step is a step of the optimizer that was made first; without an optimizer a forward of the outermost module that
ran twice first; or a call of a function that the user names. The script sees its own arguments, its own folder on
the path, and leaves with its own exit status.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from traceview.capture.calls import followed
from traceview.capture.guard import attempt, ended, required
from traceview.capture.programs import OURS, entry_of, program_of
from traceview.capture.recording import Recording
from traceview.capture.watching import AUTO, FORWARD, OPTIMIZER, Steps
from traceview.errors import UsageError


class Script(NamedTuple):
    """Hold what is run: a file, or a module where `is_module`, and its arguments."""

    target: str
    arguments: tuple[str, ...]
    is_module: bool

    @classmethod
    def parsed(cls, words: Sequence[str]) -> Script:
        """Return the script of a command line: SCRIPT ARGS, or -m MODULE ARGS as for python."""
        if not words:
            raise UsageError(
                "no script was named", "write it behind --: traceview capture -- train.py --epochs 1"
            )
        if words[0] == "-m":
            if len(words) < 2:
                raise UsageError("-m names no module", "write traceview capture -- -m package.module")
            return cls(words[1], tuple(words[2:]), True)
        path = Path(words[0])
        try:
            found = (path / "__main__.py" if path.is_dir() else path).open("rb")
        except OSError as error:
            raise UsageError(
                f"{words[0]}: no script that can be read ({error.strerror})",
                "name a Python file, or -m and a module",
            ) from error
        found.close()
        return cls(words[0], tuple(words[1:]), False)

    @property
    def names(self) -> tuple[str, ...]:
        """Return how the module that is run may be called where one of its functions is a step."""
        return ("", "__main__", self.target if self.is_module else Path(self.target).stem)


_OUR_FRAMES = 64  # more than stand below and within a script's own
NONE_SEEN = {
    AUTO: "no optimizer step and no module's forward was seen",
    OPTIMIZER: "no optimizer step was seen",
    FORWARD: "no module's forward was seen",
}


def run_script(script: Script, step_on: str, recording: Recording) -> int:
    """Run a script inside a recording; return its exit status, after its traceback where it failed."""
    # before the script's folder stands first on the path: it may hold a file named like one that torch imports
    torch = attempt("loading torch", lambda: importlib.import_module("torch"))
    sys.setrecursionlimit(sys.getrecursionlimit() + _OUR_FRAMES)
    sys.argv = ["-m" if script.is_module else script.target, *script.arguments]
    if (entry := entry_of(script)) is not None:
        sys.path.insert(0, entry)
    recording.is_watched = True
    recording.advice = "name what a step is with --step-on"
    own, _, name = step_on.partition(":")
    if name and own in script.names:
        steps: AbstractContextManager[object] = nullcontext()
        program = program_of(script, name, recording.step)
        recording.absent = f"{name} was not called in this process"
    else:
        program, steps = program_of(script), stepping(step_on, recording) if torch else nullcontext()

    def run() -> None:
        with recording:
            program()

    with steps:
        return ended(run, (__file__, *OURS))


@contextmanager
def stepping(step_on: str, recording: Recording) -> Iterator[None]:
    """Let a recording step on optimizers, forwards, or calls of module:function."""
    if ":" in step_on:
        recording.absent = f"{step_on} was not called in this process"
        undo = _wrap(step_on, recording.step)
    elif step_on in (AUTO, OPTIMIZER, FORWARD):

        def made() -> None:
            recording.absent = "an optimizer was made, so forwards are no steps, and no step of it was seen"

        recording.absent = NONE_SEEN[step_on]
        steps = Steps(step_on, recording.step, made)
        steps.watch()
        undo = steps.close
    else:
        raise UsageError(f"--step-on {step_on} is no step", "use optimizer, forward or module:function")
    try:
        yield
    finally:
        undo()


def _wrap(step_on: str, step: Callable[[], None]) -> Callable[[], None]:
    """Make every call of module:function, or module:Class.method, a step; return what undoes it."""
    module, _, path = step_on.partition(":")
    *places, name = path.split(".")
    named = f"--step-on {step_on}", "name module:function as Python imports it"

    def found() -> tuple[Any, Any]:
        holder: Any = importlib.import_module(module)
        for place in places:
            holder = getattr(holder, place)
        return holder, getattr(holder, name)

    def wrapped() -> bool:
        is_own = name in vars(holder)
        if not isinstance(holder, (type, ModuleType)):  # of an object: a method that is bound to it
            setattr(holder, name, followed(function, step))
        elif isinstance(plain, (staticmethod, classmethod)):
            setattr(holder, name, type(plain)(followed(plain.__func__, step)))
        else:
            setattr(holder, name, followed(plain, step))
        return is_own

    holder, function = required(*named, found)
    # a module may make its names only when they are asked for
    plain = inspect.getattr_static(holder, name, function)
    if not callable(function) or isinstance(function, type):
        raise UsageError(f"{named[0]} is no function", named[1])
    is_own = required(*named, wrapped)

    def undo() -> None:
        with suppress(AttributeError):
            setattr(holder, name, plain) if is_own else delattr(holder, name)

    return undo
