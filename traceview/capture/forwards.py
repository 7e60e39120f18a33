"""See the forwards of a program's modules from outside.

Hooks would be seen in return: they get into the graphs of torch.compile, torch.jit and torch.export refuse them, a
model that has one cannot be pickled. A module's call asks for its attribute `_compiled_call_impl`, which it has from
`module.compile()`, and goes through it where there is one. That is what stands in classes here: torch.compile passes it
by, and calls within a call, of which nobody wants to hear, go as without it.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
from collections.abc import Callable
from functools import partial, wraps
from types import CodeType
from typing import Any, Protocol
from weakref import ref

from traceview.capture.compiled import in_graph, is_replayed, optimized_module
from traceview.capture.guard import attempt
from traceview.capture.living import Living

_CALL = "_compiled_call_impl"


class Listener(Protocol):
    """Hear of the calls of modules, but of those within a call that is heard of."""

    def entered(self, module: Any) -> None:
        """Hear that a module is called."""

    def left(self, module: Any) -> None:
        """Hear that it has returned."""


# who listens, and the class whose modules they hear of; never changed, only replaced: other threads go through it
_listeners: tuple[tuple[Listener, type], ...] = ()
_placed: set[type] = set()
_lock = threading.RLock()  # a module that is gone can be told of anywhere, in here too


if hasattr(os, "register_at_fork"):  # a child has no other thread that would release it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class _Inside(threading.local):
    on = False


_inside = _Inside()


def listen(listener: Listener, kind: type | None = None) -> None:
    """Tell of the calls of all modules, or of those of one class; a listener hears of one class at a time."""
    import torch

    _set(listener, kind or torch.nn.Module)


def unlisten(listener: Listener) -> None:
    """Undo `listen`; with the last one torch is as it was."""
    if any(other is listener for other, _ in _listeners):
        _set(listener, None)


def _set(listener: Listener, kind: type | None) -> None:
    global _listeners  # noqa: PLW0603 - replaced as a whole, see there
    with _lock:
        others = tuple((other, k) for other, k in _listeners if other is not listener)
        _listeners = others if kind is None else (*others, (listener, kind))
        _place()


def _place() -> None:
    """Stand in the classes that are listened to, and in no other, also where this is called again within."""
    import torch

    while (wanted := {kind for _, kind in _listeners}) != _placed:
        for kind in wanted - _placed:
            # of type: a class may refuse attributes by its own
            type.__setattr__(kind, _CALL, _Heard(torch.nn.Module._wrapped_call_impl.__code__))
            _placed.add(kind)
        for kind in _placed - wanted:
            if isinstance(ours := vars(kind).get(_CALL), _Heard):
                ours.is_there = False
            if kind is torch.nn.Module:
                type.__setattr__(kind, _CALL, None)
            elif _CALL in vars(kind):
                type.__delattr__(kind, _CALL)
            _placed.discard(kind)


class _Heard:
    """Give a module's call somebody who hears of it, and nobody within such a call.

    torch asks twice: whether there is something, and for it. In between another thread may have taken this away. So the
    second answer is never None, and the first one is where that is so; no thread can come in between these two.
    """

    def __init__(self, asking: CodeType) -> None:
        self.is_there, self._asking = True, asking
        reads = [i.offset for i in dis.get_instructions(asking) if i.argval == _CALL]
        self._second = reads[1] if len(reads) == 2 else 0

    def __get__(self, module: Any, kind: type | None = None) -> Callable[..., Any] | None:
        if in_graph() or module is None:
            return None
        asking = sys._getframe(1)
        if asking.f_code is not self._asking:
            return None
        call: Callable[..., Any] = module._call_impl
        if asking.f_lasti >= self._second:
            return call if _inside.on else partial(tell, module, call)
        wanted = None if _inside.on or is_replayed() else call
        return wanted if self.is_there else None


class Compiled:
    """Call a module that was compiled in place, and tell those who listen; its copies are not compiled."""

    def __init__(self, module: Any, plain: Callable[..., Any]) -> None:
        self._module, self.plain = ref(module), plain

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        if in_graph() or _inside.on:
            return self.plain(*args, **kwargs)
        return tell(self._module(), self.plain, *args, **kwargs)

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return type(None), ()


def tell(module: Any, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return what a call of a module gives, and tell those who listen."""
    hearing = [listener for listener, kind in _listeners if isinstance(module, kind)]
    _inside.on = True
    try:
        for listener in hearing:
            attempt("seeing a forward", partial(listener.entered, module))
        result = call(*args, **kwargs)
    finally:
        _inside.on = False
    for listener in hearing:
        attempt("seeing a forward", partial(listener.left, module))
    return result


class Forwards:
    """Call `ran` after each forward of the outermost module that runs twice first, until then of any outermost one."""

    def __init__(self, ran: Callable[[], None]) -> None:
        self._ran = ran
        self._once, self._compiled, self._alone = Living(), Living(), Living()
        self._followed: ref[Any] | None = None
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
            self._compiled.put(model.__self__)
            return Compiled(model.__self__, made)
        if isinstance(made, torch.nn.Module) and isinstance(model, torch.nn.Module):
            self._step_aside(model)
            if self._follows(model):
                self._follow(made)
        return made

    def entered(self, module: Any) -> None:
        """Hear that a module is called."""
        if self._followed is None and isinstance(module, optimized_module() or ()):
            self._step_aside(module._orig_mod)
            self._follow(module)

    def left(self, module: Any) -> None:
        """Hear that it has returned."""
        if self._followed is None:
            self._ran()
            if self._once.get(module):
                self._follow(module)
            self._once.put(module)
        elif self._follows(module):
            self._ran()

    def _step_aside(self, module: Any) -> None:
        """Let a module that is compiled go without us: a frame around it would be made a graph of too."""
        if _CALL not in vars(module):
            vars(module)[_CALL] = None
            self._alone.put(module)

    def _follows(self, module: Any) -> bool:
        return self._followed is not None and self._followed() is module

    def _follow(self, module: Any) -> None:
        """Watch this module alone, as long as it lives: else the calls of all others would be told of."""
        self._followed = ref(module, self._search)
        if self._compile is not None:
            listen(self, type(module))

    def _search(self, followed: Any) -> None:
        """Look at all modules again: the one that was followed is gone."""
        if self._followed is followed and self._compile is not None:
            self._followed = None
            listen(self)
