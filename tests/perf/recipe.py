"""Write a large trace whose totals are known in closed form.

    python tests/perf/recipe.py STEPS OUT.json.gz

Each step of 20 ms holds 1,000 timed events: the step, 699 Python frames (the bulk of a trace with stacks), and 100 each
of host ops, launches and kernels. Of the kernels 80 take 50 us one after another on one stream, and 20 take 10 us on a
second stream, inside one of the others. So for S steps: 100 S kernels, 4,200 S us summed, 4,000 S us busy, 100 S launches
of 3 us, all linked. 2,000 steps are 2.0 M events, about 390 MB of JSON and 43 MB of gzip.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

EVENTS_PER_STEP = 1000
_HEAD = """{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Invented GPU"}], "displayTimeUnit": "ms",
"baseTimeNanoseconds": 1750000000000000000, "traceEvents": [
{"ph": "M", "name": "process_labels", "ts": 0, "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}}"""
_STEP = (
    ',\n{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 700, "tid": 700, '
    '"ts": %d, "dur": 19900, "args": {"External id": %d}}'
)
_FRAME = (
    ',\n{"ph": "X", "cat": "python_function", "name": "bakery/oven_%d.py(%d): knead_%d", "pid": 700, "tid": 700, '
    '"ts": %d.%03d, "dur": 5.500, "args": {"Python id": %d, "Python parent id": %d, "Ev Idx": %d}}'
)
_LAUNCHED = (
    ',\n{"ph": "X", "cat": "cpu_op", "name": "oven::op_%d", "pid": 700, "tid": 700, "ts": %d, "dur": 9, '
    '"args": {"External id": %d, "Input Dims": [[64, 64], [64, 64]]}}'
    ',\n{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 700, "tid": 700, "ts": %d, "dur": 3, '
    '"args": {"External id": %d, "cbid": 211, "correlation": %d}}'
    ',\n{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d, "ts": %d, "dur": %d, '
    '"args": {"External id": %d, "device": 0, "context": 1, "stream": %d, "correlation": %d}}'
)


def write(steps: int, out: Path) -> None:
    """Write the trace of so many steps."""
    with gzip.open(out, "wt", compresslevel=1, encoding="ascii") as file:
        file.write(_HEAD)
        for step in range(steps):
            file.write(_step(step))
        file.write('\n], "traceName": "recipe.json"}\n')


def _step(step: int) -> str:
    begin = step * 20_000
    lines = [_STEP % (step, begin, step + 1)]
    lines += [_FRAME % (i % 37, i, i % 113, begin + 10 + i * 28, i, i + 1, i, i) for i in range(699)]
    for k in range(100):
        number = step * 100 + k + 1
        small = k % 5 == 4  # runs beside the kernel before it, so it is launched earlier too
        at = begin + 20 + k * 190 - (150 if small else 0)
        name, stream, start, lasts = (
            ("sift_small", 20, at + 20, 10) if small else ("mill_large", 7, at + 30, 50)
        )
        op = (k % 10, at, number, at + 3, number, number)
        lines.append(_LAUNCHED % (*op, name, stream, start, lasts, number, stream, number))
    return "".join(lines)


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
