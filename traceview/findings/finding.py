"""What a finding is: one sentence with numbers, its evidence, what is at stake, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.findings.said import Said, written
from traceview.units import LABEL_LIMIT, shown

HIGH, MEDIUM, LOW = 0.15, 0.05, 0.01  # shares of the base from which a finding is high, medium, low
SATURATED = 0.90  # busy share of the base from which idle time is worth a note at most
CONFIDENCE_LOW = "low"  # of a cause that the records do not show: no alarm, so medium at most


class Severity(IntEnum):
    """Order findings: a higher one is worse."""

    NOTE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def word(self) -> str:
        """Return the word people see and type."""
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """Say what is wrong, how it is known, and what to do.

    `at_stake` (ns) is an upper bound of the time that mending it could save, None for a finding that
    only describes; bounds of several findings overlap and do not add up. `share` is that bound by the
    base (see `base_ns`). `window` is the stretch of the trace to look at, in ns from its origin.
    `confidence` is high, medium or low. `said` and the texts of `evidence` may point to rows of tables.
    """

    slug: str
    said: Said
    evidence: tuple[tuple[str, Said], ...]
    advice: str
    confidence: str
    at_stake: int | None = None
    share: float | None = None
    window: tuple[int, int] | None = None
    severity: Severity = Severity.NOTE

    @property
    def sentence(self) -> str:
        """Return what is said, with short names."""
        return written(self.said)

    @property
    def texts(self) -> dict[str, str]:
        """Return the evidence by label, with short names."""
        return {label: written(said) for label, said in self.evidence}


@dataclass(frozen=True)
class Rule:
    """Bind a slug and a title to the question; the documentation is explanations/rules/SLUG.md.

    `of_idle` says that what is at stake is idle time: a note at most where the device is saturated.
    `needs_records` says that the question has no answer where device records are missing.
    `describes` says that its finding has no time at stake: always a note, so no gate of its own.
    """

    slug: str
    title: str
    check: Callable[[Analysis], Finding | None]
    of_idle: bool = True
    needs_records: bool = True
    describes: bool = False


def has_windows(analysis: Analysis) -> bool:
    """Say whether steps have device windows, so that these are the base of all shares."""
    return bool((analysis.step_windows.window_start >= 0).any())


def base_ns(analysis: Analysis) -> int:
    """Return the time that stakes are shares of: the step windows, without steps the spans of all devices."""
    windows = analysis.step_windows
    if has_windows(analysis):
        known = windows.window_start >= 0
        return int((windows.window_end - windows.window_start)[known].sum())
    return int(analysis.gpu_time.span.sum())


def base_word(analysis: Analysis) -> str:
    """Return what the base is called; of several devices with windows it is that of each rank's main one."""
    word, known = device_word(analysis.trace), analysis.step_windows.window_start >= 0
    if not known.any():
        return f"{word} span"
    main = sorted(set(analysis.step_windows.device[known].tolist()))
    if len(main) == len(analysis.window_time):
        return "step windows"
    return (
        f"step windows of {word} {shown(main[0], LABEL_LIMIT)}"
        if len(main) == 1
        else f"step windows of the main {word}s"
    )


def saturated(analysis: Analysis) -> bool:
    """Say whether the device works for 90 % of the base or more."""
    idle = analysis.step_windows.idle if has_windows(analysis) else analysis.gpu_time.idle
    return int(idle.sum()) <= (1 - SATURATED) * base_ns(analysis)


def graded(finding: Finding, base: int, ceiling: Severity = Severity.HIGH) -> Finding:
    """Return the finding with its share and the severity that follows from it, at most `ceiling`.

    What is known with low confidence is medium at most.
    """
    if finding.at_stake is None or base <= 0:
        return finding
    if finding.confidence == CONFIDENCE_LOW:
        ceiling = min(ceiling, Severity.MEDIUM)
    share = finding.at_stake / base
    level = Severity.NOTE
    for severity, least in ((Severity.HIGH, HIGH), (Severity.MEDIUM, MEDIUM), (Severity.LOW, LOW)):
        if share >= least:
            level = severity
            break
    return replace(finding, share=share, severity=min(level, ceiling))
