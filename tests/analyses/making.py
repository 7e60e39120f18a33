"""Write small traces for tests, in microseconds, the way PyTorch's profiler writes them."""

from __future__ import annotations

import json
from typing import Any

from traceview.analyses import Analysis, analyze
from traceview.analyses.rules import Rules
from traceview.events import Trace
from traceview.sources import read_blocks

Event = dict[str, Any]
HOST = 4100


def host(cat: str, name: str, ts: float, dur: float, **args: Any) -> Event:
    tid = args.pop("tid", HOST)
    return {"ph": "X", "cat": cat, "name": name, "pid": HOST, "tid": tid, "ts": ts, "dur": dur, "args": args}


def op(name: str, ts: float, dur: float, **args: Any) -> Event:
    return host("cpu_op", name, ts, dur, **args)


def note(name: str, ts: float, dur: float, **args: Any) -> Event:
    return host("user_annotation", name, ts, dur, **args)


def frame(name: str, ts: float, dur: float, **args: Any) -> Event:
    return host("python_function", name, ts, dur, **args)


def call(name: str, ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    if correlation is not None:
        args["correlation"] = correlation
    return host("cuda_runtime", name, ts, dur, **args)


def launch(ts: float, dur: float, correlation: int, **args: Any) -> Event:
    return call("cudaLaunchKernel", ts, dur, correlation, **args)


def device(cat: str, name: str, ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    gpu, stream = args.pop("device", 0), args.pop("stream", 7)
    args = {"device": gpu, "stream": stream, **args}
    if correlation is not None:
        args["correlation"] = correlation
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": gpu,
        "tid": stream,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def kernel(name: str, ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    return device("kernel", name, ts, dur, correlation, **args)


def copy(ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    return device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", ts, dur, correlation, **args)


def fill(ts: float, dur: float, correlation: int | None = None, **args: Any) -> Event:
    return device("gpu_memset", "Memset (Device)", ts, dur, correlation, **args)


def text(*events: Event, **metadata: Any) -> bytes:
    return json.dumps({**metadata, "traceEvents": list(events)}).encode()


def read(*events: Event, **metadata: Any) -> Trace:
    return read_blocks([text(*events, **metadata)])


def analysed(*events: Event, rules: Rules | None = None, **metadata: Any) -> Analysis:
    return analyze(read(*events, **metadata), rules)


def codes(analysis: Analysis, level: str = "warning") -> set[str]:
    return {w.code for w in analysis.warnings if w.level == level}
