"""Name a phase of a program, in the trace and for NVIDIA's tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ParamSpec, Self, TypeVar

from traceview.capture.calls import around
from traceview.capture.compiled import in_graph
from traceview.capture.guard import attempt

P = ParamSpec("P")
R = TypeVar("R")


class annotate:  # noqa: N801 - reads as the verb it is
    """Mark what runs inside as a phase: `with annotate("decode"):`, or as a decorator.

    The phase is a record_function, and an NVTX range where CUDA is in use. Without torch, and in a graph that
    torch.compile makes, nothing happens.
    """

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self._open: list[tuple[Any, bool]] = []  # each mark, and whether there is an NVTX range to it

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Mark each call of a function as a phase of its own, also of a generator or an async function."""
        marked: Callable[P, R] = around(function, lambda: type(self)(self.phase))
        return marked

    def __enter__(self) -> Self:
        if not in_graph():
            attempt("annotate", self._begin)
        return self

    def _begin(self) -> None:
        if "torch" not in sys.modules:  # then nothing can be recorded
            return
        import torch

        mark = torch.profiler.record_function(self.phase)
        mark.__enter__()
        in_cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._open.append((mark, in_cuda))
        if in_cuda:
            torch.cuda.nvtx.range_push(self.phase)

    def __exit__(self, *error: object) -> None:
        if self._open:
            attempt("annotate", self._end)

    def _end(self) -> None:
        mark, in_cuda = self._open.pop()
        if in_cuda:
            import torch

            torch.cuda.nvtx.range_pop()
        mark.__exit__(None, None, None)
