"""Write Parquet: the only door to pyarrow, which is an extra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from traceview.errors import UsageError
from traceview.report.result_tables import FileColumn

if TYPE_CHECKING:
    import pyarrow

MISSING = "Parquet needs pyarrow, which is not installed"
_COMPRESSION = "zstd"


def require_pyarrow() -> None:
    """Refuse where pyarrow cannot be imported."""
    _arrow()


def _arrow() -> Any:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(MISSING, "pip install 'traceview[parquet]', or write .csv") from error


def write_table(file: BinaryIO, columns: Sequence[FileColumn], title: str) -> None:
    """Write one table; every column carries its unit and its meaning as metadata."""
    arrow, parquet = _arrow()
    arrays, fields = [], []
    for c in columns:
        array = arrow.array(c.values, type=arrow.string() if c.unit == "text" else None, mask=~c.known)
        arrays.append(array)
        fields.append(arrow.field(c.name, array.type, metadata={"unit": c.unit, "meaning": c.meaning}))
    schema = arrow.schema(fields, metadata={"traceview.table": title})
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), file, compression=_COMPRESSION)


def strings(texts: Sequence[str]) -> pyarrow.Array:
    """Return texts to be coded by."""
    arrow, _ = _arrow()
    return arrow.array(texts, type=arrow.string())


def coded(codes: np.ndarray, texts: pyarrow.Array) -> pyarrow.Array:
    """Return texts by their codes, null for those below 0, each text stored once."""
    arrow, _ = _arrow()
    codes = codes.astype(np.int32, copy=False)
    return arrow.DictionaryArray.from_arrays(arrow.array(codes, mask=codes < 0), texts)


def numbers(values: np.ndarray, known: np.ndarray | None = None) -> pyarrow.Array:
    """Return numbers, null where they are not known."""
    arrow, _ = _arrow()
    return arrow.array(values, mask=None if known is None else ~known)


def write_groups(
    file: BinaryIO, groups: Iterable[dict[str, pyarrow.Array]], metadata: dict[str, str]
) -> None:
    """Write row groups one after the other, so that no more than one of them is in memory; at least one is given."""
    arrow, parquet = _arrow()
    writer = None
    try:
        for group in groups:
            table = arrow.table(group).replace_schema_metadata(metadata)
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema, compression=_COMPRESSION)
            writer.write_table(table, row_group_size=max(len(table), 1))
    finally:
        if writer is not None:
            writer.close()
