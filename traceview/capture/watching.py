"""See from outside what a step of a program is: a step of its optimizer, or a forward of its model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import ref

from traceview.capture.compiled import in_graph
from traceview.capture.forwards import Forwards
from traceview.capture.living import Living

AUTO, OPTIMIZER, FORWARD = "auto", "optimizer", "forward"


class Steps:
    """Watch optimizers and modules of this process, and step a recording; `made` is called when an optimizer is made."""

    def __init__(self, kind: str, step: Callable[[], None], made: Callable[[], None]) -> None:
        self._kind, self._step, self._made = kind, step, made
        self._first: ref[Any] | None = None  # the optimizer whose calls are steps
        self._made_as, self._count = Living(), 0  # numbers of optimizers as they are made
        self._forwards = Forwards(step)
        self._undo: list[Callable[[], None]] = []

    def watch(self) -> None:
        """Look at torch's optimizers and modules."""
        if self._kind in (AUTO, OPTIMIZER):
            from torch.optim.optimizer import register_optimizer_step_post_hook

            self._undo.append(register_optimizer_step_post_hook(self._stepped).remove)
            self._watch_for_optimizers()
        if self._kind in (AUTO, FORWARD):
            self._forwards.watch()
            self._undo.append(self._forwards.close)

    def close(self) -> None:
        """Leave nothing in torch; a second time nothing happens."""
        while self._undo:
            self._undo.pop()()

    def _watch_for_optimizers(self) -> None:
        """Count optimizer steps only, once there is an optimizer; note which one is the first."""
        import torch

        plain = torch.optim.Optimizer.__init__

        @wraps(plain)
        def made(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self._forwards.close()
            if self._kind == AUTO:
                self._made()
            self._count += 1
            self._made_as.put(optimizer, self._count)
            plain(optimizer, *args, **kwargs)

        torch.optim.Optimizer.__init__ = made
        self._undo.append(lambda: setattr(torch.optim.Optimizer, "__init__", plain))

    def _stepped(self, optimizer: Any, *_: object) -> None:
        if in_graph():
            return
        first = self._first() if self._first is not None else None  # it may be gone, and another one go on
        if first is None or self._made_as.get(optimizer, 0) < self._made_as.get(first, 0):
            first, self._first = optimizer, ref(optimizer)
        if first is optimizer:
            self._step()
