"""Plan which iterations of a loop end up in which file, as torch.profiler counts them.

A loop does an iteration's work and then calls step(); step number n lies between the nth and the next call, the
first is 0. After `skip_first` steps come cycles of `wait`, `warmup` and `active` steps; the active ones are a
window, and a window becomes a file when its last step ends or when the recording does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import index

from traceview.errors import UsageError

WAIT, WARMUP, ACTIVE, LAST = "wait", "warmup", "active", "last"  # what the profiler does in a step
OK, WARN, REFUSE = "ok", "warn", "refuse_or_warn_before_run"
FEWEST_COMPARED = 6  # active steps: the last is not closed by another one, and a test needs four on each side
GAPLESS = (
    "windows follow each other without a step between: torch crashes the process where step() is called inside of a "
    "range, as of record_function, annotate() or an optimizer; wait=1 is safe"
)
_SHOWN = 5  # windows that a plan lists


def whole(name: str, value: object, least: int = 0) -> int:
    """Return a whole number, from 20.0 too, as len(data) / batch gives; raise UsageError for another."""
    number = None
    if isinstance(value, float) and value.is_integer():
        number = int(value)
    else:
        with suppress(TypeError):
            number = index(value)  # type: ignore[arg-type]  # also of numpy
    if number is not None and number >= least:
        return number
    raise UsageError(f"{name} is {value!r}", f"give a whole number of at least {least}")


def plural(number: int, word: str) -> str:
    """Say a number of things: "1 step", "2 steps"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class Schedule:
    """Hold how many steps are skipped, waited for, warmed up and recorded; `repeat` 0 goes on to the end."""

    wait: int = 2
    warmup: int = 5
    active: int = 10
    repeat: int = 1
    skip_first: int = 0

    def __post_init__(self) -> None:
        for name in ("wait", "warmup", "active", "repeat", "skip_first"):
            object.__setattr__(self, name, whole(name, getattr(self, name), int(name == "active")))

    @property
    def cycle(self) -> int:
        """Return the steps of a cycle."""
        return self.wait + self.warmup + self.active

    @property
    def least_loop(self) -> int:
        """Return how many steps the first whole window takes."""
        return self.skip_first + self.cycle

    @property
    def is_gapless(self) -> bool:
        """Tell whether windows follow each other without a step between."""
        return not self.wait + self.warmup and self.repeat != 1

    def is_over(self, step: int) -> bool:
        """Tell whether a step lies behind the last window."""
        return bool(self.repeat) and step >= self.skip_first + self.repeat * self.cycle

    def phase(self, step: int) -> str:
        """Return what the profiler does in a step."""
        since = step - self.skip_first
        if since < 0 or (self.repeat and since >= self.repeat * self.cycle):
            return WAIT
        place = since % self.cycle
        if place < self.wait:
            return WAIT
        if place < self.wait + self.warmup:
            return WARMUP
        return LAST if place == self.cycle - 1 else ACTIVE

    def count(self, steps: int) -> int:
        """Return how many windows have begun after so many calls of step()."""
        first = self.skip_first + self.wait + self.warmup
        begun = (steps - first) // self.cycle + 1 if steps >= first else 0
        return min(begun, self.repeat) if self.repeat else begun

    def window(self, index: int, steps: int) -> range:
        """Return the steps of a window that has begun, whole or cut short after so many calls of step().

        The window that begins with the very last call is empty: it holds no finished step.
        """
        first = self.skip_first + self.wait + self.warmup + index * self.cycle
        return range(first, min(first + self.active, steps))


@dataclass(frozen=True)
class Plan:
    """Hold what a schedule makes of a loop of so many iterations, each with so many steps.

    `warnings` need attention before the run, `notes` only explain.
    """

    schedule: Schedule
    loop: int
    steps_per_iter: int
    verdict: str
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def traces(self) -> tuple[tuple[int, ...], ...]:
        """Return the iterations in each trace that torch.profiler would hand over, the empty last one included."""
        return tuple(tuple(self._trace(i)) for i in range(self._count))

    @property
    def files(self) -> tuple[tuple[int, ...], ...]:
        """Return the iterations in each file that record() writes."""
        return tuple(t for t in self.traces if t)

    @property
    def _count(self) -> int:
        steps = self.loop * self.steps_per_iter
        if not steps and self.loop and self.schedule.phase(0) in (ACTIVE, LAST):
            return 1  # never stepped, but recording from the start
        return self.schedule.count(steps)

    def _trace(self, index: int) -> range:
        per = self.steps_per_iter
        if not per:
            return range(self.loop)
        steps = self.schedule.window(index, self.loop * per)
        return range(-(-steps.start // per), -(-steps.stop // per))

    def windows(self) -> list[str]:
        """Say which iterations end up in which file, a line per file; of many the first ones and the last."""
        count = self._count
        if count and not self._trace(count - 1):
            count -= 1
        shown = range(count) if count <= _SHOWN else (*range(_SHOWN - 1), count - 1)
        lines = [f"window {i}: {said(self._trace(i))}" for i in shown]
        if count > _SHOWN:
            lines.insert(_SHOWN - 1, f"... {count - _SHOWN} more windows ...")
        return lines or ["no window: no file will be written"]


def said(iterations: Sequence[int]) -> str:
    """Say which iterations: "iterations 7 to 16 (10)"."""
    if not iterations:
        return "no whole iteration"
    if len(iterations) == 1:
        return f"iteration {iterations[0]}"
    return f"iterations {iterations[0]} to {iterations[-1]} ({len(iterations)})"


def plan(schedule: Schedule, loop: int, steps_per_iter: int = 1) -> Plan:
    """Return which iterations of a loop end up in which file, and what is wrong with that."""
    steps = loop * steps_per_iter
    warnings, verdict = _warnings(schedule, steps, loop)
    if loop and not steps_per_iter:
        warnings = ("step() is not called in the loop: the profiler stays where it begins", *warnings)
        verdict = REFUSE
    return Plan(schedule, loop, steps_per_iter, verdict, warnings, _notes(schedule, steps))


def _warnings(schedule: Schedule, steps: int, loop: int) -> tuple[tuple[str, ...], str]:
    count = schedule.count(steps)
    from_start = not steps and loop and schedule.phase(0) in (ACTIVE, LAST)
    if not from_start and not (count and len(schedule.window(0, steps))):
        short = f"{plural(steps, 'step')} {'ends' if steps == 1 else 'end'} before the first window is recorded: it needs {schedule.least_loop}"
        return (f"{short}; lengthen the loop, or lower skip_first, wait and warmup",), REFUSE
    found = []
    last = schedule.window(count - 1, steps) if count and steps else range(0)
    if steps and not len(last):
        found.append("the last step opens another window, which stays empty and is discarded")
    elif steps and len(last) < schedule.active:
        found.append(
            f"the last window is cut short: {len(last)} of {plural(schedule.active, 'step')}; "
            f"{steps + schedule.active - len(last)} steps would fill it"
        )
    return tuple(found), WARN if found else OK


def _notes(schedule: Schedule, steps: int) -> tuple[str, ...]:
    found = []
    if schedule.skip_first and schedule.wait:
        at = schedule.skip_first + schedule.wait + schedule.warmup
        found.append(
            f"wait comes after skip_first: {schedule.skip_first} + {schedule.wait} + {schedule.warmup} steps "
            f"pass before step {at} is recorded"
        )
    count = schedule.count(steps)
    least = len(schedule.window(0, steps)) if count else 0
    if 0 < least < FEWEST_COMPARED:
        found.append(too_few(least, cut=schedule.active >= FEWEST_COMPARED))
    return tuple(found)


def too_few(active: int, cut: bool = False) -> str:
    """Say that so many recorded steps are too few for a comparison; `cut`: the loop is too short for more."""
    how = "a longer loop" if cut else f"active={FEWEST_COMPARED} or more"
    return (
        f"{plural(active, 'recorded step')} {'leaves' if active == 1 else 'leave'} {max(active - 1, 0)} to compare: "
        f"too few for 'traceview diff', which wants {how}"
    )
