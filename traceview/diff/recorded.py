"""Compare what profilers recorded about two runs, and where they did not, what was noted at capture.

A trace's own word counts: a sidecar that contradicts it is named, never followed. What a sidecar alone tells
of one side, while nothing tells it of the other, is named and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from traceview.diff.conditions import CARE, FINE, ONE_SIDED, REFUSED, Condition, compared
from traceview.diff.side import Side
from traceview.events import Noted
from traceview.sources.conditions import NOT_TOLD

SWITCHES = ("record_shapes", "with_stack", "profile_memory", "with_flops", "with_modules")
_ALWAYS = SWITCHES[:3]  # the others only where something tells them
SIDECAR = "NAME.capture.json"


def device_of(names: Sequence[str], noted: Noted) -> dict[str, Any]:
    """Return the devices of a run, and whether its trace records them."""
    told = noted.device if noted.device != "" else "no CUDA device"
    return {"device": ", ".join(names) or told or None, "device recorded": bool(names)}


class _Told(NamedTuple):
    """Hold a value, None where nothing tells it, and whether the trace itself records it."""

    value: Any
    recorded: bool


def recorded(base: Side, new: Side) -> list[Condition]:
    """Return what is recorded of both runs, and what differs."""
    sides = base.conditions, new.conditions
    devices = [_Told(c["device"], bool(c["device recorded"])) for c in sides]
    sentence = "the devices differ: times compare, occupancy and bandwidth shares are clues only"
    return [
        _compared("device model", devices, CARE, sentence),
        compared(
            "device count", (sides[0]["device count"], sides[1]["device count"]), CARE, "the number of devices differs"
        ),
        _ranks(base, new),
        _versions(base, new),
        *_switches(base, new),
        *_contradictions(base, new),
    ]  # fmt: skip


def _compared(key: str, told: Sequence[_Told], weight: str, sentence: str) -> Condition:
    found = compared(key, (told[0].value, told[1].value), weight, sentence)
    alone = [side for side in told if side.value is not None]
    if found.alike or len(alone) != 1 or alone[0].recorded:
        return found
    return replace(found, weight=FINE, sentence=ONE_SIDED)


def _ranks(base: Side, new: Side) -> Condition:
    """Compare the numbers of ranks; where nobody told a capture any there is one, as far as is known."""
    told = []
    for side in (base, new):
        noted, size = _noted(side), side.conditions["world size"]
        if size is None and noted.sized:
            told.append(_Told(noted.world_size or NOT_TOLD, False))
        else:
            told.append(_Told(size, size is not None))
    found = _compared("ranks", told, REFUSED, "the number of ranks differs")
    if (
        not found.alike
        and not told[0].recorded
        and not told[1].recorded
        and {t.value for t in told} <= _ALONE
    ):
        return replace(found, alike=True, weight=FINE, sentence="")
    return found


_ALONE = {None, 1, NOT_TOLD}


def _versions(base: Side, new: Side) -> Condition:
    """Compare all versions; one that a sidecar alone tells of one side decides nothing."""
    kept = [side.conditions["versions"] for side in (base, new)]
    left, right = ({**_noted(side).versions, **own} for side, own in zip((base, new), kept, strict=True))
    found = compared("driver and framework", (left, right), CARE, "")
    if found.alike:
        return found
    names = [k for k in {**left, **right} if left.get(k) != right.get(k)]
    grave = [k for k in names if (k in left and k in right) or any(k in own for own in kept)]
    if grave:
        return replace(found, sentence=f"versions differ: {', '.join(grave)}")
    return replace(found, weight=FINE, sentence=f"{ONE_SIDED}: {', '.join(names)}")


def _switches(base: Side, new: Side) -> Iterator[Condition]:
    told = [{name: _switch(side, name) for name in SWITCHES} for side in (base, new)]
    known = any(side.conditions["switches"] or _noted(side).switches for side in (base, new))
    if not known and all(None in [s[name].value for name in _ALWAYS] for s in told):
        yield Condition(
            "profiler switches", "not recorded", "not recorded", True, CARE,
            "the profiler's switches are not recorded: they may differ",
        )  # fmt: skip
    for name in SWITCHES:
        pair = [s[name] for s in told]
        values = [t.value for t in pair]
        if None in values and None in (base.analysis, new.analysis):
            continue  # a saved run keeps no trace of a switch that its file did not record
        if name not in _ALWAYS and values == [None, None]:
            continue
        weight = REFUSED if None not in values else CARE
        yield _compared(
            f"profiler: {name}", pair, weight, f"the profiler's {name} differs, and so does its overhead"
        )


def _switch(side: Side, name: str) -> _Told:
    """Return whether a switch was on; what it left in a trace tells it where the trace does not record it.

    A switch that a sidecar alone tells to have been on weighs as a recorded one: it costs time.
    """
    found = side.conditions["switches"].get(name)
    if found is None:
        found = (side.conditions["left"] or {}).get(name)
    if found is not None:
        return _Told(bool(found), True)
    noted = _noted(side).switches.get(name)
    return _Told(noted, bool(noted))


def _contradictions(base: Side, new: Side) -> Iterator[Condition]:
    found = ["; ".join(side.conditions["contradictions"] or ()) for side in (base, new)]
    wrong = [name for name, text in zip(("base", "new"), found, strict=True) if text]
    if wrong:
        sentence = f"the sidecar of {' and '.join(wrong)} contradicts the trace, which counts: it may belong to another"
        values = [text or "as the trace" for text in found]
        yield Condition(SIDECAR, values[0], values[1], False, CARE, sentence)


def _noted(side: Side) -> Noted:
    return side.conditions["noted"] or Noted()
