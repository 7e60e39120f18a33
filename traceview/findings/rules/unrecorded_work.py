"""The host waited for the device while it shows no work: perhaps it worked unrecorded."""

from __future__ import annotations

from traceview.analyses import Analysis
from traceview.findings.finding import Finding, Rule
from traceview.findings.said import named
from traceview.units import duration, plural

SLUG = "unrecorded-work"
ADVICE = "Do not read these stretches as idle. Look for lost records, a second profiler, or work of another process."


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where waits of over 1 ms follow launches without a record."""
    table = analysis.health.unrecorded
    if not len(table):
        return None
    worst = int(table.dur.argmax())
    start, total = int(table.start[worst]), int(table.dur.sum())
    sentence = (
        f"In {plural(len(table), 'stretch', 'stretches')} ({duration(total)}) the host waited for the device, "
        "which shows no work although a launch came before: possibly unrecorded device work."
    )
    evidence = (("longest", duration(int(table.dur[worst]))), ("waiting call", named(str(table.call[worst]))))
    return Finding(SLUG, sentence, evidence, ADVICE, "medium", window=(start, start + int(table.dur[worst])))


RULE = Rule(
    SLUG, "Possibly unrecorded device work", check, of_idle=False, needs_records=False, describes=True
)
