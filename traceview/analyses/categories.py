"""What kind of work the device did: by rules on kernel names."""

from __future__ import annotations

from traceview.analyses.grouping import by_size, compact, sums, texts
from traceview.analyses.results import Categories
from traceview.analyses.workspace import Workspace


def categories(workspace: Workspace) -> Categories:
    """Return the categories of device work that occur."""
    work, names = workspace.work, workspace.rules.categories
    used, group = compact(work.category, len(names))
    added = sums(group, work.dur, len(used))
    calls = sums(group, (work.dur >= 0).astype("int64"), len(used))
    listed = texts(names[c] for c in used.tolist())
    table = Categories(listed, calls, added, added / max(int(added.sum()), 1))
    return table.take(by_size(added, listed))
