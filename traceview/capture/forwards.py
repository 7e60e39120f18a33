"""See the forwards of a program's modules from outside.

Hooks would be seen in return: they get into the graphs of torch.compile, torch.jit and torch.export refuse them, a
model that has one cannot be pickled. A module's call goes through its attribute `_compiled_call_impl`, where
it has one from `module.compile()`. That is what is set here, on classes: torch.compile passes it by.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol
from weakref import WeakSet, ref

from traceview.capture.compiled import in_graph, is_traced

_CALL = "_compiled_call_impl"


class Listener(Protocol):
    """Hear of the calls of modules."""

    def entered(self, module: Any) -> None:
        """Hear that a module is called."""

    def left(self, module: Any, whole: bool) -> None:
        """Hear that it has returned or, not `whole`, raised."""


_listeners: dict[Listener, type] = {}  # and the class whose modules they hear of


def listen(listener: Listener, kind: type | None = None) -> None:
    """Tell of the calls of all modules, or of those of one class; a listener hears of one class at a time."""
    import torch

    _listeners[listener] = kind or torch.nn.Module
    _place()


def unlisten(listener: Listener) -> None:
    """Undo `listen`; with the last one torch is as it was."""
    if _listeners.pop(listener, None) is not None:
        _place()


_placed: set[type] = set()


def _place() -> None:
    """Stand in the classes that are listened to, and in no other."""
    import torch

    wanted = set(_listeners.values())
    for kind in wanted - _placed:
        setattr(kind, _CALL, called)
    for kind in _placed - wanted:
        if kind is torch.nn.Module:
            setattr(kind, _CALL, None)
        else:
            delattr(kind, _CALL)
    _placed.clear()
    _placed.update(wanted)


def called(module: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a module as torch does, and tell those who listen."""
    if in_graph():
        return module._call_impl(*args, **kwargs)
    return tell(module, module._call_impl, args, kwargs)


def tell(module: Any, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return what a call of a module gives, and tell those who listen."""
    hearing = tuple(listener for listener, kind in _listeners.items() if isinstance(module, kind))
    for listener in hearing:
        listener.entered(module)
    whole = False
    try:
        result = call(*args, **kwargs)
        whole = True
    finally:
        for listener in hearing:
            listener.left(module, whole)
    return result


class Compiled:
    """Call a module that was compiled in place, and tell those who listen; its copies are not compiled."""

    def __init__(self, module: Any, plain: Callable[..., Any]) -> None:
        self._module, self.plain = ref(module), plain

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        module = self._module()
        if in_graph():
            return self.plain(*args, **kwargs)
        return tell(module, self.plain, args, kwargs)

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return type(None), ()


class Forwards:
    """Call `ran` after each forward of the outermost module that runs twice first, until then of any outermost one."""

    def __init__(self, ran: Callable[[], None]) -> None:
        self._ran = ran
        self._local = threading.local()
        self._once: set[int] = set()  # outermost modules that ran once, by id
        self._followed: int | None = None
        self._compiled: WeakSet[Any] = WeakSet()  # modules compiled in place
        self._alone: WeakSet[Any] = WeakSet()  # modules inside of compiled ones
        self._compile: Any = None

    def watch(self) -> None:
        """Look at the calls of all modules, until the one to follow is found."""
        import torch

        listen(self)
        self._compile = plain = torch.compile

        @wraps(plain)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            made = plain(*args, **kwargs)
            return made if in_graph() else self._made(made, args[0] if args else kwargs.get("model"))

        torch.compile = compiled

    def close(self) -> None:
        """Leave nothing in torch or in a module."""
        import torch

        unlisten(self)
        if self._compile is not None:
            torch.compile, self._compile = self._compile, None
        for module in self._compiled:
            if isinstance(now := vars(module).get(_CALL), Compiled):
                vars(module)[_CALL] = now.plain
        for module in self._alone:
            if vars(module).get(_CALL, self) is None:
                del vars(module)[_CALL]
        self._compiled.clear()
        self._alone.clear()

    def _made(self, made: Any, model: Any) -> Any:
        """Return what torch.compile has made of a model, so that its calls are heard of."""
        import torch

        if getattr(model, "__func__", None) is torch.nn.Module._call_impl:  # module.compile()
            self._compiled.add(model.__self__)
            return Compiled(model.__self__, made)
        if isinstance(made, torch.nn.Module) and isinstance(model, torch.nn.Module):
            self._step_aside(model)
            if self._followed == id(model):
                self._follow(made)
        return made

    def entered(self, module: Any) -> None:
        """Hear that a module is called."""
        if self._followed is not None:
            return
        self._local.depth = depth = getattr(self._local, "depth", 0) + 1
        if type(module).__name__ == "OptimizedModule":
            self._step_aside(module._orig_mod)
            if depth == 1:
                self._follow(module)

    def left(self, module: Any, whole: bool) -> None:
        """Hear that a module has returned or, not `whole`, raised."""
        if self._followed is None:
            self._local.depth = getattr(self._local, "depth", 1) - 1
            if self._local.depth:
                return
        elif self._followed != id(module):
            return
        if not whole or is_traced():
            return
        self._ran()
        if self._followed is None and id(module) in self._once:
            self._follow(module)
        self._once.add(id(module))

    def _step_aside(self, module: Any) -> None:
        """Let a module that is compiled go without us: a frame around it would be made a graph of too."""
        if _CALL not in vars(module):
            vars(module)[_CALL] = None
            self._alone.add(module)

    def _follow(self, module: Any) -> None:
        """Watch this module alone: else each layer of it would be told of."""
        self._followed = id(module)
        if self._compile is not None:
            listen(self, type(module))
