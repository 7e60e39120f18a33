"""Know objects of the user again, without keeping them alive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import ref


class Living:
    """Map objects to values as long as they live, by what they are: they may be equal to others, or not hashable."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[ref[Any], Any]] = {}

    def put(self, thing: Any, value: Any = True) -> None:
        """Note a value of an object."""
        number = id(thing)

        def gone(which: ref[Any]) -> None:
            if self._held.get(number, (None,))[0] is which:
                del self._held[number]

        self._held[number] = (ref(thing, gone), value)

    def get(self, thing: Any, default: Any = None) -> Any:
        """Return the value of an object, `default` where it was not noted."""
        held, value = self._held.get(id(thing), (None, default))
        return value if held is not None and held() is thing else default

    def __iter__(self) -> Iterator[Any]:
        """Go through the objects that live."""
        return iter([thing for held, _ in list(self._held.values()) if (thing := held()) is not None])

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()
