"""What the tests of capture share; those that need torch say so by asking for it."""

from __future__ import annotations

import os
from typing import Any

import pytest


@pytest.fixture
def torch() -> Any:
    """Return torch; without it these tests cannot say anything, and CI's second run must have it."""
    if os.environ.get("TRACEVIEW_NEEDS_TORCH"):
        import torch
    else:
        torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch
