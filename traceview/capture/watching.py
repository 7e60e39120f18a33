"""See from outside what a step of a program is: a step of its optimizer, or a forward of its model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from traceview.capture.compiled import in_graph
from traceview.capture.forwards import Forwards

AUTO, OPTIMIZER, FORWARD = "auto", "optimizer", "forward"


class Steps:
    """Watch optimizers and modules of this process, and step a recording."""

    def __init__(self, kind: str, step: Callable[[], None]) -> None:
        self._kind, self._step = kind, step
        self._first: int | None = None  # the optimizer whose calls are steps, by its id
        self._forwards = Forwards(step)
        self._undo: list[Callable[[], None]] = []

    def watch(self) -> None:
        """Look at torch's optimizers and modules."""
        if self._kind in (AUTO, OPTIMIZER):
            from torch.optim.optimizer import register_optimizer_step_post_hook

            self._undo.append(register_optimizer_step_post_hook(self._stepped).remove)
        if self._kind == AUTO:
            self._watch_for_optimizers()
        if self._kind in (AUTO, FORWARD):
            self._forwards.watch()
            self._undo.append(self._forwards.close)

    def close(self) -> None:
        """Leave nothing in torch; a second time nothing happens."""
        while self._undo:
            self._undo.pop()()

    def _watch_for_optimizers(self) -> None:
        """Count optimizer steps only, once there is an optimizer."""
        import torch

        plain = torch.optim.Optimizer.__init__

        @wraps(plain)
        def made(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self._forwards.close()
            self._first = None
            plain(optimizer, *args, **kwargs)

        torch.optim.Optimizer.__init__ = made
        self._undo.append(lambda: setattr(torch.optim.Optimizer, "__init__", plain))

    def _stepped(self, optimizer: Any, *_: object) -> None:
        if in_graph():
            return
        if self._first is None:
            self._first = id(optimizer)
        if self._first == id(optimizer):
            self._step()
