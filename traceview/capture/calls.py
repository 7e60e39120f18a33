"""Put something around each call of a function: a plain one, a generator, or an async one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from traceview.capture.compiled import in_graph
from traceview.capture.guard import Thrown


def around(function: Callable[..., Any], made: Callable[[], AbstractContextManager[Any]]) -> Any:
    """Return a function each of whose calls runs inside what `made` returns, until it is done."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with made():
                return await function(*args, **kwargs)

        return awaited
    if inspect.isasyncgenfunction(function):

        @wraps(function)
        async def streamed(*args: Any, **kwargs: Any) -> Any:
            with made():
                values = function(*args, **kwargs)
                try:
                    coming = values.__anext__()
                    while True:
                        try:
                            value = await coming
                        except StopAsyncIteration:
                            return
                        sent = None
                        with Thrown() as thrown:
                            sent = yield value
                        coming = values.asend(sent) if thrown.error is None else values.athrow(thrown.error)
                finally:
                    await values.aclose()

        return streamed
    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def yielded(*args: Any, **kwargs: Any) -> Any:
            with made():
                return (yield from function(*args, **kwargs))

        return yielded

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with made():
            return function(*args, **kwargs)

    return called


def followed(function: Callable[..., Any], then: Callable[[], None]) -> Any:
    """Return a function each of whose calls is followed by `then`, once it has a result."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            result = await function(*args, **kwargs)
            if not in_graph():
                then()
            return result

        return awaited

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not in_graph():
            then()
        return result

    return called
