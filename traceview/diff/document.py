"""A comparison as JSON: the schema traceview.diff/1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from traceview import __version__
from traceview.diff.changes import Bar, calls, categories, causes, partition, statements, verdict
from traceview.diff.claims import COUNTS, Judgement
from traceview.diff.comparability import REFUSED
from traceview.diff.compare import Diff, Row
from traceview.diff.gates import Outcome
from traceview.diff.names import normalised
from traceview.diff.side import Side
from traceview.events import Notice

SCHEMA = "traceview.diff/1"
MOST_ROWS = 500
Pair = list[float]


def us(ns: float | Fraction) -> float:
    """Return ns as microseconds."""
    exact = Fraction(ns) / 1000
    return int(exact) if exact.denominator == 1 else float(exact)


def diff_document(diff: Diff, outcomes: Sequence[Outcome] = ()) -> dict[str, Any]:
    """Return the JSON document of a comparison, with what its gates came to; times in µs."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "base": side_document(diff.base),
        "new": side_document(diff.new),
        "facts": diff_facts(diff),
        "warnings": [
            {"code": n.code, "level": n.level, "count": n.count, "message": n.message} for n in warnings(diff)
        ],
        "per": diff.per,
        "comparability": {
            "verdict": diff.comparability.verdict,
            "reasons": list(diff.comparability.reasons),
            "conditions": [
                {"key": c.key, "base": c.base, "new": c.new, "alike": c.alike, "weight": c.weight,
                 "sentence": c.sentence, "expected": c.expected}
                for c in diff.comparability.conditions
            ],
            "matched": _share(diff.comparability.matched),
            "matched_with_shapes": _share(diff.comparability.matched_shaped),
        },
        "structure": list(diff.structure),
        "verdict": verdict(diff),
        "statements": [
            {"text": s.text, "delta_us": us(s.delta), "claimed": s.claimed} for s in statements(diff)
        ],
        "gates": [{"gate": o.gate.text, "state": o.state, "why": o.why} for o in outcomes],
        "parts": bars_document(partition(diff)),
        "categories": bars_document(categories(diff)),
        "idle_causes": bars_document(causes(diff)),
        "calls": [
            {"name": c.name, "op": c.op or None, "kind": c.kind, "base_calls": float(c.base_calls),
             "new_calls": float(c.new_calls), "base_us": us(c.base), "new_us": us(c.new)}
            for c in calls(diff)[:MOST_ROWS]
        ],
        "headlines": {key: judgement_document(found, key) for key, found in diff.headlines.items()},
        "rows": [row_document(row) for row in diff.rows[:MOST_ROWS]],
        "others_delta_us": us(sum((r.change.delta for r in diff.rows[MOST_ROWS:]), Fraction(0))),
    }  # fmt: skip


def bars_document(bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Return bars that add up."""
    return [
        {"label": b.label, "base_us": us(b.base), "new_us": us(b.new), "delta_us": us(b.delta)} for b in bars
    ]


def side_document(side: Side) -> dict[str, Any]:
    """Return what is told of one side."""
    return {"label": side.label, "samples": side.samples, "facts": dict(side.facts)}


def judgement_document(judgement: Judgement, key: str) -> dict[str, Any]:
    """Return a test: centres and interval in µs, counts as they are."""
    scale = (lambda v: v) if key in COUNTS else us
    return {
        "base": scale(judgement.base),
        "new": scale(judgement.new),
        "delta": scale(judgement.delta),
        "interval": [scale(judgement.interval.low), scale(judgement.interval.high)]
        if judgement.interval
        else None,
        "p": judgement.p,
        "tested_by": judgement.by or None,
        "claimed": judgement.claimed,
        "reason": judgement.reason,
    }


def row_document(row: Row) -> dict[str, Any]:
    """Return one row of work."""
    change = row.change
    return {
        "label": row.group.label,
        "op": row.group.node.op if row.group.node else None,
        "shapes": row.group.node.shapes or None if row.group.node else None,
        "matched_by": row.group.layer,
        "kernels": [{"base": k.base or None, "new": k.new or None, "how": k.how} for k in row.kernels],
        "base_us": us(change.base),
        "new_us": us(change.new),
        "delta_us": us(change.delta),
        "calls_effect_us": us(change.calls_effect),
        "mean_effect_us": us(change.mean_effect),
        "base_calls": float(change.base_calls),
        "new_calls": float(change.new_calls),
        "judgement": judgement_document(row.judgement, ""),
    }


def _share(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def diff_facts(diff: Diff) -> dict[str, Any]:
    """Return the facts that cases/README defines for a comparison."""
    base, new = diff.base.facts, diff.new.facts
    kernels = [{k: total for k, (_, total) in side["kernels"].items()} for side in (base, new)]
    families = _families(kernels)
    order = sorted(families, key=lambda k: (-abs(families[k][1] - families[k][0]), k))
    slower, faster = (_names(diff, sign) for sign in (1, -1))
    timed = [
        t for k, t in diff.headlines.items() if k in ("step_time", "gpu_busy", "kernel_time", "gpu_idle")
    ]
    added, removed = unmatched(diff)
    return {
        "delta_kernel_us": _minus(new["kernel_sum_us"], base["kernel_sum_us"]),
        "per_call_delta_us": _per_call(diff),
        "kernel_delta_us": {k: _minus(v, kernels[0][k]) for k, v in kernels[1].items() if k in kernels[0]},
        "added": added,
        "removed": removed,
        "families": families,
        "by_op": _by_op(base, new),
        "top_change": order[0] if order and families[order[0]][0] != families[order[0]][1] else None,
        "order_by_delta": order,
        "step_count": [base["step_count"], new["step_count"]],
        "kernel_us_per_step": [base["kernel_us_per_step"], new["kernel_us_per_step"]],
        "regression": bool(slower) or any(t.claimed and t.delta > 0 for t in timed),
        "regressions": slower,
        "improvement_claimed": bool(faster) or any(t.claimed and t.delta < 0 for t in timed),
    }


def _minus(new: float, base: float) -> float:
    return us(round(new * 1000) - round(base * 1000))


def _per_call(diff: Diff) -> float | None:
    sides = [(s.facts["kernel_sum_us"], s.facts["kernel_count"]) for s in (diff.base, diff.new)]
    if not all(calls for _, calls in sides):
        return None
    means = [Fraction(round(time * 1000), calls) for time, calls in sides]
    return us(means[1] - means[0])


def _families(kernels: list[dict[str, float]]) -> dict[str, Pair]:
    sums: dict[str, list[int]] = {}
    for side in (0, 1):
        for name, time in kernels[side].items():
            sums.setdefault(normalised(name), [0, 0])[side] += round(time * 1000)
    return {name: [us(a), us(b)] for name, (a, b) in sums.items()}


def _by_op(base: Any, new: Any) -> dict[str, Pair]:
    sides = [side.get("op_self_gpu_us") or {} for side in (base, new)]
    return {op: [sides[0].get(op, 0), sides[1].get(op, 0)] for op in dict.fromkeys([*sides[0], *sides[1]])}


def unmatched(diff: Diff) -> tuple[list[str], list[str]]:
    """Return the kernel names that only the new, and only the base side has, and that stand for nothing there."""
    paired: set[str] = set()
    single: tuple[set[str], set[str]] = (set(), set())
    for row in diff.rows:
        for pair in row.kernels:
            if pair.base and pair.new:
                paired |= {pair.base, pair.new}
            else:
                single[0 if pair.new else 1].add(pair.new or pair.base)
    of_kernel = {r.kernel for m in diff.measured for r in m.rows.rows if r.is_kernel}
    both = single[0] & single[1]
    return sorted((single[0] - paired - both) & of_kernel), sorted((single[1] - paired - both) & of_kernel)


def _names(diff: Diff, sign: int) -> list[str]:
    """Return the kernels of the claimed rows that are slower (1) or faster (-1)."""
    names: Iterable[str] = (
        pair.new or pair.base for row in diff.claimed if row.change.delta * sign > 0 for pair in row.kernels
    )
    return sorted(set(names))


def warnings(diff: Diff) -> tuple[Notice, ...]:
    """Return what is worth a warning about the comparison itself, and all warnings of the sides."""
    found = []
    steps = diff.base.facts["step_count"], diff.new.facts["step_count"]
    if steps[0] != steps[1]:
        text = f"{steps[0]} steps against {steps[1]}: figures are per {diff.per}"
        found.append(Notice("uneven_steps", "warning", abs(steps[0] - steps[1]), text))
    if diff.comparability.verdict == REFUSED:
        reasons = "; ".join(diff.comparability.reasons)
        found.append(Notice("incomparable_traces", "warning", len(diff.comparability.reasons), reasons))
    for name, side in (("base", diff.base), ("new", diff.new)):
        if side.analysis is not None:
            found += [
                Notice(n.code, n.level, n.count, f"{name}: {n.message}") for n in side.analysis.warnings
            ]
    return tuple(found)
