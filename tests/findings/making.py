"""Write tiny traces for the rules, in microseconds: one idle gap, a loop of launches, steps of given length."""

from __future__ import annotations

from collections.abc import Callable

from tests.analyses.making import Event, analysed, kernel, launch, note
from traceview.findings import RULES, Finding, check


def findings(*events: Event) -> dict[str, Finding]:
    """Return what the rules find in a trace, by slug."""
    return {f.slug: f for f in check(analysed(*events)).found}


def stakes(*events: Event) -> dict[str, float]:
    """Return what is at stake in us by slug, without what only describes."""
    return {k: f.at_stake / 1000 for k, f in findings(*events).items() if f.at_stake is not None}


def gap(
    *events: Event, called: float = 220, took: float = 5, starts: float = 230, work: float = 100
) -> list[Event]:
    """Return a trace with work from 20 to 120, and again from `starts` on for `work`."""
    first = [launch(10, 5, 1), kernel("first", 20, 100, 1)]
    second = [launch(called, took, 2), kernel("second", starts, work, 2)]
    return [*first, *second, *events]


def lost(number: int) -> list[Event]:
    """Return launches that should have device records and have none."""
    return [launch(1 + 0.5 * i, 0.2, 1000 + i) for i in range(number)] + [note("later", 30_000, 1)]


def loop(
    number: int,
    dur: float = 5,
    apart: float = 50,
    name: Callable[[int], str] = lambda _: "k",
    ahead: bool = False,
) -> list[Event]:
    """Return kernels one after another: called 10 before each begins, or all of them in the first moment."""
    events: list[Event] = []
    for i in range(number):
        events.append(launch(0.01 * i if ahead else 10 + apart * i, 0.005 if ahead else 5, i + 1))
        events.append(kernel(name(i), 20 + apart * i, dur, i + 1))
    return events


def steps(*periods: float, work: float = 0.5) -> list[Event]:
    """Return steps whose device windows have these lengths; each works for a share of it, launched far ahead."""
    events: list[Event] = []
    start = 10_000.0
    for i, period in enumerate((*periods, periods[-1])):
        events += [note(f"ProfilerStep#{i}", 10 + 100 * i, 90), launch(20 + 100 * i, 5, i + 1)]
        events.append(kernel("k", start, period * work, i + 1))
        start += period
    return events


SLUGS = [rule.slug for rule in RULES]
