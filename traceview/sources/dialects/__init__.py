"""The dialects of Chrome traces, most telling first; the last one reads anything."""

from traceview.sources.dialects.ascend import ASCEND
from traceview.sources.dialects.autograd import AUTOGRAD
from traceview.sources.dialects.base import Dialect, Hints
from traceview.sources.dialects.chrome import CHROME
from traceview.sources.dialects.kineto import KINETO
from traceview.sources.dialects.onnxruntime import ONNXRUNTIME
from traceview.sources.dialects.tensorflow1 import TENSORFLOW1
from traceview.sources.dialects.xla import XLA

DIALECTS: tuple[Dialect, ...] = (TENSORFLOW1, ASCEND, AUTOGRAD, ONNXRUNTIME, KINETO, XLA, CHROME)

__all__ = ["DIALECTS", "Dialect", "Hints", "recognise"]


def recognise(hints: Hints) -> Dialect:
    """Return the first dialect that recognises the file."""
    return next(d for d in DIALECTS if d.recognises(hints))
