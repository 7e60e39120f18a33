"""Sum operator time the way people do by hand: the script that traceview is measured against.

    python tests/perf/baseline.py FOLDER

Takes the newest *.json.gz of a folder, loads it whole, adds up `dur` of kernels and copies by name, prints the top 20.
It is kept as plain as such scripts are; nobody should make it faster.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import sys
from collections import defaultdict


def main() -> None:
    """Print the top 20."""
    newest = max(glob.glob(os.path.join(sys.argv[1], "*.json.gz")), key=os.path.getmtime)  # noqa: PTH118, PTH207
    with gzip.open(newest, "rt") as file:
        events = json.load(file)["traceEvents"]
    total: dict[str, float] = defaultdict(float)
    calls: dict[str, int] = defaultdict(int)
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy"):
            total[event["name"]] += event["dur"]
            calls[event["name"]] += 1
    for name in sorted(total, key=lambda n: -total[n])[:20]:
        print(f"{total[name] / 1000:12.3f} ms {calls[name]:8d} {name}")


if __name__ == "__main__":
    main()
