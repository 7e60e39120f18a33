"""Load what is timed: `module:factory` or `file.py:factory`.

The factory takes nothing and returns (model, make): a callable, and a function from a shape to its inputs, a tensor, a
tuple or list of arguments, or a dict of keywords. Inputs are made once, after the seed was set, and stay on the device.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from traceview.errors import UsageError

FP32, FP16, BF16, AMP = "fp32", "fp16", "bf16", "amp"


class Loaded(NamedTuple):
    """Hold a model on its device, and what makes inputs for it."""

    model: Callable[..., Any]
    make: Callable[[tuple[int, ...]], Any]


def factory_of(target: str) -> Callable[[], Any]:
    """Return the factory that a target names."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{target}: no target", "write it as module:factory or file.py:factory")
    try:
        module = _file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        found = getattr(module, name)
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise UsageError(
            f"{target}: {error}", "check the name, and that Python can import it from here"
        ) from error
    if not callable(found):
        raise UsageError(f"{target}: is no function", "name a function that returns (model, make)")
    return found  # type: ignore[no-any-return]


def _file(path: Path) -> Any:
    if not path.is_file():
        raise UsageError(f"{path}: no such file", "name a Python file")
    sys.path.insert(0, str(path.absolute().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: cannot be imported", "name a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def load(target: str, device: str, precision: str, seed: int) -> Loaded:
    """Return the model, on its device, of its precision and ready for inference."""
    import torch

    sow(seed)
    made = factory_of(target)()
    if not isinstance(made, tuple) or len(made) != 2 or not all(map(callable, made)):
        raise UsageError(f"{target}: returns {type(made).__name__}", "return (model, make), both callable")
    model, make = made
    if isinstance(model, torch.nn.Module):
        model = model.to(device).eval()
        kind = number_type(precision)
        if kind is not None:
            model = model.to(kind)
    return Loaded(model, make)


def sow(seed: int) -> None:
    """Seed all that models and inputs are drawn from: torch on all devices, numpy, and Python's own."""
    import numpy
    import torch

    torch.manual_seed(seed)
    numpy.random.seed(seed % 2**32)  # noqa: NPY002 - what programs draw from
    random.seed(seed)


def number_type(precision: str) -> Any:
    """Return the kind of numbers that models and inputs are turned into, None where they stay as they are."""
    import torch

    return {FP16: torch.float16, BF16: torch.bfloat16}.get(precision)


def inputs(loaded: Loaded, shape: tuple[int, ...], device: str, precision: str, seed: int) -> Any:
    """Return the inputs of a shape on the device, always the same ones."""
    sow(seed)
    return _moved(loaded.make(shape), device, number_type(precision))


def _moved(value: Any, device: str, kind: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        turned = kind if kind is not None and value.is_floating_point() else None
        return value.to(device, turned) if turned is not None else value.to(device)
    if isinstance(value, (list, tuple)):
        moved = [_moved(v, device, kind) for v in value]
        return value._make(moved) if hasattr(value, "_make") else type(value)(moved)
    if isinstance(value, dict):
        return {k: _moved(v, device, kind) for k, v in value.items()}
    return value


def call(model: Callable[..., Any], given: Any) -> Any:
    """Call a model with its inputs: a tuple or a list as arguments, a dict as keywords."""
    if isinstance(given, dict):
        return model(**given)
    if isinstance(given, (tuple, list)):
        return model(*given)
    return model(given)
