"""Gates: METRIC[:REGEX] OP NUMBER UNIT, such as 'step_time>5%', 'kernel:gemm>100us', 'launches=>2000x'.

`>` limits the increase over the base per step, `<` the decrease, `=>` and `=<` the new value itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from traceview.analyses.patterns import compiled, first_found
from traceview.diff.claims import COUNTS, Judgement, judge_samples
from traceview.diff.compare import Diff
from traceview.errors import UsageError
from traceview.units import count, data_size, duration, share

TIMED = ("step_time", "gpu_busy", "gpu_idle", "kernel_time", "exposed_comm", "exposed_copy", "launch_cpu")
COUNTED = ("launches", "syncs")
METRICS = (*TIMED, *COUNTED, "peak_memory", "kernel:REGEX", "op:REGEX")
PASS, FAIL, UNPROVEN = "pass", "fail", "unproven"
_UNITS = {"us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "ns": 1}
_NUMBER = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(%|[a-zA-Zµ]+)\s*$")


@dataclass(frozen=True)
class Gate:
    """Hold a gate as asked: metric and pattern, whether more or less fails, of what, and the limit.

    `limit` is in ns, a share (`unit` "%"), bytes or a count.
    """

    text: str
    metric: str
    pattern: str | None
    more: bool
    of_value: bool
    limit: Fraction
    unit: str


@dataclass(frozen=True)
class Outcome:
    """Hold what a gate came to: PASS, FAIL or UNPROVEN, and why in one sentence."""

    gate: Gate
    state: str
    why: str


def parse(text: str) -> Gate:
    """Return a gate; raises UsageError for what is none."""
    at = max(text.rfind(">"), text.rfind("<"))
    if at < 1:
        raise UsageError(f"gate {text!r} has no > or <", "write METRIC > NUMBER UNIT, such as 'step_time>5%'")
    name, number = text[:at].strip(), _NUMBER.match(text[at + 1 :])
    of_value = name.endswith("=")
    name = name.removesuffix("=").strip()
    metric, colon, pattern = name.partition(":")
    known = metric in (*TIMED, *COUNTED, "peak_memory") and not colon
    if not known and not (metric in ("kernel", "op") and pattern):
        raise UsageError(f"gate {text!r}: unknown metric {name!r}", f"use one of {', '.join(METRICS)}")
    if number is None:
        raise UsageError(
            f"gate {text!r}: the limit is no number with a unit", f"write one of {_allowed(metric)}"
        )
    limit, unit = _limit(text, metric, Fraction(number[1]), number[2])
    if unit == "%" and of_value:
        raise UsageError(
            f"gate {text!r}: a value cannot be tested against a share", "give a limit with a unit"
        )
    return Gate(text, metric, pattern or None, text[at] == ">", of_value, limit, unit)


def _limit(text: str, metric: str, number: Fraction, unit: str) -> tuple[Fraction, str]:
    if unit == "%":
        return number / 100, unit
    if metric in COUNTED and unit == "x":
        return number, unit
    if metric == "peak_memory" and unit in ("MB", "GB"):
        return number * (10**6 if unit == "MB" else 10**9), unit
    if metric not in COUNTED and metric != "peak_memory" and unit in _UNITS:
        return number * _UNITS[unit], unit
    raise UsageError(f"gate {text!r}: {unit!r} is no unit of {metric}", f"use {_allowed(metric)}")


def _allowed(metric: str) -> str:
    if metric in COUNTED:
        return "5% or 20x"
    return "5%, 200MB or 2GB" if metric == "peak_memory" else "5%, 10us, 10ms or 1s"


def judge(gates: Sequence[Gate], diff: Diff) -> tuple[Outcome, ...]:
    """Return what each gate comes to; raises UsageError for one that cannot be asked of these runs."""
    return tuple(_judge(gate, diff) for gate in gates)


@dataclass(frozen=True)
class _Value:
    base: float
    new: float
    judgement: Judgement | None  # None: a count, judged on the value


def _judge(gate: Gate, diff: Diff) -> Outcome:
    value = _value(gate, diff)
    delta = value.new - value.base
    if gate.unit == "%" and not value.base:
        raise UsageError(
            f"gate {gate.text!r}: the base is 0, so there is no share of it", "give a limit with a unit"
        )
    measured = value.new if gate.of_value else delta / value.base if gate.unit == "%" else delta
    signed = measured if gate.more or gate.of_value else -measured
    beyond = signed > float(gate.limit) if gate.more or not gate.of_value else measured < float(gate.limit)
    told = _told(gate, value)
    if not beyond:
        return Outcome(gate, PASS, told)
    judgement = value.judgement
    if judgement is None or (gate.of_value and judgement.by):
        return Outcome(gate, FAIL, told)
    if not judgement.by or _measured_once(judgement):
        return Outcome(gate, UNPROVEN, f"{told}; {judgement.reason or 'measured once'}")
    if judgement.interval is not None and judgement.interval.excludes_zero:
        return Outcome(gate, FAIL, told)
    return Outcome(gate, PASS, f"{told}; noise could explain it")


def _measured_once(judgement: Judgement) -> bool:
    return not judgement.claimed and judgement.reason.startswith("measured once")


def _value(gate: Gate, diff: Diff) -> _Value:
    if gate.metric == "peak_memory":
        return _memory(gate, diff)
    if gate.pattern is not None:
        return _matching(gate, diff)
    left, right = diff.measured
    if gate.metric not in left.totals or gate.metric not in right.totals:
        raise UsageError(
            f"gate {gate.text!r}: {gate.metric} is not known of both runs", "gate on another metric"
        )
    found = diff.headlines.get(gate.metric)
    if gate.metric in COUNTS or found is None:
        values = [side.totals[gate.metric] / side.units for side in (left, right)]
        judgement = None if gate.metric in COUNTS else found or Judgement(reason="measured once")
        return _Value(values[0], values[1], judgement)
    return _Value(found.base, found.new, found)


def _memory(gate: Gate, diff: Diff) -> _Value:
    values = [side.conditions.get("peak memory") for side in (diff.base, diff.new)]
    if None in values:
        raise UsageError(f"gate {gate.text!r}: memory was not recorded", "profile with profile_memory=True")
    return _Value(float(values[0] or 0), float(values[1] or 0), None)


def _matching(gate: Gate, diff: Diff) -> _Value:
    """Return the added time of the kernels, or of the work under operators, that a pattern is found in."""
    pattern = [compiled(gate.pattern or "", f"gate {gate.text!r}")]
    sides = []
    for side in diff.measured:
        texts = [
            r.kernel if gate.metric == "kernel" else "\n".join(n.op for n in r.chain) for r in side.rows.rows
        ]
        found = first_found(pattern, texts)
        sides.append(np.flatnonzero(np.array(found, np.int64) >= 0))
    if not len(sides[0]) and not len(sides[1]):
        raise UsageError(f"gate {gate.text!r}: no {gate.metric} matches", "check the regular expression")
    left, right = diff.measured
    if diff.per == "step":
        samples = [m.rows.step_sum[p].sum(axis=0) for m, p in zip(diff.measured, sides, strict=True)]
        judgement = judge_samples(samples[0], samples[1], diff.runs)
        return _Value(judgement.base, judgement.new, judgement)
    values = [float(m.rows.sum[p].sum()) / m.units for m, p in zip((left, right), sides, strict=True)]
    return _Value(values[0], values[1], Judgement(reason="measured once"))


def _told(gate: Gate, value: _Value) -> str:
    """Return both values with units, and where the change lies."""
    if gate.metric in COUNTED:
        shown = [count(round(v)) for v in (value.base, value.new)]
    elif gate.metric == "peak_memory":
        shown = [data_size(v) for v in (value.base, value.new)]
    else:
        shown = [duration(v) for v in (value.base, value.new)]
    change = ""
    if value.base:
        change = f" ({_signed((value.new - value.base) / value.base)}{_interval(value)})"
    return f"{shown[0]} → {shown[1]}{change}"


def _interval(value: _Value) -> str:
    found = value.judgement.interval if value.judgement is not None else None
    if found is None:
        return ""
    return f", 95 % interval {_signed(found.low / value.base)} to {_signed(found.high / value.base)}"


def _signed(part: float) -> str:
    return f"{'+' if part > 0 else '−' if part < 0 else '±'}{share(abs(part))}"
