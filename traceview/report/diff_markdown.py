"""A comparison as Markdown for a pull request: a marker for a sticky comment, the verdict, gates, headlines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from traceview.diff.compare import Diff
from traceview.diff.gates import FAIL, UNPROVEN, Outcome
from traceview.findings.document import escaped
from traceview.report.markdown import LIMIT, report_markdown
from traceview.report.view import Report

_STATES = {FAIL: "❌", UNPROVEN: "⚠", "pass": "✅"}


def diff_markdown(report: Report, diff: Diff, outcomes: Sequence[Outcome]) -> str:
    """Return the comparison in at most LIMIT characters."""
    head = [f"<!-- traceview:diff:{_key(diff)} -->"]
    if outcomes:
        worst = next((s for s in (FAIL, UNPROVEN) if any(o.state == s for o in outcomes)), "pass")
        head.append(
            f"{_STATES[worst]} " + "; ".join(escaped(f"{o.gate.text}: {o.state} ({o.why})") for o in outcomes)
        )
    text = "\n".join(head) + "\n\n"
    return text + report_markdown(report, LIMIT - len(text))


def _key(diff: Diff) -> str:
    """Return a key that is the same for each comparison with this base, so that a comment can be replaced."""
    return hashlib.sha256(diff.base.label.encode("utf-8", "backslashreplace")).hexdigest()[:12]
