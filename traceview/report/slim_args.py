"""The arguments that an export keeps: a white list. Values of inputs, paths and addresses are not on it."""

from __future__ import annotations

import json

import numpy as np
import orjson

from traceview.events import Sparse, Trace
from traceview.sources.schema import ARGUMENTS, Form
from traceview.units import hide_home

KEPT = (
    *("correlation", "external_id", "context", "grid", "block", "registers", "shared_memory", "occupancy"),
    *("blocks_per_sm", "warps_per_sm", "bytes", "bandwidth", "graph_id", "graph_node", "copy_kind"),
    *("sync_kind", "wait_on_stream", "wait_on_event", "input_dims", "input_type", "sequence", "fwd_thread"),
    *("collective", "in_elements", "out_elements", "dtype", "group_size", "group_name", "group_ranks"),
    *("rank", "collective_sequence", "op_name", "provider", "hlo_op", "hlo_module"),
    *("python_id", "python_parent", "python_module"),
)
ODD_ID = -(1 << 61)  # ids that are no numbers are codes below it


class Arguments:
    """Write the kept arguments of rows as JSON."""

    def __init__(self, trace: Trace, show_paths: bool = False) -> None:
        self._columns = [_Column(name, trace.args[name], show_paths) for name in KEPT if name in trace.args]

    def of(self, rows: np.ndarray) -> list[list[str]]:
        """Return for each row its arguments, as texts of JSON members; rows ascend."""
        found: list[list[str]] = [[] for _ in range(len(rows))]
        for column in self._columns:
            column.add(rows, found)
        return found


class _Column:
    def __init__(self, name: str, sparse: Sparse, show_paths: bool) -> None:
        self._show_paths = show_paths
        argument = ARGUMENTS[name]
        self._head, self._form = f"{json.dumps(argument.spellings[0])}:", argument.form
        self._sparse, self._texts = sparse, sparse.texts
        self._made: dict[int, str] = {}

    def add(self, rows: np.ndarray, found: list[list[str]]) -> None:
        first, last = np.searchsorted(self._sparse.rows, (rows[0], rows[-1] + 1))
        own = self._sparse.rows[first:last]
        place = np.minimum(np.searchsorted(rows, own), len(rows) - 1)
        hit = rows[place] == own
        values = self._sparse.values[first:last][hit].tolist()
        for at, value in zip(place[hit].tolist(), values, strict=True):
            text = self._made.get(value)
            if text is None:
                text = self._written(value)
                if self._form is Form.TEXT:
                    self._made[value] = text
            found[at].append(text)

    def _written(self, value: int | float) -> str:
        if self._form is Form.TEXT and self._texts is not None:
            text = self._texts[int(value)]
            return self._head + as_json(text if self._show_paths else hide_home(text))
        if self._form is Form.ID and value <= ODD_ID:
            return f'{self._head}"id{-value}"'  # which text it was is not known: equal ids stay equal
        return f"{self._head}{value!r}"


def as_json(text: str) -> str:
    """Return a text argument as JSON: lists and numbers as they were, else a string."""
    try:
        if not isinstance(orjson.loads(text), str):
            return text if text.isascii() else json.dumps(orjson.loads(text))
    except orjson.JSONDecodeError:
        pass
    return json.dumps(text)
