"""Findings: what the answers mean, one rule per file.

To add a rule, write one file in rules/ with a `RULE`, its explanation in explanations/rules/, and
name it in RULES.
"""

from __future__ import annotations

from dataclasses import dataclass

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule, Severity, base_ns, graded, saturated
from traceview.findings.rules import RULES

__all__ = ["RULES", "Finding", "Findings", "Rule", "Severity", "check"]


@dataclass(frozen=True)
class Findings:
    """Hold the findings of a trace, worst first, and the slugs of all rules that were asked."""

    found: tuple[Finding, ...]
    checked: tuple[str, ...]


def check(analysis: Analysis) -> Findings:
    """Return what every rule finds; those that only describe come last."""
    base, full = base_ns(analysis), saturated(analysis)
    found = [
        graded(f, base, Severity.NOTE if full and rule.of_idle else Severity.HIGH)
        for rule in RULES
        if (f := rule.check(analysis)) is not None
    ]
    found.sort(key=lambda f: (f.at_stake is None, -f.severity, -(f.at_stake or 0)))
    return Findings(tuple(found), tuple(rule.slug for rule in RULES))
