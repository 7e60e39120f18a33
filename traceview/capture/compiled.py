"""Stay out of what torch.compile makes graphs of: it looks into every Python function on its way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def in_graph() -> bool:
    """Tell whether a graph is being made of what runs here, by torch.compile or torch.export.

    torch.compile takes the answer as a constant: it does not look at what stands behind `if in_graph(): return`.
    """
    if "torch" not in sys.modules:
        return False
    import torch

    return bool(torch.compiler.is_compiling())


def is_replayed() -> bool:
    """Tell whether what runs here is no forward of the program's own: torch.jit or torch.fx records, or it is a backward."""
    import torch

    in_fx = getattr(sys.modules.get("torch.fx._symbolic_trace"), "_is_fx_tracing_flag", False)
    task = getattr(torch._C, "_current_graph_task_id", None)  # of a backward, -1 outside of one
    return bool(in_fx or torch.jit.is_tracing() or (task is not None and task() >= 0))


def has_compiled() -> bool:
    """Tell whether torch.compile has made a graph in this process: what happens inside of one is not seen."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None) or {}
    return bool(counters.get("frames") or counters.get("stats"))


def optimized_module() -> Any:
    """Return the class of what torch.compile makes of a module, None where it was not loaded."""
    return getattr(sys.modules.get("torch._dynamo.eval_frame"), "OptimizedModule", None)


class Apart:
    """Call something out of the sight of torch.compile, where that has been loaded."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action, self._apart = action, False

    def __call__(self) -> None:
        """Do it; torch.compile breaks its graph here."""
        if not self._apart and (disable := getattr(sys.modules.get("torch._dynamo"), "disable", None)):
            self._action, self._apart = disable(self._action), True
        self._action()
