"""See from outside what a step of a program is: a step of its optimizer, or a forward of its model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

AUTO, OPTIMIZER, FORWARD = "auto", "optimizer", "forward"


class Steps:
    """Watch optimizers and modules of this process, and step a recording."""

    def __init__(self, kind: str, step: Callable[[], None]) -> None:
        self._kind, self._step = kind, step
        self._first: int | None = None  # the optimizer or module whose calls are steps, by its id
        self._seen: set[int] = set()  # outermost modules that ran once
        self._local = threading.local()
        self._handles: list[Any] = []
        self._undo: list[Callable[[], None]] = []
        self._forwards: list[Any] = []
        self._is_compiling: Callable[[], bool] = bool

    def watch(self) -> None:
        """Set the hooks in torch."""
        import torch
        from torch.nn.modules import module as modules
        from torch.optim import optimizer as optimizers

        self._is_compiling = torch.compiler.is_compiling
        if self._kind in (AUTO, OPTIMIZER):
            self._handles.append(optimizers.register_optimizer_step_post_hook(self._stepped))
        if self._kind == AUTO:
            plain = torch.optim.Optimizer.__init__

            @wraps(plain)
            def made(optimizer: Any, *args: Any, **kwargs: Any) -> None:
                self._forget_modules()
                plain(optimizer, *args, **kwargs)

            torch.optim.Optimizer.__init__ = made
            self._undo.append(lambda: setattr(torch.optim.Optimizer, "__init__", plain))
        if self._kind in (AUTO, FORWARD):
            self._forwards = [
                modules.register_module_forward_pre_hook(self._entered),
                modules.register_module_forward_hook(self._left, always_call=True),
            ]
            self._handles += self._forwards

    def close(self) -> None:
        """Take all hooks out of torch."""
        for handle in self._handles:
            handle.remove()
        for undo in self._undo:
            undo()
        self._handles, self._undo = [], []

    def _forget_modules(self) -> None:
        """Count optimizer steps only, now that there is an optimizer."""
        for handle in self._forwards:
            handle.remove()
        self._first = None

    def _stepped(self, optimizer: Any, *_: object) -> None:
        if self._first is None:
            self._first = id(optimizer)
        if self._first == id(optimizer):
            self._step()

    def _entered(self, module: Any, _: object) -> None:
        if self._is_compiling():  # torch.compile traces hooks too: nothing of this may get into its graph
            return
        self._local.depth = depth = getattr(self._local, "depth", 0) + 1
        if depth == 1 and type(module).__name__ == "OptimizedModule":
            self._local.depth = 0
            self._follow(module)  # before its inside is compiled: what hooks it has is part of that

    def _left(self, module: Any, *_: object) -> None:
        if self._is_compiling():
            return
        self._local.depth = depth = getattr(self._local, "depth", 1) - 1
        if depth:
            return
        self._step()
        if id(module) in self._seen:
            self._follow(module)
        self._seen.add(id(module))

    def _follow(self, module: Any) -> None:
        """Watch this module alone: hooks on all would be called for each layer of it."""
        for handle in self._forwards:
            handle.remove()
        self._forwards = [module.register_forward_hook(lambda *_: self._step())]
        self._handles += self._forwards
