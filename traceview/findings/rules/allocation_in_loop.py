"""Device memory is allocated or freed by the driver inside steps."""

from __future__ import annotations

import re

import numpy as np

from traceview.analyses import Analysis
from traceview.analyses.accelerator import device_word
from traceview.events import Kind
from traceview.findings.finding import Finding, Rule
from traceview.findings.idle import idle, of_base, worth_saying
from traceview.units import count

SLUG = "allocation-in-loop"
CALLS = re.compile(r"^(?:cuda|hip|cu)(?:Malloc|Free|MemAlloc|MemFree|HostAlloc|MemCreate|MemMap)(?!Async)")
FEWEST_STEPS = 2  # beyond the first, in which allocating is no surprise
ADVICE = (
    "Steady steps allocate nothing: fix shapes or pad to a few, keep buffers, set "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and leave empty_cache() out of the loop."
)


def check(analysis: Analysis) -> Finding | None:
    """Return the finding where two steps or more after the first allocate, and the device idles for it."""
    trace, windows = analysis.trace, analysis.step_windows
    if len(windows) <= FEWEST_STEPS:
        return None
    calls = trace.rows_of(Kind.RUNTIME)
    wanted = np.array([CALLS.search(n) is not None for n in trace.names], bool)
    at = trace.slices.start[calls[wanted[trace.slices.name[calls]]]]
    order = np.argsort(windows.start, kind="stable")
    start, wall = windows.start[order], windows.wall[order]
    step = np.searchsorted(start, at, "right") - 1
    held = (step >= 1) & (at < (start + wall)[np.maximum(step, 0)])  # the first step is warm-up
    steps = len(np.unique(step[held]))
    found = idle(analysis, "allocation", among=analysis.gaps.step >= 1)
    if steps < FEWEST_STEPS or not worth_saying(analysis, found.total):
        return None
    number = int(held.sum())
    sentence = (
        f"{count(number)} allocations or frees by the driver in {steps} steps after the first; the {device_word(analysis.trace)} idled "
        f"{of_base(analysis, found.total)} in them for allocation and loading."
    )
    evidence = (("calls inside steps", count(number)), ("steps with them", str(steps)))
    return Finding(SLUG, sentence, evidence, ADVICE, "high", found.total, window=found.window)


RULE = Rule(SLUG, "Allocation inside the loop", check)
