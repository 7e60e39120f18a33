"""How often `traceview diff` claims what is not there, and how often it finds what is.

    python tests/perf/noise.py [--pairs 1000] [--steps 8] [--seed 1]

Makes pairs of runs of one program with the noise that real machines show, compares them at default settings, and
counts claims: any row, headline, sentence, or failed gate at 5 % (an unproven gate is no claim). Then slows one operator
down. Prints the shares with the bounds they must keep; the exit status is 1 when one is missed.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from traceview.diff.chains import Node
from traceview.diff.changes import statements
from traceview.diff.compare import Diff, compare
from traceview.diff.gates import FAIL, judge, parse
from traceview.diff.side import Calls, Measured, Rows, Side, WorkRow

GATES = [parse(f"{metric}>5%") for metric in ("step_time", "gpu_busy", "gpu_idle", "kernel_time")]
TIMES = ("step_time", "gpu_busy", "gpu_idle", "compute", "kernel_time", "launch_cpu", "wall")


@dataclass(frozen=True)
class Noise:
    """Say how runs of one program differ."""

    run: float = 0.01  # of all kernels, from run to run
    operator: float = 0.005  # of one operator, from run to run
    step: float = 0.01  # from step to step, autocorrelated
    memory: float = 0.5  # AR(1) coefficient
    tail: float = 0.01  # chance of a step in which all of an operator takes up to three times as long
    throttled: float = 0.15  # chance of an episode in a run
    host: float = 0.20  # of all gaps, from run to run


@dataclass(frozen=True)
class Program:
    """Hold what a program does in a step: ns of each operator, and of its gaps."""

    operators: np.ndarray
    idle: float


def program(random: np.random.Generator) -> Program:
    """Return a program of some dozen to 300 operators, 20 to 300 ms a step, idle for 5 to 50 % of it."""
    count = int(random.integers(20, 301))
    share = random.pareto(1.2, count) + 0.02
    busy = random.uniform(20e6, 300e6)
    return Program(busy * share / share.sum(), busy * random.uniform(0.05, 1.0))


def recorded(made: Program, steps: int, random: np.random.Generator, noise: Noise) -> Side:
    """Return one run of a program as a side of a comparison."""
    count = len(made.operators)
    factor = random.normal(1, noise.run) * random.normal(1, noise.operator, count)
    wobble = np.zeros(steps)
    value = 0.0
    for i in range(steps):
        value = noise.memory * value + random.normal(0, noise.step)
        wobble[i] = value
    times = np.outer(made.operators * factor, 1 + wobble) * random.normal(1, 0.003, (count, steps))
    late = random.random((count, steps)) < noise.tail
    times[late] *= random.uniform(1, 3, int(late.sum()))
    if random.random() < noise.throttled:
        first = int(random.integers(0, steps))
        times[:, first : first + int(random.integers(1, max(2, steps // 3)))] *= random.uniform(1.05, 1.2)
    idle = made.idle * random.normal(1, noise.host) * np.exp(random.normal(0, 0.05, steps))
    return as_side(np.maximum(times, 1).astype(np.int64), np.maximum(idle, 1).astype(np.int64))


def as_side(times: np.ndarray, idle: np.ndarray) -> Side:
    """Return ns by operator and step, and idle ns by step, as a side of a comparison."""
    count, steps = times.shape
    rows = tuple(
        WorkRow(f"kernel_{i}", (Node(f"aten::op_{i}", "[[8, 8]]"),), "elementwise", True, True)
        for i in range(count)
    )
    ones = np.ones((count, steps), np.int64)
    busy = times.sum(axis=0)
    headlines = {
        "wall": busy + idle, "step_time": busy + idle, "compute": busy, "exposed_comm": idle * 0, "exposed_copy": idle * 0,
        "gpu_idle": idle, "gpu_busy": busy, "kernel_time": busy, "kernels": idle * 0 + count, "launches": idle * 0 + count,
        "syncs": idle * 0, "launch_cpu": idle // 2,
    }  # fmt: skip
    none = np.zeros((0, steps), np.int64)
    measured = Measured(
        by_step=True,
        steps=tuple(range(steps)),
        units=steps,
        rows=Rows(rows, ones.sum(axis=1), times.sum(axis=1), ones, times, np.arange(count)),
        calls=Calls((), none[:, 0], none[:, 0], none, none),
        headlines=headlines,
        totals={k: int(v.sum()) for k, v in headlines.items()},
        causes={"host late": int(idle.sum())},
    )
    conditions: dict[str, Any] = defaultdict(lambda: None)  # what is not told here is not recorded
    conditions |= {
        "device": "GPU", "device count": 1, "versions": {}, "graph share": 0, "launches": count * steps,
        "switches": {"record_shapes": 1, "with_stack": 0, "profile_memory": 0}, "kernels": count * steps,
        "linked": count * steps, "reliable": True,
    }  # fmt: skip
    return Side("run", {}, conditions, steps, None, {True: measured, False: replace(measured, units=1)})


def claims(diff: Diff) -> list[str]:
    """Return everything that a comparison claims."""
    found = [f"row {r.group.label}" for r in diff.claimed]
    found += [k for k in TIMES if diff.headlines[k].claimed]
    found += [f"sentence {s.text}" for s in statements(diff) if s.claimed]
    return found + [o.gate.text for o in judge(GATES, diff) if o.state == FAIL]


def slowed(made: Program, worth: float, random: np.random.Generator) -> tuple[Program, int] | None:
    """Return a program whose step takes `worth` longer by one operator of 10 % or more; None where none has that."""
    whole = made.operators.sum() + made.idle
    large = np.flatnonzero(made.operators >= 0.10 * whole)
    if not len(large):
        return None
    which = int(random.choice(large))
    operators = made.operators.copy()
    operators[which] += worth * whole
    return Program(operators, made.idle), which


def found(pairs: int, steps: int, runs: int, worth: float, seed: int) -> float:
    """Return the share of slowdowns that are found: the right row is claimed."""
    random, hits, asked = np.random.default_rng(seed), 0, 0
    while asked < pairs:
        made = program(random)
        other = slowed(made, worth, random)
        if other is None:
            continue
        asked += 1
        noise = Noise()
        base = [recorded(made, steps, random, noise) for _ in range(runs)]
        new = [recorded(other[0], steps, random, noise) for _ in range(runs)]
        hits += any(
            r.group.label == f"aten::op_{other[1]}" and r.change.delta > 0 for r in compare(base, new).claimed
        )
    return hits / pairs


def false_alarms(pairs: int, steps: Sequence[int], runs: int, seed: int) -> tuple[float, list[str]]:
    """Return the share of pairs of one program that claim anything, and what."""
    random, alarms, said = np.random.default_rng(seed), 0, list[str]()
    for i in range(pairs):
        made, count = program(random), steps[i % len(steps)]
        sides = [[recorded(made, count, random, Noise()) for _ in range(runs)] for _ in range(2)]
        wrong = claims(compare(sides[0], sides[1]))
        alarms += bool(wrong)
        said += wrong[:3]
    return alarms / pairs, said


def main() -> int:
    """Print the shares, and return whether one misses its bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    share, said = false_alarms(asked.pairs, (5, 8, 10, 20, 50), 1, asked.seed)
    three, said_three = false_alarms(max(asked.pairs // 4, 1), (8, 10), 3, asked.seed + 1)
    one = found(max(asked.pairs // 4, 1), asked.steps, 1, 0.05, asked.seed + 2)
    more = found(max(asked.pairs // 4, 1), asked.steps, 3, 0.02, asked.seed + 3)
    results = (
        ("false alarms, one run a side", share, 0.05, False),
        ("false alarms, three runs a side", three, 0.05, False),
        ("found: one operator, 5 % of step time, one run a side", one, 0.95, True),
        ("found: one operator, 2 % of step time, three runs a side", more, 0.90, True),
    )
    for what, value, bound, least in results:
        holds = value >= bound if least else value <= bound
        print(
            f"{what:58} {value:7.1%}   {'>=' if least else '<='} {bound:.0%}   {'ok' if holds else 'MISSED'}"
        )
    for text in (said + said_three)[:10]:
        print(f"  claimed: {text}")
    return 0 if all((v >= b) if least else (v <= b) for _, v, b, least in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
