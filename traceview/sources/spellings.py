"""Spellings of categories, host calls and steps across profilers and versions: data, no code.

A new spelling is one entry here. Sources: output_json.cpp of Kineto 2021 to 2026, the API names of
CUDA, HIP, Level Zero and Unified Runtime.
"""

from __future__ import annotations

import re

from traceview.events import Kind

CATEGORIES: dict[str, Kind] = {
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.COPY,
    "memcpy": Kind.COPY,
    "gpu_memset": Kind.FILL,
    "memset": Kind.FILL,
    "hpu_op": Kind.KERNEL,
    "mtia_ccp_events": Kind.KERNEL,
    "gpu_user_annotation": Kind.DEVICE_NOTE,
    "cuda_profiler_range": Kind.DEVICE_NOTE,
    "cuda_sync": Kind.SYNC_RECORD,
    "cuda_event": Kind.SYNC_RECORD,
    "cpu_op": Kind.OP,
    "operator": Kind.OP,
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.PYTHON,
    "cuda_runtime": Kind.RUNTIME,
    "cuda_driver": Kind.RUNTIME,
    "runtime": Kind.RUNTIME,
    "driver": Kind.RUNTIME,
    "hip_runtime": Kind.RUNTIME,
    "xpu_runtime": Kind.RUNTIME,
    "xpu_driver": Kind.RUNTIME,
    "mtia_runtime": Kind.RUNTIME,
    "glow_runtime": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME,
    "privateuse1_driver": Kind.RUNTIME,
    "overhead": Kind.OVERHEAD,
    "trace": Kind.SPAN,
}

# a version suffix such as _v7000 or _ptsz may follow any of these names
LAUNCH = re.compile(
    r"(?:^|::)(?:cuda|cu|hip|hsa|musa|mu)(?:Ext|Hcc)?(?:Module)?Launch(?:Cooperative)?Kernel"
    r"|^(?:cuda|cu|hip|musa|mu)GraphLaunch|^cuLaunch(?:Grid(?:Async)?)?(?:_|$)|^hipLaunchByPtr"
    r"|^hipExtModuleLaunchKernel|^(?:ur|pi)EnqueueKernelLaunch|^urEnqueueCooperativeKernelLaunch"
    r"|^zeCommandListAppendLaunch|^zeCommandQueueExecuteCommandLists|^clEnqueueNDRangeKernel"
)
GRAPH_LAUNCH = re.compile(r"^(?:cuda|cu|hip|musa|mu)GraphLaunch")
HOST_CALL = re.compile(r"^(?:cuda|hip|musa)[A-Z]\w+$|^cu[A-Z][a-z]\w+$|^(?:ur|ze)[A-Z]\w+$")
# where a device lane mixes kernels, copies, fills and waits, the first match on the name decides
DEVICE_NAMES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"^(?:async_)?mem\s?cpy|^dma_request", re.IGNORECASE), Kind.COPY),
    (re.compile(r"^mem\s?set", re.IGNORECASE), Kind.FILL),
    (re.compile(r"^(?:NOTIFY|EVENT)_|^event_(?:wait|record)", re.IGNORECASE), Kind.SYNC_RECORD),
)
STEP = re.compile(r"^ProfilerStep[#*]?\s*(\d{1,18})$")
MEMORY_MARK = "[memory]"
