"""All slices as a table: one row each, in groups of rows."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tests.analyses.making import copy, frame, kernel, launch, note, op, read
from traceview.events import Trace
from traceview.report import events_file
from traceview.report.parquet import write_groups
from traceview.report.slim_args import KEPT

parquet = pytest.importorskip("pyarrow.parquet")


def small() -> Trace:
    return read(
        note("ProfilerStep#4", 0, 50), op("aten::mm", 1, 30, **{"Input Dims": [[2, 3]], "External id": 5}),
        frame("/home/somebody/a.py(1): f", 2, 3), launch(5, 3, 1),
        kernel("k", 100, 10.001, 1, grid=[1, 1, 1], **{"est. achieved occupancy %": 25}), copy(200, 4, 77),
        kernel("untimed", 0, 0, 8),
    )  # fmt: skip


def table(trace: Trace, **options: Any) -> Any:
    file = io.BytesIO()
    rows = np.arange(len(trace))
    write_groups(file, events_file.event_groups(trace, rows, **options), events_file.METADATA)
    return parquet.ParquetFile(io.BytesIO(file.getvalue()))


def test_each_slice_has_its_row_with_place_times_step_and_arguments() -> None:
    rows = {r["name"]: r for r in table(small()).read().to_pylist()}
    assert len(rows) == 7
    k = rows["k"]
    assert (k["start_ns"], k["dur_ns"], k["kind"], k["category"]) == (100_000, 10_001, "kernel", "kernel")
    assert (k["device"], k["stream"], k["process"], k["thread"]) == ("0", "7", "GPU 0", "stream 7")
    assert (k["correlation"], k["grid"], k["occupancy"], k["step"]) == (1, "[1,1,1]", 25.0, 4)
    launched = next(r for r in rows.values() if r["row"] == k["link"])
    assert (launched["name"], launched["kind"]) == ("cudaLaunchKernel", "launch")
    mm = rows["aten::mm"]
    assert (mm["external_id"], mm["input_dims"], mm["step"], mm["device"]) == (5, "[[2,3]]", 4, None)
    assert rows["Memcpy HtoD (Pageable -> Device)"]["step"] is None
    assert (rows["untimed"]["start_ns"], rows["untimed"]["dur_ns"]) == (None, None)


def test_home_folders_are_hidden_unless_paths_are_asked_for() -> None:
    assert "~/a.py(1): f" in table(small()).read()["name"].to_pylist()
    assert "/home/somebody/a.py(1): f" in table(small(), show_paths=True).read()["name"].to_pylist()


def test_rows_are_written_in_groups_so_that_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_file, "GROUP", 3)
    found = table(small())
    assert [found.metadata.row_group(i).num_rows for i in range(found.num_row_groups)] == [3, 3, 1]
    assert found.read()["row"].to_pylist() == list(range(7))


def test_every_trace_has_the_same_columns() -> None:
    little = table(read(op("a", 0, 1)))
    assert little.schema_arrow.names == table(small()).schema_arrow.names
    assert set(KEPT) <= set(little.schema_arrow.names)
    assert b"step" in little.schema_arrow.metadata
