"""Find templates and sample traces from a checkout, an editable install and a wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_ROOTS = (_HERE / "_assets", _HERE.parent)  # a wheel, then a checkout or an editable install


def asset(name: str) -> Path:
    """Return the path of a shipped file, such as "templates/report.html.j2".

    Raises FileNotFoundError when the installation lacks it.
    """
    for root in _ROOTS:
        path = root / name
        if path.exists():
            return path
    raise FileNotFoundError(f"traceview is installed without {name}")
