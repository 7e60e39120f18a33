"""Plan which iterations of a loop end up in which file, as torch.profiler counts them.

A loop does an iteration's work and then calls step(); step number n lies between the nth and the next call, the
first is 0. After `skip_first` steps come cycles of `wait`, `warmup` and `active` steps; the active ones are a
window, and a window becomes a file when its last step ends or when the recording does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from traceview.errors import UsageError

WAIT, WARMUP, ACTIVE, LAST = "wait", "warmup", "active", "last"  # what the profiler does in a step
OK, WARN, REFUSE = "ok", "warn", "refuse_or_warn_before_run"
FEWEST_COMPARED = 6  # active steps: the last is not closed by another one, and a test needs four on each side
_SHOWN = 5  # windows that a plan lists


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
            value = getattr(self, name)
            if not isinstance(value, int) or value < (least := int(name == "active")):
                raise UsageError(f"{name} is {value!r}", f"give a whole number of at least {least}")

    @property
    def cycle(self) -> int:
        """Return the steps of a cycle."""
        return self.wait + self.warmup + self.active

    @property
    def least_loop(self) -> int:
        """Return how many steps the first whole window takes."""
        return self.skip_first + self.cycle

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

    def windows(self, steps: int) -> list[range]:
        """Return the steps of each window that has begun after so many calls of step(), whole or cut short.

        The window that begins with the very last call is empty: it holds no finished step.
        """
        found: list[range] = []
        first = self.skip_first + self.wait + self.warmup
        while first <= steps and (not self.repeat or len(found) < self.repeat):
            found.append(range(first, min(first + self.active, steps)))
            first += self.cycle
        return found


@dataclass(frozen=True)
class Plan:
    """Hold what a schedule makes of a loop.

    `traces` are the iterations in each trace that torch.profiler would hand over, the empty last one included;
    `files` are those that record() writes. `warnings` need attention before the run, `notes` only explain.
    """

    schedule: Schedule
    traces: tuple[tuple[int, ...], ...]
    verdict: str
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def files(self) -> tuple[tuple[int, ...], ...]:
        """Return the iterations in each file."""
        return tuple(t for t in self.traces if t)

    def windows(self) -> list[str]:
        """Say which iterations end up in which file, a line per file; of many the first ones and the last."""
        lines = [f"window {i}: {said(t)}" for i, t in enumerate(self.files)]
        if len(lines) > _SHOWN:
            lines[_SHOWN - 1 : -1] = [f"... {len(lines) - _SHOWN} more windows ..."]
        return lines or ["no window: no file will be written"]


def said(iterations: tuple[int, ...]) -> str:
    """Say which iterations: "iterations 7 to 16 (10)"."""
    if len(iterations) == 1:
        return f"iteration {iterations[0]}"
    return f"iterations {iterations[0]} to {iterations[-1]} ({len(iterations)})"


def plan(schedule: Schedule, loop: int, steps_per_iter: int = 1) -> Plan:
    """Return which iterations of a loop end up in which file, and what is wrong with that."""
    steps = loop * steps_per_iter
    traces = tuple(
        tuple(i for i in range(loop) if i * steps_per_iter in window) for window in schedule.windows(steps)
    )
    if steps == 0 and loop and schedule.phase(0) in (ACTIVE, LAST):
        traces = (tuple(range(loop)),)  # never stepped, but recording from the start
    warnings, verdict = _warnings(schedule, steps, traces)
    if loop and not steps_per_iter:
        warnings = ("step() is not called in the loop: the profiler stays where it begins", *warnings)
        verdict = REFUSE
    return Plan(schedule, traces, verdict, warnings, _notes(schedule, steps))


def _warnings(
    schedule: Schedule, steps: int, traces: tuple[tuple[int, ...], ...]
) -> tuple[tuple[str, ...], str]:
    if not any(traces):
        short = f"{steps} steps end before the first window is recorded: it needs {schedule.least_loop}"
        return (f"{short}; lengthen the loop, or lower skip_first, wait and warmup",), REFUSE
    found = []
    last = schedule.windows(steps)[-1] if steps else range(0)
    if steps and not len(last):
        found.append("the last step opens another window, which stays empty and is discarded")
    elif steps and len(last) < schedule.active:
        found.append(
            f"the last window is cut short: {len(last)} of {schedule.active} steps; "
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
    whole = [w for w in schedule.windows(steps) if len(w)]
    if whole and min(len(w) for w in whole) < FEWEST_COMPARED:
        found.append(too_few(min(len(w) for w in whole)))
    return tuple(found)


def too_few(active: int) -> str:
    """Say that so many recorded steps are too few for a comparison."""
    return (
        f"{active} recorded steps leave {max(active - 1, 0)} to compare: "
        f"too few for 'traceview diff', which wants active={FEWEST_COMPARED} or more"
    )
