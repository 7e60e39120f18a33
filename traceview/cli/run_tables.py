"""What `traceview runs` prints."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Collection, Sequence
from typing import Any

import click

from traceview import __version__
from traceview.capture.run_compare import Compared, compare_runs
from traceview.capture.runs import Run, Runs, refuse
from traceview.cli.comparing import NOT_COMPARABLE
from traceview.cli.output import print_json
from traceview.report.csv_file import plain
from traceview.units import count, data_size, duration, plural, safe, significant
from traceview.units import share as percent

_MORE = 5  # processes that tell a smaller change than the usual two
_LISTED = ("shape", "precision", "device")


def print_list(table: str | None, label: str | None, most: int) -> None:
    """Print a line per run."""
    found, damaged = Runs(table).read(label, most)
    head = ("run", "written", "label", *_LISTED, "median", "between")
    lines = [head, *(_line(run) for run in found)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        click.echo(safe("  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip()))
    refuse(damaged)


def _line(run: Run) -> tuple[str, ...]:
    between = run.figures.get("spread_between_share")
    return (
        str(run.id),
        time.strftime("%Y-%m-%d %H:%M", time.localtime(run.written)),
        run.label,
        *(run.conditions.get(k, "")[:40] for k in _LISTED),
        "failed" if "failed" in run.notes else figure("latency_ns", run.figures.get("latency_ns")),
        "" if between is None else percent(between),
    )


def figure(name: str, value: float | None) -> str:
    """Say a figure by the unit that ends its name."""
    if value is None:
        return ""
    if name.endswith("_ns"):
        return duration(value)
    if name.endswith("_bytes"):
        return data_size(value)
    if name.endswith("_share"):
        return percent(value)
    return count(int(value)) if float(value).is_integer() else significant(value)


def print_run(table: str | None, number: int) -> None:
    """Print conditions and figures of a run."""
    run = Runs(table).get(number)
    lines = [
        f"run {run.id}: {run.kind} {run.label}, {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(run.written))}"
    ]
    lines += [f"  {k}: {v}" for k, v in run.conditions.items()]
    for name, value in run.figures.items():
        if name == "top_op_share" and value is not None:
            lines.append(_of_operators(run, value))
        elif text := figure(name, value):
            lines.append(f"  {_called(name)}: {text}")
    if "failed" in run.notes:
        lines.append(f"  failed: {run.notes['failed']}")
    lines.append(f"  samples: {', '.join(str(len(s)) for s in run.samples) or 'none'}")
    if run.trace:
        lines.append(f"  trace: {run.trace}")
    click.echo("\n".join(safe(line) for line in lines))


def _of_operators(run: Run, share: float) -> str:
    """Say of what the top operator's share is: not of an iteration."""
    time = run.notes.get("top_op_time", "time")
    name = f"{run.notes['top_op']}, " if "top_op" in run.notes else ""
    return f"  top operator: {name}{percent(share)} of the {time} of all operators"


def _called(figure_name: str) -> str:
    """Return how a figure is called: its unit stands behind the number."""
    for unit in ("_ns", "_bytes", "_share"):
        figure_name = figure_name.removesuffix(unit)
    return figure_name.replace("_per_s", " per second").replace("_", " ")


def print_comparison(
    table: str | None, numbers: tuple[int, int], expected: Collection[str], how: tuple[bool, str]
) -> int:
    """Print what differs between two runs; return the exit status."""
    runs, (force, form) = Runs(table), how
    found = compare_runs(runs.get(numbers[0]), runs.get(numbers[1]))
    refused = found.refused(expected)
    refused = [] if force else refused
    if form == "json":
        print_json(document(found, refused))
    else:
        click.echo("\n".join(safe(line) for line in _said(found, refused)))
    return NOT_COMPARABLE if refused else 0


def _said(found: Compared, refused: Sequence[str]) -> list[str]:
    base, new = found.base, found.new
    lines = [f"run {base.id} ({base.label}) and run {new.id} ({new.label})"]
    lines += [f"  {k}: {a} | {b}" for k, (a, b) in found.unequal.items()]
    for side, run in enumerate((base, new)):
        if only := [f"{k} {p[side]}" for k, p in found.one_sided.items() if p[side] is not None]:
            lines.append(f"  noted by run {run.id} only, not compared: {'; '.join(only)}")
    if refused:
        return [
            *lines,
            f"not comparable: {', '.join(refused)} differ; --expect {refused[0]} where that is meant, or --force",
        ]
    return [*lines, _difference(found), _judged(found)]


def _difference(found: Compared) -> str:
    medians = f"median {duration(found.centres[0])} -> {duration(found.centres[1])}"
    if found.relative is None:
        ends = [f"{'+' if end > 0 else ''}{duration(end)}" for end in found.interval[1:]]
        said = f"95 % interval of the difference {ends[0]} to {ends[1]}"
    else:
        change, low, high = found.relative
        cut = " (no time is below 0)" if low == -1 else ""
        said = f"{change:+.1%}, 95 % interval {low:+.1%}{cut} to {high:+.1%}"
    base, new = found.processes
    return f"{medians}: {said}, of {base} and {plural(new, 'process', 'processes')}"


def _judged(found: Compared) -> str:
    """Say whether the difference is real, and where it is not shown, what could have been."""
    if found.is_real:
        return _verdict(found)
    benched = found.base.kind == found.new.kind == "bench"
    least = min(found.processes)
    if least < 2 and benched:
        return (
            "not proven: one process a side tells nothing of the spread between runs; bench with --repeat 3"
        )
    if least < 2:
        return (
            "not proven: one recording a side tells nothing of the spread between runs; "
            "give several of each side to 'traceview diff' (--also-base, --also-new)"
        )
    more = f"; --repeat {max(_MORE, 2 * least)} tells smaller ones" if benched else ""
    unseen = (
        f"; a change under ±{percent(found.margin)} cannot be told with {found.processes[0]} and "
        f"{plural(found.processes[1], 'process', 'processes')}{more}"
        if found.margin
        else ""
    )
    return f"within the spread: no difference is shown{unseen}"


def document(found: Compared, refused: Collection[str]) -> dict[str, Any]:
    """Return a comparison as JSON."""
    change, low, high = found.relative or (None, None, None)
    known = not refused
    return {
        "schema": "traceview.runs-compare/1",
        "version": __version__,
        "base": found.base.id,
        "new": found.new.id,
        "unequal": {k: list(v) for k, v in found.unequal.items()},
        "one_sided": {k: list(v) for k, v in found.one_sided.items()},
        "refused": list(refused),
        "base_ns": found.centres[0],
        "new_ns": found.centres[1],
        "change": change if known else None,
        "interval": [low, high] if known and change is not None else None,
        "interval_ns": [found.interval.low, found.interval.high] if known else None,
        "margin": found.margin if known else None,
        "processes": list(found.processes),
        "verdict": "not comparable" if refused else _verdict(found),
    }


def _verdict(found: Compared) -> str:
    if not found.is_real:
        return "not shown"
    return "faster" if found.interval.estimate < 0 else "slower"


def print_export(table: str | None, form: str, label: str | None) -> None:
    """Print all runs as CSV or JSON."""
    found, damaged = Runs(table).read(label)
    found.reverse()
    if form == "json":
        fields = ("id", "written", "kind", "label", "conditions", "figures", "samples", "trace", "notes")
        print_json(
            {"schema": "traceview.runs/1", "runs": [{f: getattr(r, f) for f in fields} for r in found]}
        )
    else:
        click.echo(_csv(found), nl=False)
    refuse(damaged)


def _csv(found: Sequence[Run]) -> str:
    conditions = list(dict.fromkeys(k for r in found for k in r.conditions))
    figures = list(dict.fromkeys(k for r in found for k in r.figures))
    notes = list(dict.fromkeys(k for r in found for k in r.notes))
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["id", "written", "kind", "label", *conditions, *figures, *notes, "trace"])
    for r in found:
        texts = [r.label, *(r.conditions.get(k, "") for k in conditions)]
        numbers = [r.figures.get(k) for k in figures]
        ends = [*(r.notes.get(k, "") for k in notes), r.trace]
        write.writerow([r.id, r.written, r.kind, *map(plain, texts), *numbers, *map(plain, ends)])
    return out.getvalue()
