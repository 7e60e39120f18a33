"""Findings: what the answers mean, one rule per file.

To add a rule, write one file in rules/ with a `RULE`, its explanation in explanations/rules/, and
name it in RULES.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from traceview.analyses import Analysis
from traceview.errors import UsageError
from traceview.findings.finding import Finding, Rule, Severity, base_ns, graded, saturated
from traceview.findings.rules import RULES

__all__ = ["RULES", "Finding", "Findings", "Rule", "Severity", "check", "checked_gate"]


@dataclass(frozen=True)
class Findings:
    """Hold the findings of a trace, worst first, and the slugs of the rules that were asked.

    `unanswered` are rules that could not be asked: device records are missing or incomplete.
    """

    found: tuple[Finding, ...]
    checked: tuple[str, ...]
    unanswered: tuple[str, ...]

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the slugs of the rules that found nothing."""
        found = {f.slug for f in self.found}
        return tuple(slug for slug in self.checked if slug not in found)

    def fails(self, gate: str) -> bool:
        """Say whether a finding has the severity of a gate or worse, or its slug above note."""
        if gate in _SEVERITIES:
            return any(f.severity >= _SEVERITIES[gate] for f in self.found)
        return any(f.slug == gate and f.severity > Severity.NOTE for f in self.found)


_SEVERITIES = {s.word: s for s in Severity}


def checked_gate(gate: str) -> str:
    """Return a gate that can be asked for: a severity, or a rule that can be above a note; raises UsageError."""
    rules = {rule.slug: rule for rule in RULES}
    if gate in rules and rules[gate].describes:
        raise UsageError(
            f"--fail-on {gate}: this rule only describes, it is never above a note and so would never fail",
            "gate on --fail-on note, which any finding fails, or on a rule with time at stake",
        )
    if gate not in _SEVERITIES and gate not in rules:
        known = ", ".join(s.word for s in sorted(Severity, reverse=True))
        raise UsageError(
            f"--fail-on {gate}: no severity and no rule", f"name one of {known}, or a rule's slug"
        )
    return gate


def check(analysis: Analysis) -> Findings:
    """Return what every rule finds; those that only describe come last."""
    base, full, complete = base_ns(analysis), saturated(analysis), analysis.utilisation_reliable
    asked = [rule for rule in RULES if complete or not rule.needs_records]
    found = [
        _within(graded(f, base, Severity.NOTE if full and rule.of_idle else Severity.HIGH), analysis)
        for rule in asked
        if (f := rule.check(analysis)) is not None
    ]
    found.sort(key=lambda f: (f.at_stake is None, -(f.at_stake or 0), -f.severity))
    names = {rule.slug for rule in asked}
    unanswered = tuple(rule.slug for rule in RULES if rule.slug not in names)
    return Findings(tuple(found), tuple(rule.slug for rule in asked), unanswered)


def _within(finding: Finding, analysis: Analysis) -> Finding:
    """Return a finding whose window ends with the trace; that of chosen steps may reach into other ones."""
    if finding.window is None or analysis.chosen:
        return finding
    return replace(
        finding, window=(finding.window[0], min(finding.window[1], max(analysis.trace.span_ns, 1)))
    )
