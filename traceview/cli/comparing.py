"""From two files to a comparison, with its gates: what `traceview diff` does between its options and its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from traceview.analyses import Choice
from traceview.cli.loading import load
from traceview.cli.output import STANDARD, json_text
from traceview.cli.screen import shown_blocks
from traceview.cli.targets import Target, refuse_targets
from traceview.diff.build import side_of
from traceview.diff.claims import Floor
from traceview.diff.comparability import REFUSED
from traceview.diff.compare import Diff, Options, compare
from traceview.diff.gates import FAIL, UNPROVEN, Gate, Outcome, judge, parse
from traceview.diff.overview import Overview, overview
from traceview.diff.saved import is_saved, saved_side
from traceview.diff.side import Side
from traceview.errors import UsageError
from traceview.report.html import render_html
from traceview.report.markdown import report_markdown
from traceview.report.overview_view import build_overview, overview_blocks, overview_document
from traceview.report.save import cleaned_texts
from traceview.report.text_blocks import Block, plain_text
from traceview.report.view import ReportOptions
from traceview.units import public_label

GATE_FAILED, NOT_COMPARABLE = 1, 4


@dataclass(frozen=True)
class Reading:
    """Say how the files are read, and which of their steps are compared."""

    categories: str | None
    quiet: bool
    choice: Choice | None


@dataclass(frozen=True)
class Gates:
    """Hold the gates asked for, and what follows from them."""

    asked: Sequence[Gate]
    unproven: str  # "fail" or "pass"
    force: bool
    warn_only: bool

    @classmethod
    def parsed(cls, texts: Sequence[str], unproven: str, force: bool, warn_only: bool) -> Gates:
        """Return the gates of a command line."""
        return cls([parse(text) for text in texts], unproven, force, warn_only)

    def judged(self, diff: Diff) -> tuple[Outcome, ...]:
        """Return what the gates come to; none where the runs are not comparable and nobody insists."""
        refused = diff.comparability.verdict == REFUSED and not self.force
        return () if refused else judge(self.asked, diff)

    def tried(self, diff: Diff) -> tuple[tuple[Outcome, ...], UsageError | None]:
        """Return what the gates come to, or why one of them cannot be asked of these runs."""
        try:
            return self.judged(diff), None
        except UsageError as error:
            return (), error

    def status(self, diff: Diff, outcomes: Sequence[Outcome]) -> int:
        """Return the exit status."""
        if not self.asked or self.warn_only:
            return 0
        if diff.comparability.verdict == REFUSED and not self.force:
            return NOT_COMPARABLE
        failing = {FAIL} if self.unproven == "pass" else {FAIL, UNPROVEN}
        return GATE_FAILED if any(o.state in failing for o in outcomes) else 0


def refuse_runs(runs: Sequence[str], found: Sequence[Target], force: bool) -> None:
    """Refuse standard input for two runs, and outputs that must not be overwritten, before anything is read."""
    if runs.count("-") > 1:
        raise UsageError("standard input is named for more than one run", "name a file for all runs but one")
    for run in runs:
        refuse_targets(found, run, force)


def compared(base: Sequence[str], new: Sequence[str], reading: Reading, options: Options) -> Diff:
    """Read the runs of both sides and compare them."""
    sides = _sides([*base, *new], reading)
    return compare(sides[: len(base)], sides[len(base) :], options)


def side_by_side(traces: Sequence[str], reading: Reading) -> Overview:
    """Read three runs or more and put them side by side."""
    return overview(_sides(traces, reading))


@dataclass(frozen=True)
class OverviewPainters:
    """Paint runs side by side in several formats."""

    found: Overview
    options: ReportOptions

    def of(self, target: Target) -> Callable[[BinaryIO], object]:
        """Return what writes one output."""
        if target.form == "text" and target.path == STANDARD:
            return lambda file: file.write(shown_blocks(self._blocks).encode("utf-8", "backslashreplace"))
        text = {"text": self._text, "json": self._json, "html": self._html, "md": self._markdown}[target.form]
        return lambda file: file.write(text().encode("utf-8", "backslashreplace"))

    @property
    def _blocks(self) -> list[Block]:
        return overview_blocks(self.found, self.options.top)

    def _text(self) -> str:
        return plain_text(self._blocks)

    def _json(self) -> str:
        return json_text(overview_document(self.found))

    def _html(self) -> str:
        return render_html(build_overview(self.found, self.options))

    def _markdown(self) -> str:
        return report_markdown(build_overview(self.found, self.options))


def _sides(paths: Sequence[str], reading: Reading) -> list[Side]:
    """Read runs; beside a saved one, what the others noted is cleaned as its own was, so that equal texts stay equal."""
    sides = [_side(path, reading) for path in paths]
    if not any(side.analysis is None for side in sides):
        return sides
    return [
        replace(s, conditions={**s.conditions, "captured": cleaned_texts(s.conditions["captured"])})
        for s in sides
    ]


def _side(path: str, reading: Reading) -> Side:
    if is_saved(path):
        return saved_side(path, public_label(Path(path).stem))
    found, analysis = load(path, reading.categories, reading.quiet, reading.choice)
    return side_of(analysis, public_label(analysis.trace.meta.label) or public_label(found))


def floor_of(texts: Sequence[str]) -> Floor:
    """Return the floor below which nothing is claimed: shares of itself (5%), of step time (step:1%), and a time (10us)."""
    own, step, ns = Floor().own, Floor().step, Floor().ns
    for text in (part for t in texts for part in t.split(",")):
        name, colon, value = text.strip().rpartition(":")
        number, unit = _split(value)
        if unit == "%" and name in ("", "step"):
            own, step = (own, number / 100) if colon else (number / 100, step)
        elif unit in ("us", "ms") and not colon:
            ns = number * (1e3 if unit == "us" else 1e6)
        else:
            raise UsageError(
                f"--floor {text!r} is no floor", "write some of 5%, step:1% and 10us, with commas"
            )
    return Floor(own, step, ns)


def _split(text: str) -> tuple[float, str]:
    digits = text.rstrip("%umsµ")
    try:
        return float(digits), text[len(digits) :]
    except ValueError:
        return 0.0, ""
