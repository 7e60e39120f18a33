"""Small result tables: numpy columns that know their unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

UNITS = frozenset({"ns", "count", "text", "share", "code", "bytes", "GB/s", "bool", "id", "number"})


class Column(NamedTuple):
    """Describe one column: its name, its unit (one of UNITS) and what it means."""

    name: str
    unit: str
    meaning: str


def column(meaning: str, unit: str) -> Any:
    """Declare a column of a Table; a unit outside UNITS is refused."""
    if unit not in UNITS:
        raise ValueError(f"unknown unit {unit!r}")
    return field(metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True, eq=False)
class Table:
    """Hold numpy columns of equal length; every field made with `column` is one."""

    def __post_init__(self) -> None:
        lengths = {c.name: len(getattr(self, c.name)) for c in self.columns()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{type(self).__name__}: unequal columns {lengths}")

    def __len__(self) -> int:
        columns = self.columns()
        return len(getattr(self, columns[0].name)) if columns else 0

    @classmethod
    def columns(cls) -> tuple[Column, ...]:
        """Return the columns in order, with unit and meaning."""
        return tuple(
            Column(f.name, f.metadata["unit"], f.metadata["meaning"])
            for f in fields(cls)
            if "unit" in f.metadata
        )

    def take(self, rows: np.ndarray) -> Self:
        """Return the table of these rows, in this order."""
        return type(self)(**{c.name: getattr(self, c.name)[rows] for c in self.columns()})

    @property
    def frame(self) -> pd.DataFrame:
        """Return the columns as a pandas frame; times stay int64 nanoseconds."""
        import pandas as pd

        return pd.DataFrame({c.name: getattr(self, c.name) for c in self.columns()})

    def _repr_html_(self) -> str:
        return str(self.frame.head(50).to_html())
